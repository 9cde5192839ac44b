#!/bin/bash
# kernel.sh DIR: brings Debian's kernel with its RDMA modules, and a soft-iWARP module, into DIR. Does nothing twice.
#
#   DIR/vmlinux    the kernel, bare: an emulated CPU would need seconds to unpack it
#   DIR/root       the kernel package, unpacked, not installed
#   DIR/release    its release, such as 6.1.0-41-amd64
#   DIR/siw.ko     only where the headers and the source could be had (Debian leaves siw out of its kernel)
#
# Exit: 0; 77: this system has no such kernel to offer (one line says why).
set -euo pipefail
dir=$1
mkdir -p "$dir"
cd "$dir"

skip() {
	echo "skip: $*"
	exit 77
}

fetch() { # fetch PACKAGE: its .deb into this directory; prints the name
	ls "$1"_*.deb 2>/dev/null | tail -n 1 | grep . && return
	apt-get -q download "$1" >&2 && ls "$1"_*.deb | tail -n 1
}

command -v apt-get >/dev/null || skip "the RDMA tests boot Debian's kernel, and apt-get is not here"
if [ ! -s release ]; then
	# The metapackage names today's kernel; "cloud" and "rt" ones have no rxe.
	package=$(apt-cache depends linux-image-amd64 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*-amd64\)$/\1/p' | head -n 1)
	[ -n "$package" ] || skip "no Debian kernel for amd64 among this system's packages"
	deb=$(fetch "$package") || skip "cannot download $package"
	rm -rf root
	dpkg -x "$deb" root
	release=${package#linux-image-}
	modules=$(ls -d root/lib/modules/"$release" root/usr/lib/modules/"$release" 2>/dev/null | head -n 1 || true)
	find "$modules" -name 'rdma_rxe.ko*' | grep -q . || skip "$package has no rdma_rxe module"
	depmod -b "${modules%/lib/modules/*}" "$release"
	# The boot protocol's header says where the compressed kernel lies in the image.
	python3 - "root/boot/vmlinuz-$release" vmlinux <<-'PY'
		import lzma, struct, sys
		image = open(sys.argv[1], "rb").read()
		sectors = image[0x1F1]
		offset, length = struct.unpack_from("<II", image, 0x248)
		start = (sectors + 1) * 512 + offset
		kernel = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(image[start : start + length])
		assert kernel[:4] == b"\x7fELF"
		open(sys.argv[2], "wb").write(kernel)
	PY
	rm -f "$deb"
	echo "$release" >release
fi

if [ ! -e siw.ko ] && [ ! -e siw.none ]; then
	release=$(cat release)
	log=$PWD/siw.log
	build_siw() {
		local source headers kbuild tree
		source=$(fetch "linux-source-${release%%-*}" 2>/dev/null) ||
			source=$(fetch "linux-source-$(echo "$release" | cut -d. -f1-2)")
		headers=$(fetch "linux-headers-$release")
		common=$(fetch "linux-headers-${release%-amd64}-common")
		kbuild=$(fetch "$(apt-cache depends "linux-headers-$release" |
			sed -n 's/^ *Depends: \(linux-kbuild-[^ ]*\)$/\1/p' | head -n 1)")
		for deb in "$headers" "$common" "$kbuild"; do
			dpkg -x "$deb" headers
		done
		mkdir -p siw
		dpkg --fsys-tarfile "$source" | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
			tar -xJ -C siw --strip-components=5 --wildcards '*/drivers/infiniband/sw/siw/*'
		{
			echo 'obj-m += siw.o'
			echo "siw-y := $(cd siw && ls siw_*.c | sed 's/c$/o/' | tr '\n' ' ')"
		} >siw/Kbuild
		rm -f siw/Makefile
		# The headers expect to lie in the root: give them their own here.
		tree=$PWD/headers/usr/src/linux-headers-$release
		sed -i "s#/usr/src/#$PWD/headers/usr/src/#g; s#/usr/lib/linux-kbuild#$PWD/headers/usr/lib/linux-kbuild#g" \
			"$tree/Makefile" "$PWD/headers/usr/src/linux-headers-${release%-amd64}-common/Makefile"
		for link in "$tree/scripts" "$tree/tools" "$PWD/headers/usr/src/linux-headers-${release%-amd64}-common/scripts" \
			"$PWD/headers/usr/src/linux-headers-${release%-amd64}-common/tools"; do
			[ -L "$link" ] || continue
			to=$(readlink "$link")
			case $to in /*) ln -sfn "$PWD/headers$to" "$link" ;; esac
		done
		make -s -C "$tree" "M=$PWD/siw" modules
		cp siw/siw.ko siw.ko
		rm -rf siw headers ./*.deb
	}
	# In a shell of its own, so that a failing step ends it.
	export -f build_siw fetch
	if ! release=$release bash -euo pipefail -c build_siw >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		echo "soft-iWARP could not be built (see $log)" >siw.none
	fi
fi
