#!/bin/bash
# in_one.sh [long] -- inside one machine: everything that needs a device and no second host.
. ./in_lib.sh

# Soft-iWARP takes several times as long for a message.
products=500 transactions=300 NAMDB_TEST_CYCLES=150
[ "$DEVICE" = rxe ] || products=200 transactions=150 NAMDB_TEST_CYCLES=60
rounds=2 # of in_recovery.sh
if [ "${1:-}" = long ]; then
	products=2000 transactions=1000 NAMDB_TEST_CYCLES=500 rounds=4
	[ "$DEVICE" = rxe ] || products=500 transactions=200 NAMDB_TEST_CYCLES=150
fi
export NAMDB_TEST_CYCLES

reconnect() { NAMDB_TEST_RDMA=$me ./storage_node.reconnect_test; }
trouble() { NAMDB_TEST_RDMA=$me ./storage_node.trouble_test; }
conformance() { NAMDB_TEST_RDMA=$me ./storage_node.conformance_test; }

offered() {
	grep -q "rdma $me by ${DEVICE}0, atomics by the $1" /tmp/storage1.log || {
		cat /tmp/storage1.log
		return 1
	}
}

# Every fabric sees what another has written.
every_fabric() {
	sql verbs "CREATE TABLE t (a int PRIMARY KEY, b text)" &&
		sql verbs "INSERT INTO t SELECT i, repeat('x', i) FROM generate_series(1, 300) AS i" &&
		sql tcp "UPDATE t SET b = b || 'y' WHERE a <= 100" &&
		same "$(sql verbs "SELECT count(*), sum(length(b)) FROM t")" "300,45250" &&
		same "$(sql auto "SELECT count(*) FROM t WHERE b LIKE '%y'")" "100" &&
		sql verbs "DELETE FROM t WHERE a > 10" &&
		same "$(sql tcp "SELECT count(*), max(b) FROM t")" "10,xy"
}

# Long values need several pieces, both ways.
long_values() {
	sql verbs "CREATE TABLE long (a int PRIMARY KEY, b text); INSERT INTO long SELECT i, repeat(chr(64 + i), 700000) FROM generate_series(1, 3) AS i" &&
		same "$(sql verbs "SELECT sum(length(b)), min(left(b, 2)), max(right(b, 2)) FROM long")" "2100000,AA,CC"
}

# Increments from several processes at once: none is lost, whether the device or a CPU does the atomics.
increments() {
	local p=() fabric
	sql verbs "CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL); INSERT INTO counter VALUES (1, 0)" || return 1
	for fabric in verbs verbs tcp; do
		for ((i = 0; i < 25; i++)); do
			echo "UPDATE counter SET n = n + 1 WHERE id = 1;"
		done | ./namdb sql --lease 5000 --storage "$storage" --secret-file $secret --fabric $fabric -q &
		p+=($!)
	done
	for one in "${p[@]}"; do wait "$one" || return 1; done
	same "$(sql verbs "SELECT n FROM counter")" "75"
}

# Peers that come and go, and some that are killed, leave nothing behind in the kernel.
cycles() {
	local before after
	before=$(resources)
	NAMDB_TEST_RDMA=$me ./storage_node.cycles_test || return 1
	sleep 1
	after=$(resources)
	same "$after" "$before"
}

doctor() {
	./namdb doctor --json >/tmp/out || return 1
	cat /tmp/out
	grep -q '"ok": true' /tmp/out && grep -q "\"name\": \"${DEVICE}0\"" /tmp/out &&
		grep -q "\"address\": \"$me\", \"ok\": true" /tmp/out
}

# A port that is down: said, and how to mend it; the last check, for it takes the network away.
doctor_down() {
	ip link set eth0 down
	./namdb doctor >/tmp/out && return 1
	cat /tmp/out
	grep -q "is not active" /tmp/out && grep -q "ip link set .* up" /tmp/out
}

# The checkout and its final check: every sale is in the stock, the orders, and the lines.
checkout() {
	./namdb bench tpcw --storage "$storage" --secret-file $secret --fabric verbs --products $products --clients 8 \
		--transactions $transactions --json >/tmp/tpcw || return 1
	cat /tmp/tpcw
	grep -q '"check_errors": 0' /tmp/tpcw && grep -qE '"commits": [0-9]{3,}' /tmp/tpcw
}

# Each operation's figures, short, and marked for what they are: in the table, in JSON, in the picture. There is no gnuplot in
# here; what it would be told is kept.
bench_verbs() {
	local op bench=(./namdb bench verbs --fabric verbs --depth 1,4 --seconds 0.1 --runs 1)
	mkdir -p /tmp/bin
	printf '#!/bin/bash\ncat >/tmp/told\n: >/tmp/picture.svg\n' >/tmp/bin/gnuplot
	chmod 755 /tmp/bin/gnuplot
	"${bench[@]}" --op read,cas --size 8 >/tmp/table || return 1
	PATH=/tmp/bin:$PATH "${bench[@]}" --size 8,32,4k,1m --json --plot /tmp/picture.svg >/tmp/json || return 1
	cat /tmp/table /tmp/json
	for op in read write cas fetch_add message rpc; do
		grep -q "\"op\": \"$op\", \"bytes\": 8, \"depth\": 1, .*\"p50_us\": .*\"p99_us\": .*\"client_cycles_per_op\"" /tmp/json || return 1
	done
	grep -q '"check_errors": 0}' /tmp/json && grep -q '"provider": "verbs"' /tmp/json &&
		grep -q '"mark": "functional, not a performance figure"' /tmp/json &&
		grep -q 'software RDMA device: functional, not a performance figure' /tmp/table &&
		grep -q "title 'namdb bench verbs, verbs: functional, not a performance figure'" /tmp/told
}

# A compute process dies in the middle of its work: the others go on.
killed_compute() {
	sql verbs "CREATE TABLE k (a int PRIMARY KEY)" || return 1
	while :; do echo "SELECT count(*) FROM k;"; done |
		./namdb sql --lease 5000 --storage "$storage" --secret-file $secret --fabric verbs >/dev/null 2>&1 &
	local victim=$!
	sleep 1
	kill -9 $victim
	wait $victim
	sql verbs "INSERT INTO k VALUES (1), (2)" && same "$(sql verbs "SELECT count(*) FROM k")" "2"
}

# A storage node dies under a process: a clear error, not a hang, not a wrong answer.
killed_storage() {
	(
		echo "SELECT count(*) AS before FROM counter;"
		sleep 3
		echo "SELECT count(*) FROM t; SELECT count(*) FROM long;"
	) | ./namdb sql --lease 5000 --storage "$storage" --secret-file $secret --fabric verbs >/tmp/out 2>&1 &
	local p=$!
	sleep 2
	kill -9 "${nodes[0]}" "${nodes[1]}"
	wait $p
	cat /tmp/out
	grep -q before /tmp/out && grep -q "is gone" /tmp/out && grep -qE "ERROR: +[0-9A-Z]{5}" /tmp/out
}

# The device is taken away while one process works over it and another one idles: the kernel does not wait for long,
# both are told why, and the nodes serve all other processes over tcp, atomics included.
removed() {
	local load idle said
	sql verbs "CREATE TABLE r (id int PRIMARY KEY, n int NOT NULL); INSERT INTO r SELECT i, i FROM generate_series(1, 100) AS i" || return 1
	while :; do echo "SELECT sum(n) AS working FROM r;"; done |
		./namdb sql --lease 5000 --storage "$storage" --secret-file $secret --fabric verbs --stop-on-error >/tmp/load 2>&1 &
	load=$!
	(
		echo "SELECT 1 AS before;"
		while [ ! -e /tmp/enough ]; do sleep 0.2; done
	) | ./namdb sql --lease 5000 --storage "$storage" --secret-file $secret --fabric verbs >/tmp/idle 2>&1 &
	idle=$!
	# Both are at it.
	for ((i = 0; i < 100; i++)); do
		grep -q working /tmp/load && grep -q before /tmp/idle && break
		sleep 0.2
	done
	rdma link delete "${DEVICE}0" &
	local delete=$!
	for ((i = 0; i < 60; i++)); do
		grep -q '^State:[^Z]*$' /proc/$delete/status 2>/dev/null || break
		sleep 0.5
	done
	if grep -q '^State:.*[(]disk sleep[)]' /proc/$delete/status 2>/dev/null; then
		# Soft devices wait for processes that have them open. That command cannot be ended: the machine is of
		# no use any more.
		local fd hold=kernel
		for fd in /proc/[0-9]*/fd/*; do
			case $(readlink "$fd") in
			*uverbs*)
				fd=${fd#/proc/}
				echo "held by $(tr '\0' ' ' <"/proc/${fd%%/*}/cmdline")"
				hold=process
				;;
			esac
		done
		tail -n 3 /tmp/load /tmp/idle
		echo "'rdma link delete' hangs: the $hold holds the device"
		[ $hold = kernel ] && return 77
		return 78
	fi
	wait $delete || {
		echo "the device is held"
		cat /tmp/load /tmp/idle /tmp/storage1.log
		return 1
	}
	wait $load
	tail -n 5 /tmp/load
	# Both ends are on this device: the end that is told first closes, and then the other one is told of the close.
	grep -qE "ERROR: +58030" /tmp/load &&
		grep -qE "RDMA device here was removed|it closed the RDMA connection" /tmp/load /tmp/idle || {
		cat /tmp/load /tmp/idle
		return 1
	}
	for said in /tmp/storage1.log /tmp/storage2.log; do
		grep -q "the RDMA device ${DEVICE}0 was removed" $said || {
			cat $said
			return 1
		}
	done
	touch /tmp/enough
	wait $idle
	kill -0 "${nodes[0]}" && kill -0 "${nodes[1]}" || return 1
	sql verbs "SELECT 1" >/tmp/out 2>&1 && return 1
	cat /tmp/out
	grep -q "does not offer RDMA" /tmp/out || return 1
	sql tcp "CREATE TABLE after (id int PRIMARY KEY, n int); INSERT INTO after VALUES (1, 0)" || return 1
	for ((i = 0; i < 20; i++)); do
		echo "UPDATE after SET n = n + 1 WHERE id = 1;"
	done | ./namdb sql --lease 5000 --storage "$storage" --secret-file $secret --fabric auto -q || return 1
	same "$(sql auto "SELECT n FROM after")" "20"
}

# A process that starts then finds the new device.
added() {
	rdma link add "${DEVICE}0" type "$DEVICE" netdev eth0 || return 1
	stop_storage
	start_storage
	same "$(sql verbs "SELECT 2 + 2")" "4"
}

wrong_secret() {
	printf 'something else, and long enough\n' >/tmp/other
	chmod 600 /tmp/other
	./namdb sql --lease 5000 --storage "$storage" --secret-file /tmp/other --fabric verbs -c "SELECT 1" >/tmp/out 2>&1 && return 1
	cat /tmp/out
	grep -q secret /tmp/out
}

nothing_left() {
	sleep 1
	resources
	resources | grep -q ' qp 1 .* mr 0 ' || resources | grep -q ' qp 0 .* mr 0 '
}

check "the doctor finds nothing wrong" doctor
check "connections, a tenth of them killed, leave nothing" cycles
check "fabric conformance" conformance
check "connections break and are made again" reconnect
check "peers that misbehave, machines that are not set up right" trouble
start_storage
[ "$DEVICE" = rxe ] && by=device || by=CPU
check "the node offers its device, atomics by the $by" offered $by
check "one table through verbs, tcp and auto" every_fabric
check "values of 700,000 bytes" long_values
check "increments from three processes" increments
check "TPC-W checkout, $products products, $transactions transactions" checkout
check "bench verbs, every operation, marked as no performance figures" bench_verbs
check "a compute process is killed" killed_compute
check "a wrong secret is refused" wrong_secret
check "the storage nodes are killed" killed_storage
stop_storage
. ./in_recovery.sh
check "the kernel holds nothing of ours" nothing_left
start_storage
check "the device is removed under load" removed
[ $? -ge 77 ] && exit $failed
check "a new device is used" added
stop_storage
check "the doctor sees a port that is down" doctor_down
exit $failed
