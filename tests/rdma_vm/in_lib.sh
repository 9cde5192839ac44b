# in_lib.sh -- inside the machine: how a check is run and told, and the cluster that checks use.
failed=0
lease=5000 # ms: emulated machines stall for seconds
me=10.9.0.$((NODE + 1))
secret=/tmp/secret
storage=$me:7411,$me:7412
printf 'not a secret, only a test\n' >$secret
chmod 600 $secret

# check NAME CMD...: one line; what it said when it failed.
check() {
	local name=$1 t0=$SECONDS
	shift
	"$@" >/tmp/log 2>&1
	local rc=$?
	if [ $rc = 0 ]; then
		echo "ok $DEVICE: $name ($((SECONDS - t0)) s)"
	elif [ $rc = 77 ]; then
		echo "skip: $DEVICE: $name: $(tail -n 1 /tmp/log)"
		sed 's/^/    /' /tmp/log
	else
		echo "not ok $DEVICE: $name"
		tail -n 25 /tmp/log | sed 's/^/    /'
		failed=1
	fi
	return $rc
}

start_storage() { # start_storage [SIZE]
	nodes=()
	for id in 1 2; do
		: >/tmp/storage$id.log # the log of the node before also says "ready"
		./namdb storage --id $id --size "${1:-64m}" --listen "$me:741$id" --secret-file $secret 2>/tmp/storage$id.log &
		nodes+=($!)
		for ((i = 0; i < 100; i++)); do
			grep -qs ready /tmp/storage$id.log && break
			sleep 0.1
		done
	done
}

stop_storage() {
	kill "${nodes[@]}" 2>/dev/null
	wait "${nodes[@]}" 2>/dev/null
	return 0
}

sql() { # sql FABRIC TEXT: the last answer's rows, without its header
	local out
	out=$(./namdb sql --lease $lease --storage "$storage" --secret-file $secret --fabric "$1" --csv -q --stop-on-error -c "$2") || return
	tail -n +2 <<<"$out"
}

# same GOT WANT
same() {
	[ "$1" = "$2" ] || {
		echo "got:  $1"
		echo "want: $2"
		return 1
	}
}

# What the kernel holds of ours. The connection manager's own few stay.
resources() { rdma resource show "${DEVICE}0"; }
