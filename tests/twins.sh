#!/bin/bash
# twins.sh BUILD_DIR | --programs -- each fault point of base/fault.h, one at a time, must be caught; without it the same seeds must pass.
# BUILD_DIR was configured with NAM_TWINS. A line for each fault; exit 0 only if all are caught. Each processor plays one.
#
# A fault that has a seed in tests/twins_seeds.txt is played with that seed first, and with the others only if that one does not
# show it. The seed is played without the fault too.
#
# --programs: what has to be built for it.
set -u
dir=${1:?usage: tests/twins.sh BUILD_DIR | --programs}
here=$(dirname "${BASH_SOURCE[0]}")
# A test of its own plays its faults in scenes, says so by a line `fault NAME: ...`, and fails if it missed one; it passes without them.
scene_of() {
	case $1 in
	hash_twin_test | btree_twin_test | learned_twin_test) echo "$dir/index.$1" ;;
	olap_twin_test) echo "$dir/olap.$1" ;;
	crowd_test | bell_test) echo "$dir/net.$1" ;;
	wal_twin_test | rings_test) echo "$dir/wal.$1" ;;
	numbers_test | replay_test) echo "$dir/catalog.$1" ;;
	tpcw_paper_test) echo "$dir/bench.$1" ;;
	*) echo "$dir/txn.$1" ;;
	esac
}
if [ "$dir" = --programs ]; then
	sed -nE 's/^\tX\([A-Z_]+, "[^"]*", "[^"]*", "([a-z_]+)[^"]*".*/\1/p' "$here/../base/fault.h" | sort -u | while read -r test; do
		case $test in
		sim_*) echo "$test" ;;
		*) basename -- "$(scene_of "$test")" ;;
		esac
	done
	exit
fi
sim=$dir/tests/sim/sim_txn
cuts=$dir/tests/simsql/sim_cuts
bad=0 count=0 at_once=$(nproc 2>/dev/null || echo 2) tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# begin NAME CMD...: in the background, as soon as a processor is free; ended NAME then has its code, $tmp/NAME what it said.
begin() {
	local name=$1
	shift
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do
		wait -n
	done
	{
		"$@" >"$tmp/$name" 2>&1 </dev/null
		echo $? >"$tmp/$name.code"
	} &
}

ended() {
	cat "$tmp/$1.code"
}

# A judgement is a program that came to its end and said FAILED. One that crashed in the broken place has shown nothing.
judge() {
	local name=$1 test=$2 code=$3 seeds=$4 out=$tmp/$1
	count=$((count + 1))
	seed=$(sed -n 's/^first failing seed: \([0-9]*\);.*/\1/p' "$out")
	if [ "$code" = 1 ] && [ -n "$seed" ]; then
		if [ "$seed" = "${known[$name]:-}" ]; then
			echo "$name: caught by $test, seed $seed"
		else
			echo "$name: caught by $test after $((seed - ${seeds%-*} + 1)) seeds${known[$name]:+; tests/twins_seeds.txt says ${known[$name]}}"
		fi
		{ grep -m1 '^  client [0-9]' "$out" || grep -m1 '^  ' "$out"; } | cut -c 1-170
		sed -n 's/^first failing seed: .* with: /  again: /p' "$out"
		return
	fi
	bad=1
	if [ "$code" -lt 2 ]; then
		echo "$name: NOT CAUGHT by $test, seeds $seeds"
	else
		echo "$name: no judgement, $test ended with code $code"
		tail -n 5 "$out"
	fi
}

declare -A known scene played
while read -r name seed _; do
	[ "${name#\#}" != "$name" ] || known[$name]=$seed
done <"$here/twins_seeds.txt"

# search NAME SEEDS PROGRAM [ARGUMENT...]: the known seed, then all of them.
search() {
	local name=$1 seeds=$2 seed=${known[$1]:-} code
	shift 2
	if [ -n "$seed" ]; then
		"$@" --twin "$name" --seeds "$seed-$seed"
		code=$?
		[ "$code" != 1 ] || return 1
		echo "seed $seed does not show it any more"
	fi
	"$@" --twin "$name" --seeds "$seeds"
}
faults=$($sim --twins)
while IFS=$'\t' read -r name rule test seeds what; do
	[ -n "$name" ] || continue
	if [ "${test%% *}" = sim_txn ]; then
		# shellcheck disable=SC2086 # no word, or one
		begin "$name" search "$name" "$seeds" "$sim" ${test#sim_txn}
	elif [ "${test%% *}" = sim_cuts ]; then
		# shellcheck disable=SC2086
		begin "$name" search "$name" "$seeds" "$cuts" ${test#sim_cuts}
	elif [ -z "${scene[$test]:-}" ]; then
		scene[$test]=1
		begin "$test" "$(scene_of "$test")"
	fi
done <<<"$faults"
wait
while IFS=$'\t' read -r name rule test seeds what; do
	[ -n "$name" ] || continue
	if [ "${test%% *}" != sim_txn ] && [ "${test%% *}" != sim_cuts ]; then
		count=$((count + 1))
		if [ "$(ended "$test")" = 0 ] && line=$(grep -m1 "^fault $name:" "$tmp/$test"); then
			echo "$name: caught by $test (${line#*: })"
		else
			echo "$name: NOT CAUGHT by $test"
			bad=1
		fi
		continue
	fi
	judge "$name" "$test" "$(ended "$name")" "$seeds"
	[ -z "$seed" ] || played[$test]+=" $seed"
done <<<"$faults"

# without TEST PROGRAM [ARGUMENT...]: the seeds that have shown a fault of this test.
without() {
	local seed code=0
	for seed in $(tr ' ' '\n' <<<"${played[$1]}" | sort -un); do
		"${@:2}" --seeds "$seed-$seed" || code=$?
	done
	return "$code"
}
for test in "${!played[@]}"; do
	sound=$sim
	[ "${test%% *}" != sim_cuts ] || sound=$cuts
	# shellcheck disable=SC2086,SC2046
	begin "sound $test" without "$test" "$sound" $(sed 's/^sim_[a-z]*//' <<<"$test")
done
wait
for test in "${!played[@]}"; do
	if [ "$(ended "sound $test")" = 0 ]; then
		echo "without a fault: $test, seeds$(tr ' ' '\n' <<<"${played[$test]}" | sort -un | tr '\n' ' '): ok"
	else
		echo "without a fault: $test: FAILED"
		tail -n 12 "$tmp/sound $test"
		bad=1
	fi
done
for test in "${!scene[@]}"; do
	[ "$(ended "$test")" = 0 ] && continue
	echo "$test: FAILED"
	tail -n 12 "$tmp/$test"
	bad=1
done

[ "$count" -gt 0 ] || { echo "twins: $sim has none"; bad=1; }
[ "$bad" = 0 ] && echo "twins: all $count caught"
exit $bad
