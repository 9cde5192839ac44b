#!/bin/bash
# in_two.sh -- node 0 is a storage host, node 1 a compute host; the wire between them is real Ethernet frames.
. ./in_lib.sh
storage=10.9.0.1:7411,10.9.0.1:7412

served() {
	start_storage
	# Until the other side says that it is done, by a table.
	for ((i = 0; i < 600; i++)); do
		[ "$(sql verbs "SELECT count(*) FROM done" 2>/dev/null)" = 1 ] && return 0
		sleep 1
	done
	return 1
}

reach() {
	for ((i = 0; i < 300; i++)); do
		sql verbs "SELECT 1" >/dev/null 2>&1 && return 0
		sleep 0.5
	done
	sql verbs "SELECT 1"
}

crossed() {
	sql verbs "CREATE TABLE t (a int PRIMARY KEY, b text); INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 500) AS i" &&
		same "$(sql verbs "SELECT count(*), max(b) FROM t")" "500,row 99" &&
		same "$(sql tcp "SELECT count(*), max(b) FROM t")" "500,row 99" &&
		./namdb status --storage "$storage" --secret-file $secret --fabric auto | grep -q verbs
}

checkout() {
	./namdb bench tpcw --storage "$storage" --secret-file $secret --fabric verbs --products 200 --clients 4 \
		--transactions 200 --json >/tmp/tpcw || return 1
	cat /tmp/tpcw
	grep -q '"check_errors": 0' /tmp/tpcw
}

if [ "$NODE" = 0 ]; then
	check "two hosts: storage" served
	stop_storage
else
	check "two hosts: the storage host is reached" reach
	check "two hosts: SQL" crossed
	check "two hosts: TPC-W checkout, 200 transactions" checkout
	sql verbs "CREATE TABLE done (a int PRIMARY KEY); INSERT INTO done VALUES (1)"
fi
exit $failed
