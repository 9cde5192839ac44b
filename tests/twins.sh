#!/bin/bash
# twins.sh BUILD_DIR -- each fault of base/twin.h, one at a time, must be caught; without it the same seeds must pass.
# BUILD_DIR was configured with NAM_TWINS. A line for each fault as it is caught; exit 0 only if all are.
set -u
dir=${1:?usage: tests/twins.sh BUILD_DIR}
sim=$dir/tests/sim/sim_txn
bad=0 count=0 out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

# A judgement is a program that came to its end and said FAILED. One that crashed in the broken place has shown nothing.
judge() {
	local name=$1 test=$2 code=$3 seeds=$4
	count=$((count + 1))
	seed=$(sed -n 's/^first failing seed: \([0-9]*\);.*/\1/p' "$out")
	if [ "$code" = 1 ] && [ -n "$seed" ]; then
		echo "$name: caught by $test after $((seed - ${seeds%-*} + 1)) seeds"
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

declare -A last
while IFS=$'\t' read -r name rule test seeds; do
	load=${test#sim_txn}
	# shellcheck disable=SC2086 # no word, or one
	$sim $load --twin "$name" --seeds "$seeds" >"$out" 2>&1 </dev/null
	judge "$name" "$test" $? "$seeds"
	[ -z "$seed" ] || [ "${last[$test]:-0}" -ge "$seed" ] || last[$test]=$seed
done < <($sim --twins)

for test in "${!last[@]}"; do
	# shellcheck disable=SC2086
	if $sim ${test#sim_txn} --seeds "1-${last[$test]}" >"$out" 2>&1 </dev/null; then
		echo "without a fault: $test, seeds 1-${last[$test]}: ok"
	else
		echo "without a fault: $test, seeds 1-${last[$test]}: FAILED"
		tail -n 12 "$out"
		bad=1
	fi
done
# Those of a table's memory are caught by scenes of their own; these say by themselves whether each was caught, and pass without them.
for scenes in life_test look_test; do
	if "$dir/txn.$scenes" >"$out" 2>&1 </dev/null; then
		grep '^fault ' "$out"
	else
		echo "txn/$scenes: FAILED"
		tail -n 12 "$out"
		bad=1
	fi
done

[ "$count" -gt 0 ] || { echo "twins: $sim has none"; bad=1; }
[ "$bad" = 0 ] && echo "twins: all $count caught"
exit $bad
