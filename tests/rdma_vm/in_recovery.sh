# in_recovery.sh -- inside one machine, sourced by in_one.sh: compute processes are killed and stopped over verbs while they hold
# locks and commit. Each time three things are asked: can others have the rows, do their snapshots go on, is the data right?
lease=1000        # ms, of this cluster: an emulated machine's threads wait long for their turn
row_patience=20   # s until another process must get the rows of a dead one; without recovery that is never
other_patience=60 # s for everything else
rounds=${rounds:-4} # how often a process is killed in the middle of its commits
owners=()         # processes that are to be killed or stopped
answered=0        # how many updates session a was told of, all of them of rows 1 and 2
declare -A input at pid
mkfifo /tmp/silence && exec {silence}<>/tmp/silence

# A machine that emulates its CPU pays dearly for a process: waiting and looking starts none.
nap() { read -r -t 0.05 -u "$silence" || true; }

# within SECONDS CMD...: until it succeeds.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || {
			echo "not in time: $*"
			return 1
		}
		nap
	done
}

# Its caller is a process of its own, and becomes the program.
program() { NAMDB_LOG=info exec ./namdb sql --lease $lease --storage "$storage" --secret-file $secret --fabric verbs --csv; }

# Asked of the kernel: where no process is started, bash may not notice for long that one of its own has ended.
ended() {
	local state
	{ read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null || return 0
	[ "$state" = Z ]
}

# start NAME [ROW]: reads /tmp/NAME.in, or commits changes of ROW; NAME.out has what it says. If it reached no node at
# all because the machine stalled, it is started again: it had no identity yet.
start() {
	local try
	for ((try = 0; try < 5; try++)); do
		: >"/tmp/$1.out"
		if [ $# = 1 ]; then
			program <"/tmp/$1.in" >"/tmp/$1.out" 2>&1 &
		else
			commits "$1" "$2" 2>/dev/null | program >"/tmp/$1.out" 2>&1 &
		fi
		pid[$1]=$!
		within $other_patience begun "$1" || return 1
		grep -q '^namdb sql: .* in time' "/tmp/$1.out" || return 0
		cat "/tmp/$1.out"
		wait "${pid[$1]}"
	done
	return 1
}
begun() { [ -s "/tmp/$1.out" ] || ended "${pid[$1]}"; }

# session NAME: a process that stays and does what it is told.
session() {
	at[$1]=0
	mkfifo "/tmp/$1.in"
	# For reading too: so a session that has ended makes no broken pipe of it.
	exec {input[$1]}<>"/tmp/$1.in"
	tell "$1" "SELECT 'here';"
	start "$1" && ask "$1" "SELECT 'here'"
}

tell() { printf '%s\n' "$2" >&"${input[$1]}"; }

# ask NAME SQL: leaves in said, line by line, what it prints to that; an error is also an answer.
ask() {
	local mark="mark $RANDOM"
	tell "$1" "$2;"
	tell "$1" "\\echo $mark"
	within $other_patience said_all "$1" "$mark" || {
		cat "/tmp/$1.out"
		return 1
	}
}
said_all() { # said_all NAME MARK: was the mark reached?
	local i lines
	mapfile -t -s "${at[$1]}" lines <"/tmp/$1.out"
	said=()
	for ((i = 0; i < ${#lines[@]}; i++)); do
		if [ "${lines[i]}" = "$2" ]; then
			at[$1]=$((at[$1] + i + 1))
			return 0
		fi
		[[ ${lines[i]} == "namdb: "* ]] || said+=("${lines[i]}")
	done
	return 1
}

# says NAME SQL ANSWER, has NAME SQL ROWS: all it printed, or all below the header, is this.
says() { ask "$1" "$2" && same "${said[*]}" "$3"; }
has() { ask "$1" "$2" && same "${said[*]:1}" "$3"; }

# Commits of PROCESS one after the other, each a row's change and a line about it, so that half of one shows. The
# numbers are the process's own: one that is missing, or should be, shows as well.
commits() { # commits PROCESS ROW
	exec awk -v who="$1" -v row="$2" 'BEGIN {
		for (k = 1; ; k++)
			print "BEGIN; UPDATE own SET n = n + 1 WHERE id = " row "; INSERT INTO done VALUES (" who ", " k "); COMMIT;"
	}'
}
stream() { # stream PROCESS ROW: until some of them are answered
	owners+=("$1")
	start "$1" "$2" && within $other_patience busy "$1" || {
		tail -n 5 "/tmp/$1.out"
		return 1
	}
}
told() { grep -c '^COMMIT$' "/tmp/$1.out"; }
busy() { [ "$(told "$1")" -ge 3 ]; }

killed() {
	kill -9 "${pid[$1]}"
	wait "${pid[$1]}"
	[ $? = 137 ]
}

# The processes that each node has fenced; and the lines of their recoverers.
shut_out() { [ "$(grep -c 'is fenced' "/tmp/storage$1.log")" = "$2" ]; }
settlings() { cat /tmp/a.out /tmp/b.out | grep -E '^namdb: the compute process in owner slot [0-9]+ (is gone|has stopped): it was silent for '; }
settled() { [ "$(settlings | wc -l)" -ge "$1" ]; }

# taken ROW: no dead process's lock hinders a; that b sees it shows that b's snapshots go on.
taken() {
	says a "SET lock_timeout = '${row_patience}s'; UPDATE own SET n = n + 1 WHERE id = $1" "SET UPDATE 1" || return 1
	answered=$((answered + 1))
	ask a "SELECT n FROM own WHERE id = $1" && within $row_patience seen "$1" "${said[1]}"
}
seen() { ask b "SELECT n FROM own WHERE id = $1" && [ "${said[1]}" = "$2" ]; }

# whole PROCESS: all of its answered transactions are there, and at most one more; leaves their number in count.
whole() {
	local told
	told=$(told "$1")
	ask b "SELECT count(*), max(k) FROM done WHERE who = $1" || return 1
	echo "$1 was told of $told commits; count and last that are there: ${said[1]}"
	count=${said[1]#*,}
	[ "${said[1]}" = "$count,$count" ] && [ "$count" -ge "$told" ] && [ "$count" -le $((told + 1)) ]
}
# Rows 1 to 4 began with 100; each commit of a stream and each update of a added 1.
sums() { has "$1" "SELECT sum(n) - (SELECT count(*) FROM done) FROM own WHERE id <= 4" "$((100 + answered))"; }

recovery_cluster() {
	sql verbs "CREATE TABLE own (id int PRIMARY KEY, n int NOT NULL); CREATE TABLE done (who int, k int, PRIMARY KEY (who, k));
		INSERT INTO own SELECT i, 10 * i FROM generate_series(1, 4) AS i" && session a && session b
}

# It dies idle in a transaction, with rows of it locked, changed, and new.
killed_owner() {
	local still
	session v && owners+=(v) &&
		says v "BEGIN; UPDATE own SET n = n + 1000; INSERT INTO own VALUES (5, 1000)" "BEGIN UPDATE 4 INSERT 0 1" || return 1
	# A live process keeps its locks, idle or not, for longer than a lease.
	ask a "SET lock_timeout = '2s'; UPDATE own SET n = n + 1 WHERE id = 1" || return 1
	echo "${said[*]}"
	[[ ${said[*]} == *"ERROR:  55P03"* ]] && same "$(settlings)" "" || return 1
	killed v && taken 1 && taken 2 && says a "INSERT INTO own VALUES (5, 50)" "INSERT 0 1" &&
		has b "SELECT id, n FROM own ORDER BY id" "1,11 2,21 3,30 4,40 5,50" || return 1
	# Fenced by both nodes, and recovered once. Its death was told, or the lease was waited for.
	shut_out 1 1 && shut_out 2 1 && within $other_patience settled 1 && same "$(settlings | wc -l)" 1 || return 1
	settlings
	still=$(settlings | sed 's/.* it was silent for \([0-9]*\)\.[0-9]* ms, .*/\1/')
	settlings | grep -q 'is gone' || [ "$still" -ge $lease ]
}

killed_committers() {
	local i count
	for ((i = 1; i <= rounds; i++)); do
		stream $i 1 || return 1
		sleep 0.$((RANDOM % 5))$((RANDOM % 10))
		killed $i && taken 1 && whole $i && sums b || return 1
	done
	# One and these; but a process that dies between two transactions may have been idle: then there is nothing to
	# recover.
	settlings
	within $other_patience settled $((1 + rounds - 2))
}

# Two stall for longer than their lease, one idle in a transaction, one in the middle of its commits. When they go on,
# they are told, and change nothing. 57P01 means for sure that nothing was done; 08007 that the commit may have been
# done.
stopped_owners() {
	local i count code unsure=0
	stream 100 1 && session z && owners+=(z) &&
		says z "BEGIN; UPDATE own SET n = n + 1000 WHERE id >= 2 AND id <= 3" "BEGIN UPDATE 2" || return 1
	kill -STOP "${pid[z]}" "${pid[100]}"
	taken 1 && taken 2 && whole 100 && sums b && ask b "SELECT id, n FROM own ORDER BY id" || return 1
	local before=${said[*]:1}
	kill -CONT "${pid[z]}" "${pid[100]}"
	tell z "UPDATE own SET n = n + 1000 WHERE id = 4; COMMIT;"
	for i in z 100; do
		within $other_patience ended "${pid[$i]}" || return 1
		wait "${pid[$i]}"
		code=$?
		tail -n 5 /tmp/$i.out
		same $code 1 && grep -qE "ERROR:  (57P01: this process has been fenced|08007:)" /tmp/$i.out || return 1
	done
	grep -q "ERROR:  57P01" /tmp/z.out || return 1
	grep -q "ERROR:  08007" /tmp/100.out && unsure=1
	whole 100 && [ "$count" -le $(($(told 100) + unsure)) ] && has b "SELECT id, n FROM own ORDER BY id" "$before" &&
		taken 1 && taken 2 && sums b
}

# The others were never harmed: they leave normally. A new process finds the rows that they have found.
unharmed() {
	local i
	sums a || return 1
	for i in a b; do
		tell $i "\\q"
		within $other_patience ended "${pid[$i]}" || return 1
		# The one error was of the row that it was not to have.
		wait "${pid[$i]}"
		same "$? $(grep -c ERROR: /tmp/$i.out)" "$([ $i = a ] && echo 1 1 || echo 0 0)" || return 1
	done
	same "$(sql verbs "SELECT count(*), sum(n) - (SELECT count(*) FROM done) FROM own WHERE id <= 4")" "4,$((100 + answered))"
}

start_storage
check "recovery: a cluster with a lease of $lease ms" recovery_cluster
check "recovery: a process is killed with rows locked" killed_owner
check "recovery: $rounds processes are killed as they commit" killed_committers
check "recovery: two processes are stopped for longer than their lease" stopped_owners
check "recovery: the others are unharmed" unharmed
# What a failed check has left running.
for one in "${owners[@]}" a b; do [ -z "${pid[$one]:-}" ] || kill -9 "${pid[$one]}" 2>/dev/null; done
wait "${pid[@]}" 2>/dev/null
stop_storage
lease=5000
