#!/bin/bash
# image.sh DIR FILE...: makes DIR/initramfs, a small system with RDMA tools, the kernel's modules, and the FILEs in /namdb.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
shift
release=$(cat "$dir/release")
kernel=$(ls -d "$dir/root/lib/modules" "$dir/root/usr/lib/modules" 2>/dev/null | head -n 1 || true)
kernel=${kernel%/lib/modules}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

chmod 755 "$tree" # it becomes the root directory, and not every process in there is root
mkdir -p "$tree"/{bin,ctl,dev,etc/libibverbs.d,modules,namdb,proc,root,run,sys,tmp,usr/bin,var} "$tree/lib64"
cp "$(command -v busybox)" "$tree/bin/busybox"
"$tree/bin/busybox" --install -s "$tree/bin" 2>/dev/null
for applet in "$tree"/bin/*; do
	[ "$applet" = "$tree/bin/busybox" ] || ln -sfn busybox "$applet"
done
rm -f "$tree/bin/ip" # iproute2's knows more
for program in bash ip rdma; do
	cp -L "$(command -v "$program")" "$tree/usr/bin/"
done
ln -s ../usr/bin/bash "$tree/bin/bash"
cp "$@" "$tree/namdb/"

# The two software devices' user halves, and every library that anything in there wants.
drivers=$(dirname "$(find /usr/lib -name 'librxe-*.so' | head -n 1)")
mkdir -p "$tree$drivers"
cp "$drivers"/librxe-*.so "$drivers"/libsiw-*.so "$tree$drivers/"
cp /etc/libibverbs.d/rxe.driver /etc/libibverbs.d/siw.driver "$tree/etc/libibverbs.d/"
ldd "$tree"/usr/bin/* "$tree"/namdb/* "$tree$drivers"/*.so 2>/dev/null |
	sed -n 's/^\(.*=>\)\{0,1\}[[:space:]]*\(\/[^ ]*\) (0x.*/\2/p' | sort -u | while read -r library; do
	mkdir -p "$tree$(dirname "$library")"
	cp -L "$library" "$tree$library"
done
echo 'root:x:0:0::/root:/bin/bash' >"$tree/etc/passwd"
echo '127.0.0.1 localhost' >"$tree/etc/hosts"

# Modules and what they need, in the order in which they can be loaded.
for module in virtio_pci virtio_net 9pnet_virtio 9p crc32_generic crc32_pclmul crc32c_generic crc32c_intel libcrc32c \
	ib_core ib_uverbs rdma_cm rdma_ucm rdma_rxe; do
	modprobe -d "$kernel" -S "$release" --show-depends "$module" 2>/dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p' || true
done | awk '!seen[$0]++' | while read -r file; do
	name=$(basename "$file")
	case $name in
	*.xz) xz -dc "$file" >"$tree/modules/${name%.xz}" && name=${name%.xz} ;;
	*) cp "$file" "$tree/modules/" ;;
	esac
	echo "$name" >>"$tree/modules/order"
done
if [ -e "$dir/siw.ko" ]; then
	cp "$dir/siw.ko" "$tree/modules/"
	echo siw.ko >>"$tree/modules/order"
fi
strip -g "$tree"/modules/*.ko
cp "$here/init" "$tree/init"
cp "$here"/in_*.sh "$tree/namdb/"
chmod 755 "$tree/init" "$tree"/namdb/*
# Not compressed: an emulated CPU unpacks slower than it reads.
(cd "$tree" && find . | cpio -o -H newc --quiet) >"$dir/initramfs.new"
mv "$dir/initramfs.new" "$dir/initramfs"
