#!/bin/bash
# rooms.sh BUILD_DIR -- a room's symbol table tells the truth: its library exports its own prefix, or nam_; no twin is in it.
set -u
dir=${1:?usage: tests/rooms.sh BUILD_DIR}
declare -A prefix=([base]=nam_ [net]=net_ [index]=idx_ [tsoracle]=tso_ [storage_node]=sn_ [txn]=txn_
	[catalog]=cat_ [sql]=sql_ [compute_node]=cn_ [bench]='(bench|tpcw)_' [check]=chk_ [lib]='(lib|namdb)_' [olap]=olap_)
bad=0 seen=0
for lib in "$dir"/libnam_*.a; do
	room=${lib##*/libnam_}
	room=${room%.a}
	want=${prefix[$room]:-}
	if [ -z "$want" ]; then
		echo "rooms: $room has no prefix; name it in tests/rooms.sh"
		bad=1
		continue
	fi
	seen=$((seen + 1))
	# Names with two underscores in front belong to compilers and sanitizers.
	strangers=$(nm -g --defined-only "$lib" 2>/dev/null | awk 'NF == 3 { print $3 }' |
		grep -Ev "^$want" | grep -v '^nam_' | grep -v '^__' | sort -u)
	if [ -n "$strangers" ]; then
		echo "rooms: $room exports names without its prefix ($want); make them static or rename them:"
		echo "$strangers" | sed 's/^/  /'
		bad=1
	fi
done
# Faults built in (base/twin.h) leave no trace but in the build that is made for them.
if ! grep -q '^NAM_TWINS:BOOL=ON' "$dir/CMakeCache.txt" && nm "$dir"/libnam_*.a 2>/dev/null | grep nam_twin; then
	echo "rooms: a fault of base/twin.h is in this build"
	bad=1
fi
[ "$seen" -ge 5 ] || { echo "rooms: found only $seen libraries in $dir; build first"; exit 1; }
[ "$bad" = 0 ] && echo "rooms: $seen libraries, each exports its own prefix only"
exit $bad
