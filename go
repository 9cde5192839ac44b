#!/bin/bash
# go -- the one door: ./go help says what it can do. Installs what is missing, builds, runs.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
jobs=$(nproc 2>/dev/null || echo 2)
export CTEST_OUTPUT_ON_FAILURE=1

usage() {
	cat <<'END'
usage: ./go VERB [arguments]

  demo  [args]   build, start a small cluster with sample data, open the SQL shell
                 (SQL on stdin and -c 'SQL' work too; --empty for no data; --data DIR keeps the database there)
  build          the release programs and the library: build/namdb, build/namdb-bench, build/libnamdb.so
  test  [--long] [ctest arguments]
                 the tests: release, then twins, then address and undefined, then thread sanitizer builds, then test-verbs;
                 an hour on two cores. --long: more seeds, rows, rounds and seconds of each; some hours
  sanitizers [--long]
                 every test in both sanitizer builds, also those that 'test' plays in the release build alone; an hour
  test-verbs     tests of RDMA in virtual machines: Soft-RoCE, soft-iWARP, two hosts
  twins          programs with one fault each: a test that passes without the fault must catch it
  check          layout of the code, the map of the rooms, a clang build, static analysis
  bench [args]   build/namdb bench tpcw, and bench sql if ../shared/data is there; or the bench that is named
                 (tpcw, tpcc, sql, tpch, pgbench, verbs, messages, oracle, restarts), with its arguments
  figures [--quick] [DIR]
                 the figures of bench/README.md once more, in DIR (default build/figures): each run's .json, and pictures
                 (.svg); some minutes; --quick: tiny runs, which say nothing
  soak  [min | --minutes N] [--kills] [--real]
                 the simulated and the process tests, and loads judged by their histories, repeated with new seeds
                 (default 30 minutes); --kills: compute nodes are killed meanwhile; --real: only kills and stops of
                 real processes, half of the time on each fabric, and what the other processes notice
  soak  --tpcc   ten minutes of TPC-C by three processes, one of which is killed every 20 s; its twelve conditions; and
                 the same over SQL
  soak  --index  CREATE INDEX over 10 million rows that four processes update meanwhile; then the index is compared
                 with the table
  soak  --rounds a cluster with a log is killed under load 200 times, and 20 copies of its disk are started; what clients were
                 answered is there
  soak  --life [PROOF...] [--json]
                 long tests of real processes under trouble, one after the other, with their figures: busy (ten
                 minutes), death, memory, histories (ten minutes), endure (an hour), sweep, resets, silence, leave, drop, value,
                 asleep, again, age, names, tables, turns, schema
  help           this text

Missing Debian or Ubuntu packages are installed first (as root, or with sudo).
END
}

say() { echo "$*" >&2; }
die() { say "go: $*"; exit 1; }

# ---- packages ----

have() { dpkg -s "$1" 2>/dev/null | grep -q '^Status: .* installed$'; }

# as_root CMD...: directly, or through sudo; asks for a password only at a terminal.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif [ -t 2 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

# need PACKAGE...: installs those that are not there.
need() {
	local missing=() p log
	command -v dpkg >/dev/null || return 0 # another system: cmake names what it misses
	for p in "$@"; do
		if [ "$p" = libboost-context-static ]; then
			# Its name carries boost's version.
			ls /usr/lib/*/libboost_context.a >/dev/null 2>&1 || missing+=("$p")
		else
			have "$p" || missing+=("$p")
		fi
	done
	[ ${#missing[@]} = 0 ] && return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		die "missing packages: ${missing[*]}; install them as root (there is no sudo here)"
	fi
	say "installing ${missing[*]} ..."
	log=$(mktemp) || die "no temporary file"
	# sudo may ask for a password, which must stand in a line of its own
	[ "$(id -u)" != 0 ] || alive "installing packages" "$log" </dev/null >/dev/null &
	{
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update
		for p in "${!missing[@]}"; do
			[ "${missing[$p]}" = libboost-context-static ] || continue
			missing[p]=$(apt-cache search --names-only '^libboost-context1\.[0-9]+-dev$' | cut -d' ' -f1 |
				sort -V | tail -n 1)
		done
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}"
	} </dev/null >"$log" 2>&1 || {
		tail -n 25 "$log" >&2
		rm -f "$log"
		wait
		die "could not install ${missing[*]}: run 'apt-get install ${missing[*]}' as root and try again"
	}
	rm -f "$log"
	wait # for what shows that it is alive
}

need_build() {
	need gcc libc6-dev cmake ninja-build libpg-query-dev libprotobuf-c-dev libboost-context-static \
		libnuma-dev libibverbs-dev librdmacm-dev libssl-dev libedit-dev libcmocka-dev libsqlite3-dev libxxhash-dev liblz4-dev tzdata
}

# need_node: the node modules of tests, in build/npm. The tests that need them are skipped where npm or its registry is not there.
need_node() {
	local dir=build/npm log
	[ ! -d $dir/node_modules/pg-copy-streams ] || return 0
	if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
		echo "skip: there is no npm for node's pg, pg-cursor and pg-copy-streams"
		return 0
	fi
	log=$(mktemp) || die "no temporary file"
	say "installing node's pg ..."
	mkdir -p $dir
	if ! timeout 120 npm install --prefix $dir --no-audit --no-fund --no-save pg@8 pg-cursor@2 pg-copy-streams@7 </dev/null >"$log" 2>&1; then
		rm -rf $dir/node_modules
		echo "skip: npm did not install pg, pg-cursor and pg-copy-streams: $(grep -m 1 -i err "$log")"
	fi
	rm -f "$log"
}

# ---- building ----

# alive WHAT LOG: shows, until the log is gone, how far a build has come: in one line at a terminal, else every 20 seconds.
alive() {
	local t0=$SECONDS next=20 far wide=''
	while sleep 1 2>/dev/null && [ -e "$2" ] && kill -0 $$ 2>/dev/null; do
		far=$(grep -aoE '^\[[0-9]+/[0-9]+\]' "$2" 2>/dev/null | tail -n 1 | tr -d '[]')
		far="$1: ${far:+${far/\// of }, }$((SECONDS - t0)) s"
		if [ -t 2 ]; then
			printf '\r%s\033[K' "$far" >&2
			wide=yes
		elif [ $((SECONDS - t0)) -ge "$next" ]; then
			say "$far"
			next=$((next + 20))
		fi
	done
	[ -z "$wide" ] || printf '\r\033[K' >&2
}

# quietly WHAT CMD...: a line while it works; everything it said if it fails.
quietly() {
	local what=$1 log t0=$SECONDS rc watcher
	shift
	log=$(mktemp) || die "no temporary file"
	say "$what ..."
	alive "$what" "$log" </dev/null >/dev/null &
	watcher=$!
	"$@" </dev/null >"$log" 2>&1
	rc=$?
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
	[ ! -t 2 ] || printf '\r\033[K' >&2
	if [ $rc = 0 ]; then
		rm -f "$log"
		[ $((SECONDS - t0)) -lt 5 ] || say "$what: $((SECONDS - t0)) s"
		return 0
	fi
	cat "$log" >&2
	rm -f "$log"
	die "$what failed"
}

# configure_in PRESET DIR
configure_in() {
	if command -v ccache >/dev/null && [ ! -f "$2/CMakeCache.txt" ]; then
		export CMAKE_C_COMPILER_LAUNCHER=ccache
	fi
	quietly "configuring $2" cmake --preset "$1"
}

# build_in PRESET DIR [TARGET...]
build_in() {
	local dir=$2
	configure_in "$1" "$2"
	shift 2
	quietly "building $dir" cmake --build "$dir" -j "$jobs" ${1:+--target "$@"}
}

# programs_of DIR [ctest arguments]: the programs of the tests that these arguments choose; if there are drivers among them, also what
# those start.
programs_of() {
	local dir=$1 names
	shift
	names=$(ctest --test-dir "$dir" -N "$@" 2>/dev/null | sed -nE 's/^ *Test +#[0-9]+: ([^ ]+).*/\1/p')
	[ -z "$names" ] || awk -v dir="$PWD/$dir/" '
		FNR == NR { chosen[$1] = 1; next }
		/^add_test\(/ {
			split($0, part, "\"")
			name = $1
			gsub(/^add_test\((\[=*\[)?|\]=*\]$/, "", name)
			if ((name in chosen) && index(part[2], dir) == 1) {
				sub(/.*\//, "", part[2])
				print part[2]
				found[name] = 1
			}
		}
		END {
			for (name in chosen)
				if (!(name in found))
					print "namdb\nnamdb-bench\nnamdb_shared\nrecord\nsim_txn"
		}' <(echo "$names") "$dir"/CTestTestfile.cmake "$dir"/tests/CTestTestfile.cmake "$dir"/tests/*/CTestTestfile.cmake | sort -u
}

# stage NAME PRESET DIR [ctest arguments]: builds what these tests need, no more, and runs them.
stage() {
	local name=$1 preset=$2 dir=$3 programs t0=$SECONDS t1
	shift 3
	configure_in "$preset" "$dir"
	mapfile -t programs < <(programs_of "$dir" "$@")
	[ "$preset" != release ] || programs+=(one_thread)
	[ ${#programs[@]} = 0 ] || quietly "building $dir" cmake --build "$dir" -j "$jobs" --target "${programs[@]}"
	t1=$SECONDS
	[ "$name" != tsan ] || without_aslr
	run_tests "$name" "$dir" "$@"
	took+=("$(printf '%-8s %7d %7d' "$name" $((t1 - t0)) $((SECONDS - t1)))")
}

# build_program [TARGET...]
build_program() {
	need_build
	build_in release build namdb "$@"
}

# ---- tests ----

passed=0 failed=0 skipped=0 shaky=()
took=() slowest=() # a line for each stage; each test's seconds and name

# run_tests NAME DIR [ctest arguments]: adds to the three sums.
run_tests() {
	local name=$1 dir=$2 out unfit=() pattern='' line test reason t0=$SECONDS
	shift 2
	while read -r line test reason; do
		[ "$line" = "$name" ] || continue
		say "skipped in $name: $test: $reason"
		unfit+=("$test")
		skipped=$((skipped + 1))
	done < <(grep -v '^#' tests/unfit.txt)
	if [ ${#unfit[@]} -gt 0 ]; then
		pattern=$(printf '|^%s$' "${unfit[@]}")
		set -- -E "${pattern:1}" "$@"
	fi
	out=$(mktemp) || die "no temporary file"
	echo "== $name =="
	# A test takes two of these places, one that mostly waits takes one (nam_waits).
	"${wrap[@]}" ctest --test-dir "$dir" -j $((2 * jobs)) --output-on-failure "$@" </dev/null 2>&1 | tee "$out" |
		grep --line-buffered -v -e '^ *Start ' -e '^Internal ctest' -e '^Test project' -e '^$'
	mapfile -t -O ${#slowest[@]} slowest < <(sed -nE "s|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*|\\2 $name: \\1|p" "$out")
	local p s all
	all=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#' "$out")
	p=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#.* Passed ' "$out")
	s=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#.*\*\*\*(Skipped|Not Run \(Disabled\))' "$out")
	if [ "$all" = 0 ]; then
		echo "go: no test ran in $dir"
		failed=$((failed + 1))
	fi
	if [ $((all - p - s)) -gt 0 ] && [ $((all - p - s)) -le 3 ] && ! grep -qE "$sure" "$out"; then
		alone "$name" "$dir"
		p=$((p + steadied))
	fi
	passed=$((passed + p))
	skipped=$((skipped + s))
	failed=$((failed + all - p - s))
	grep -h '^skip: ' "$dir/Testing/Temporary/LastTest.log" 2>/dev/null | sort -u
	echo "$name: $p passed, $((all - p - s)) failed, $s skipped, $((SECONDS - t0)) s"
	rm -f "$out"
}

# What a sanitizer, the simulator or a checker has found is found, however seldom it is seen.
sure='Sanitizer|runtime error:|FAILED: |anomaly'

# alone NAME DIR: the tests that failed beside others run once more, by themselves: on a busy machine a time limit may have been what
# failed. Sets steadied to how many pass now; they are named at the end of all.
alone() {
	local again line
	again=$(mktemp) || die "no temporary file"
	cp "$2/Testing/Temporary/LastTest.log" "$again.first"
	echo "== $1: what failed, once more, one at a time =="
	"${wrap[@]}" ctest --test-dir "$2" -j 1 --rerun-failed --output-on-failure </dev/null 2>&1 | tee "$again" |
		grep --line-buffered -v -e '^ *Start ' -e '^Internal ctest' -e '^Test project' -e '^$'
	steadied=0
	while read -r line; do
		steadied=$((steadied + 1))
		shaky+=("$1: $line")
	done < <(sed -nE 's|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) .* Passed .*|\1|p' "$again")
	mv "$again.first" "$2/Testing/Temporary/LastTest.log"
	rm -f "$again"
}

# tally COMMAND...: runs it, and counts whether it passed.
tally() {
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
}

# times: where the time of this run went.
times() {
	[ ${#took[@]} != 0 ] || return 0
	printf '%-8s %7s %7s\n' stage build tests
	printf '%s\n' "${took[@]}"
	echo "the slowest tests, seconds:"
	printf '%s\n' "${slowest[@]}" | sort -rn | head -n 10 | sed 's/^/  /'
}

# The tests' last lines.
verdict() {
	times
	[ ${#shaky[@]} = 0 ] || printf 'shaky: passed only when run once more, alone: %s\n' "${shaky[@]}"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}

# Older thread sanitizers cannot live with the randomised addresses of newer kernels.
without_aslr() {
	if setarch "$(uname -m)" -R true 2>/dev/null; then
		wrap=(setarch "$(uname -m)" -R)
	fi
}

wrap=(env)

need_tests() {
	need python3 pkg-config postgresql openssl gnuplot-nox redis-server sysbench python3-psycopg2 python3-psycopg
	need_node
}

# The tests that are for ./go test --long alone. More than one -LE leaves out only what matches each, so there is one at a time.
long=''
# without [LABELS]: what ctest is told, so that tests of these labels, and of the long form if it was not asked for, are left out.
without() {
	local labels=${1:-}
	[ -n "$long" ] || labels=long${labels:+|$labels}
	[ -z "$labels" ] || printf '%s\n' -LE "^($labels)\$"
}

# long_first ARGUMENT...: takes --long, which is the first one.
long_first() {
	[ "${1:-}" = --long ] || return 1
	long=yes
	export NAM_LONG=1
}

verb_test() {
	local t0=$SECONDS release asan tsan
	! long_first "$@" || shift
	need_build
	need_tests
	if [ $# != 0 ]; then
		# A caller that names tests gets them in each build.
		mapfile -t release < <(printf '%s\n' "$@" && without)
		asan=("${release[@]}") tsan=("${release[@]}")
	else
		mapfile -t release < <(without twin)
		mapfile -t asan < <(printf '%s\n' -L '^(unit|sql|sim|in-asan)$' && without twin)
		# Where one thread works at a time the thread sanitizer has nothing to find.
		mapfile -t tsan < <(printf '%s\n' -L '^(unit|in-tsan)$' && without 'twin|one-.*')
	fi
	stage release release build "${release[@]}"
	[ $# != 0 ] || twin_tests
	stage asan asan build-asan "${asan[@]}"
	stage tsan tsan build-tsan "${tsan[@]}"
	[ $# != 0 ] || rdma_tests
	echo "took $((SECONDS - t0)) s"
	verdict
}

verb_sanitizers() {
	local t0=$SECONDS asan tsan
	! long_first "$@" || shift
	mapfile -t asan < <(printf '%s\n' "$@" | grep .; without)
	mapfile -t tsan < <(printf '%s\n' "$@" | grep .; without "$([ $# != 0 ] || echo 'one-.*')")
	need_build
	need_tests
	stage asan asan build-asan "${asan[@]}"
	stage tsan tsan build-tsan "${tsan[@]}"
	echo "took $((SECONDS - t0)) s"
	verdict
}

# boot LOG [vm.sh's arguments]: a machine that dies before it can say what failed is also a failure.
boot() {
	local log=$1
	shift
	tests/rdma_vm/vm.sh "$@" >"$log" 2>&1 || grep -q '^\(\[[01]\] \)\?not ok ' "$log" || echo "not ok $2: a machine ended with code $?" >>"$log"
}

# The RDMA tests boot a kernel with software RDMA devices; without QEMU, or without Debian's kernel, they are skipped.
rdma_tests() {
	local dir=build/rdma_vm out ok bad pids=() result line t0=$SECONDS
	echo "== rdma =="
	if ! (need qemu-system-x86 busybox-static kmod cpio xz-utils make iproute2 rdma-core ibverbs-providers python3); then
		echo "skip: no QEMU for the RDMA tests"
		skipped=$((skipped + 1))
		return
	fi
	mkdir -p $dir
	say "kernel with RDMA devices ..."
	if ! tests/rdma_vm/kernel.sh $dir >$dir/kernel.log 2>&1; then
		grep '^skip: ' $dir/kernel.log || {
			tail -n 5 $dir/kernel.log
			echo "skip: no kernel for the RDMA tests"
		}
		skipped=$((skipped + 1))
		return
	fi
	if ! tests/rdma_vm/image.sh $dir build/namdb build/namdb-bench build/storage_node.{conformance,cycles,reconnect,trouble}_test; then
		failed=$((failed + 1))
		return
	fi
	out=$(mktemp -d) || die "no temporary directory"
	boot "$out/rxe" $dir rxe 900 "./in_one.sh${long:+ long}" &
	pids+=($!)
	if [ -e $dir/siw.ko ]; then
		boot "$out/siw" $dir siw 900 "./in_one.sh${long:+ long}" &
		pids+=($!)
	else
		echo "skip: $(cat $dir/siw.none)"
		skipped=$((skipped + 1))
	fi
	say "RDMA devices in virtual machines ..."
	wait "${pids[@]}"
	boot "$out/two" $dir rxe 400 ./in_two.sh ./in_two.sh
	# Emulated machines stall for seconds beside each other: a part that failed runs once more, alone.
	for result in "$out"/rxe "$out"/siw "$out"/two; do
		[ -e "$result" ] && grep -qE '^(\[[01]\] )?not ok ' "$result" || continue
		tr -d '\r' <"$result" | grep -v 'reboot: Restarting'
		echo "== ${result##*/}: once more, alone =="
		while read -r line; do
			shaky+=("rdma ${result##*/}: ${line#*not ok }")
		done < <(tr -d '\r' <"$result" | grep -E '^(\[[01]\] )?not ok ')
		case $result in
		*/two) boot "$result" $dir rxe 400 ./in_two.sh ./in_two.sh ;;
		*) boot "$result" $dir "${result##*/}" 900 "./in_one.sh${long:+ long}" ;;
		esac
	done
	cat "$out"/* | tr -d '\r' | grep -v 'reboot: Restarting'
	ok=$(cat "$out"/* | grep -cE '^(\[[01]\] )?ok ')
	bad=$(cat "$out"/* | grep -cE '^(\[[01]\] )?not ok ')
	[ "$ok" -gt 0 ] || bad=$((bad + 1))
	rm -rf "$out"
	passed=$((passed + ok))
	failed=$((failed + bad))
	took+=("$(printf '%-8s %7s %7d' rdma - $((SECONDS - t0)))")
	echo "rdma: $ok passed, $bad failed, $((SECONDS - t0)) s"
}

# Each fault built in is found, or the tests that should find it prove nothing.
twin_tests() {
	local t0=$SECONDS t1 programs
	mapfile -t programs < <(tests/twins.sh --programs)
	build_in twins build-twins "${programs[@]}"
	t1=$SECONDS
	echo "== twins =="
	tally tests/twins.sh build-twins
	took+=("$(printf '%-8s %7d %7d' twins $((t1 - t0)) $((SECONDS - t1)))")
	echo "twins: $((SECONDS - t0)) s"
}

verb_twins() {
	need_build
	twin_tests
	[ "$failed" = 0 ]
}

verb_test_verbs() {
	need_build
	build_in release build namdb namdb-bench storage_node.{conformance,cycles,reconnect,trouble}_test
	rdma_tests
	verdict || return 1
	[ "$passed" != 0 ] || exit 77
}

verb_check() {
	local bad=0 files
	need_build
	need python3 clang clang-format cppcheck
	mapfile -t files < <(find . -path './build*' -prune -o -path ./.git -prune -o -name '*.[ch]' -print)
	say "layout of ${#files[@]} files ..."
	if ! clang-format --dry-run -Werror "${files[@]}"; then
		say "go: run clang-format -i on the files above"
		bad=1
	fi
	build_in release build
	tests/rooms.sh build || bad=1
	python3 -B tests/tidy.py || bad=1
	tests/tree.sh || bad=1
	say "static analysis ..."
	# Tests are left out: they do wrong things on purpose.
	mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v -e '_test\.c$' -e '^./tests/' -e 'conformance')
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=tests/cppcheck.txt -j "$jobs" -I build/sees/outside/base "${files[@]}" || bad=1
	build_in clang build-clang
	run_tests clang build-clang -L unit
	[ "$failed" = 0 ] || bad=1
	fuzz 120 || bad=1
	[ "$bad" = 0 ] && echo "check: all is well"
	return $bad
}

# fuzz SECONDS: hurtful SQL, COPY's input, literals, histories and frames, with clang's libFuzzer and both sanitizers; SQL gets half
# of the time.
fuzz() {
	local bad=0
	quietly "configuring build-fuzz" cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo -DNAM_SANITIZE=fuzzer-no-link,address,undefined
	quietly "building build-fuzz" cmake --build build-fuzz -j "$jobs" --target fuzzers
	fuzz_one sql "$(($1 / 2))" tests/fuzz/seeds.sql -dict=tests/fuzz/words.dict -max_len=2000 || bad=1
	fuzz_one copy "$(($1 / 6))" tests/fuzz/copy_seeds.txt -max_len=400 || bad=1
	fuzz_one text "$(($1 / 6))" tests/fuzz/text_seeds.txt -max_len=400 || bad=1
	fuzz_one check "$(($1 / 12))" tests/fuzz/check_seeds.txt -max_len=1500 || bad=1
	fuzz_one wire "$(($1 / 12))" /dev/null -max_len=400 || bad=1
	fuzz_one pgwire "$(($1 / 12))" /dev/null -max_len=600 || bad=1
	return $bad
}

# fuzz_one NAME SECONDS SEEDS [libFuzzer's options]: a seed is a line.
fuzz_one() {
	local name=$1 seconds=$2 seeds=$3 dir
	shift 3
	dir=$(mktemp -d) || die "no temporary directory"
	mkdir "$dir/corpus" "$dir/seeds"
	split -l 1 -a 4 "$seeds" "$dir/seeds/"
	say "fuzzing $name for $seconds s ..."
	if ! "build-fuzz/tests/fuzz/${name}_fuzz" "$@" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=4000 \
		-artifact_prefix="$dir/found-" "$dir/corpus" "$dir/seeds" >"$dir/log" 2>&1; then
		tail -n 60 "$dir/log" >&2
		say "go: the input that did it: $dir/found-*"
		return 1
	fi
	tail -n 1 "$dir/log"
	rm -rf "$dir"
}

# soak_histories SEED: each level over a fabric and with a workload by the seed, each history judged.
soak_histories() {
	local level args
	for level in rc rr ser; do
		args=(--seconds 20 --level "$level" --seed "$1" --keep build/history.jsonl)
		[ $(($1 / 2 % 2)) = 0 ] || args+=(--fabric tcp)
		[ $(($1 / 4 % 4)) != 0 ] || args+=(--workload bank)
		[ $(($1 / 16 % 2)) = 0 ] || args+=(--cluster)
		[ $(($1 / 32 % 2)) = 0 ] || args+=(--stops)
		[ -z "$kills" ] || args+=(--kills)
		echo "== histories: ${args[*]} =="
		if python3 -B tests/histories.py "${args[@]}"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			mv build/history.jsonl "build/history-$level-$1.jsonl" && echo "its history: build/history-$level-$1.jsonl"
		fi
	done
}

# soak_kills SEED MINUTES: on each fabric processes are killed and stopped; what the others notice is measured, each history judged.
soak_kills() {
	local fabric
	for fabric in tcp shm; do
		echo "== kill -9 and SIGSTOP: $fabric, seed $1 =="
		tally python3 -B tests/kills.py --fabric $fabric --minutes "$2" --seed "$1" --keep build
	done
}

# soak_life PROOF [ARGUMENT...]: one of the long forms; its arguments go to the program behind it.
soak_life() {
	local proof=$1 ok=yes fabric
	shift
	echo "== life: $proof =="
	case $proof in
	death)
		for fabric in shm tcp; do
			python3 -B tests/kills.py --fabric $fabric --holders 300 --pauses 10 --lease 1000 "$@" || ok=
			python3 -B tests/kills.py --fabric $fabric --holders 20 --pauses 5 --lease 3000 "$@" || ok=
		done
		;;
	histories) python3 -B tests/histories.py --life --seconds 600 --keep build "$@" || ok= ;;
	*) python3 -B tests/life.py "$proof" "$@" || ok= ;;
	esac
	if [ -n "$ok" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
}

# soak_tpcc API SECONDS EVERY SEED: TPC-C by three processes, one of which is killed every so many seconds; its twelve conditions.
soak_tpcc() {
	echo "== TPC-C ($1 API) for $2 s, kill -9 every $3 s, seed $4 =="
	tally python3 -B tests/tpcc_kills.py --api "$1" --seconds "$2" --every "$3" --seed "$4"
}

# soak_index: CREATE INDEX over 10 million rows beside four clients that update them.
soak_index() {
	echo "== an index over 10 million rows, beside four clients =="
	tally python3 -B tests/index_build_soak.py
}

# Those that are not the ten minutes of `busy`.
life_short=(death memory sweep resets silence leave drop value asleep again age names tables turns starve schema)

# soak_simulated MINUTES: fresh seeds on each core; their summaries can be added up.
soak_simulated() {
	local i pids=()
	echo "== simulated clusters, fresh seeds on $jobs cores, $1 minutes =="
	for ((i = 0; i < jobs; i++)); do
		build/tests/sim/sim_txn --minutes "$1" >"build/soak-$i.log" 2>&1 &
		pids+=($!)
	done
	for ((i = 0; i < jobs; i++)); do
		if wait "${pids[i]}"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
		cat "build/soak-$i.log"
	done
}

verb_soak() {
	local minutes=30 end kills='' real='' life='' tpcc='' index='' rounds='' json=() proofs=() round=0 proof
	while [ $# -gt 0 ]; do
		case $1 in
		--kills) kills=yes ;;
		--real) real=yes ;;
		--life) life=yes ;;
		--tpcc) tpcc=yes ;;
		--index) index=yes ;;
		--rounds) rounds=yes ;;
		--json) json=(--json) ;;
		--minutes) minutes=${2:-} && shift ;;
		*) if [ -n "$life" ]; then proofs+=("$1"); else minutes=$1; fi ;;
		esac
		shift
	done
	export NAM_LONG=1
	[[ $minutes =~ ^[0-9]+$ ]] || die "soak takes a number of minutes, not '$minutes'"
	need_build
	need python3
	build_in release build
	if [ -n "$real" ]; then
		soak_kills "$((RANDOM * 32768 + RANDOM + 1))" "$(((minutes + 1) / 2))"
		verdict
		return
	fi
	if [ -n "$tpcc" ]; then
		soak_tpcc native 600 20 "$RANDOM"
		soak_tpcc sql 600 20 "$RANDOM"
		verdict
		return
	fi
	if [ -n "$index" ]; then
		soak_index
		verdict
		return
	fi
	if [ -n "$rounds" ]; then
		echo "== a cluster with a log is killed under load, 200 rounds and 20 images of its disk =="
		tally python3 -B tests/rounds.py --seed "$RANDOM"
		verdict
		return
	fi
	if [ -n "$life" ]; then
		[ ${#proofs[@]} != 0 ] || proofs=(busy histories endure "${life_short[@]}")
		for proof in "${proofs[@]}"; do
			[[ " busy histories endure ${life_short[*]} " == *" $proof "* ]] || die "there is no proof '$proof'; ./go help names them"
		done
		for proof in "${proofs[@]}"; do
			soak_life "$proof" "${json[@]}"
		done
		verdict
		return
	fi
	echo "== simulated clusters, seeds 1-2000 =="
	tally build/tests/sim/sim_txn --seeds 1-2000
	echo "== SQL on the simulated fabric: a process dies at each verb, and at each verb of its recoverer =="
	tally build/tests/simsql/sim_crashes
	echo "== one owner slot, taken and given back 3,000,000 times =="
	tally build/tsoracle.join_test joins 3000000
	end=$((SECONDS + minutes * 60))
	if [ "$minutes" -ge 20 ]; then
		soak_life busy
		soak_tpcc native 600 20 "$RANDOM"
	fi
	while [ "$SECONDS" -lt "$end" ] && [ "$failed" = 0 ]; do
		local from=$((RANDOM * 32768 + RANDOM + 1))
		soak_simulated 1
		echo "== definitions that change, seeds $from-$((from + 199)) =="
		tally build/tests/simsql/sim_sql --seeds "$from-$((from + 199))"
		echo "== cuts of the whole cluster, seeds $from-$((from + 399)) =="
		tally build/tests/simsql/sim_cuts --seeds "$from-$((from + 399))"
		export NAM_SEED=$from # for the noise in tests/process
		run_tests release build -L process
		soak_histories "$from"
		soak_kills "$from" 1
		echo "== histories with all of life around them, seed $from =="
		tally python3 -B tests/histories.py --life --seconds 120 --seed "$from" --keep build
		soak_life "${life_short[round++ % ${#life_short[@]}]}"
	done
	verdict
}

verb=${1:-help}
[ $# -gt 0 ] && shift
case $verb in
build)
	build_program namdb-bench namdb_shared
	say "build/namdb, build/namdb-bench and build/libnamdb.so are ready"
	;;
demo)
	build_program
	# --data DIR is seen from where the caller is.
	args=() dir=
	for a in "$@"; do
		case $dir$a in
		--data) dir=next: ;;
		--data=/* | next:/*) dir= ;;
		--data=*) a=--data=$OLDPWD/${a#--data=} ;;
		next:*) a=$OLDPWD/$a dir= ;;
		*) ;;
		esac
		args+=("$a")
	done
	exec build/namdb demo "${args[@]}"
	;;
bench)
	build_program namdb-bench
	case ${1:--} in
	-)
		build/namdb bench tpcw || exit
		data=../shared/data # not ours to bring along
		[ ! -f $data/depends.csv ] || exec build/namdb bench sql --data $data --list all
		;;
	restarts) exec python3 -B bench/restarts.py "${@:2}" ;;
	-*) exec build/namdb bench tpcw "$@" ;;
	*) exec build/namdb bench "$@" ;;
	esac
	;;
figures)
	need python3
	command -v gnuplot >/dev/null || need gnuplot-nox
	build_program namdb-bench
	# DIR is seen from where the caller is.
	args=()
	for a in "$@"; do
		case $a in
		-* | /*) args+=("$a") ;;
		*) args+=("$OLDPWD/$a") ;;
		esac
	done
	exec python3 -B bench/figures.py "${args[@]}"
	;;
test) verb_test "$@" ;;
test-verbs) verb_test_verbs ;;
sanitizers) verb_sanitizers "$@" ;;
twins) verb_twins ;;
check) verb_check "$@" ;;
soak) verb_soak "$@" ;;
help | -h | --help) usage ;;
*)
	say "go: there is no verb '$verb'"
	usage >&2
	exit 2
	;;
esac
