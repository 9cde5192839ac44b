#!/bin/bash
# vm.sh DIR DEVICE SECONDS COMMAND [COMMAND2]: boots a machine without KVM, runs COMMAND in it, exits as it did.
#
# With COMMAND2 a second machine runs beside it on the same virtual wire (NODE is 0 and 1, addresses 10.9.0.1 and
# 10.9.0.2); the exit code is the first one that is not 0. DEVICE: rxe or siw. Exit 125: a machine died or was too slow.
# The kernel does not trust the time stamp counter without looking (no tsc=reliable): measured wrong at boot, as happens on
# a busy host, it makes the machine's clock run many times too fast, and everything is too late.
set -euo pipefail
dir=$1 device=$2 seconds=$3
shift 3
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

boot() { # boot NODE COMMAND
	local node=$1 net
	mkdir -p "$work/$node"
	printf '%s\n' "$2" >"$work/$node/command"
	if [ "$node" = 0 ]; then
		net=stream,id=n0,server=on,addr.type=unix,addr.path=$work/wire
	else
		while [ ! -S "$work/wire" ]; do sleep 0.1; done
		net=stream,id=n0,server=off,addr.type=unix,addr.path=$work/wire
	fi
	exec timeout -k 5 "$seconds" qemu-system-x86_64 -M q35,usb=off,vmport=off -accel tcg,thread=multi,tb-size=256 \
		-cpu max,la57=off -smp 1 -m 640M -nodefaults -no-user-config -display none -no-reboot -serial stdio \
		-kernel "$dir/vmlinux" -initrd "$dir/initramfs" \
		-append "console=ttyS0 quiet panic=-1 reboot=t nokaslr mitigations=off no_timer_check \
random.trust_cpu=on cryptomgr.notests rdinit=/init node=$node device=$device" \
		-netdev "$net" -device "virtio-net-pci,netdev=n0,mac=52:54:00:09:00:0$((node + 1))" \
		-fsdev "local,id=ctl,path=$work/$node,security_model=none" \
		-device "virtio-9p-pci,fsdev=ctl,mount_tag=ctl" </dev/null
}

node=0
for command in "$@"; do
	if [ $# = 1 ]; then
		boot 0 "$command" &
	else
		boot $node "$command" > >(sed -u "s/^/[$node] /") &
	fi
	pids+=($!)
	node=$((node + 1))
done
result=0
for ((node = 0; node < $#; node++)); do
	wait "${pids[$node]}" || true
	code=$(cat "$work/$node/rc" 2>/dev/null || echo 125)
	[ "$code" = 0 ] || [ "$result" != 0 ] || result=$code
done
exit "$result"
