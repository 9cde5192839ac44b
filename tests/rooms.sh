#!/bin/bash
# rooms.sh BUILD_DIR -- a room's symbol table tells the truth: its library exports its own prefix, or nam_; it uses names of
# those rooms only that CMakeLists.txt lets it use; no twin is in it. And no include goes round the map.
set -u
dir=${1:?usage: tests/rooms.sh BUILD_DIR}
src=$(dirname "$0")/..
# Of a room inside another (sql/plan: libnam_sql_plan.a) the outer one's prefix. types was part of catalog, and keeps its prefix.
declare -A prefix=([base]=nam_ [types]=cat_ [net]=net_ [index]=idx_ [tsoracle]=tso_ [storage_node]=sn_ [txn]=txn_ [wal]=wal_ [wal_remote]=wal_ [txn_twopc]=txn_twopc_
	[catalog]=cat_ [sql]=sql_ [compute_node]=cn_ [compute_node_pgwire]=cn_pg_ [bench]='(bench|peer|tpch|tpcw)_' [check]=chk_ [embed]=emb_ [lib]='(lib|namdb)_' [olap]=olap_)
bad=0 seen=0
for lib in "$dir"/libnam_*.a; do
	room=${lib##*/libnam_}
	room=${room%.a}
	want=${prefix[$room]:-${prefix[${room%%_*}]:-}}
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
# What is inside a room stays there: no other room's view shows an internal header, and a file that asks for one does not compile.
found=$(find "$dir/sees/outside" -name '*_internal.h' | head -n 3)
if [ -n "$found" ]; then
	echo "rooms: other rooms see internal headers:"
	echo "$found" | sed 's/^/  /'
	bad=1
fi
sees=("$dir"/sees/outside/*)
if echo '#include <txn/txn_internal.h>' | "${CC:-cc}" -fsyntax-only -std=gnu17 -x c "${sees[@]/#/-I}" - 2>/dev/null; then
	echo "rooms: a file of another room may include txn/txn_internal.h"
	bad=1
fi
if ! echo '#include <txn/txn.h>' | "${CC:-cc}" -fsyntax-only -std=gnu17 -D_GNU_SOURCE -x c "${sees[@]/#/-I}" - 2>/dev/null; then
	echo "rooms: txn/txn.h does not compile by itself"
	bad=1
fi
# Arrows: a name one library wants and another one has, though the first does not list the other after USES. A declaration
# written by hand, or a header both may see, gets past the compiler; the linker would find the name all the same.
# A room with rooms inside (sql) lends the names that its own headers (sql/*.h) declare, whichever of them has the code.
arrows=$(for house in "$src"/*/; do
	house=$(basename "$house")
	cat "$src/$house"/*.h 2>/dev/null | grep -oE '\b[a-z_0-9]+\b' | sort -u | sed "s/^/nam_$house F /"
done | cat - <(for lib in "$dir"/libnam_*.a; do
	room=${lib##*/lib}
	nm -g "$lib" 2>/dev/null | awk -v room="${room%.a}" 'NF == 2 && $1 == "U" { print room, "U", $2 }
		NF == 3 && $2 ~ /^[A-TV-Z]$/ { print room, "D", $3 }'
done) | awk -v map="$dir/rooms.map" '
	BEGIN {
		while ((getline line < map) > 0) {
			n = split(line, word, /[: ;]+/)
			known[word[1]] = 1
			may[word[1], word[1]] = 1
			for (k = 2; k <= n; k++)
				may[word[1], word[k]] = 1
		}
	}
	function house(lib) { while (sub(/_[a-z]*$/, "", lib) && !(lib in known)) continue; return lib }
	function allowed(lib, name,   at) {
		at = house(home[name])
		return (lib, home[name]) in may || ((lib, at) in may && (at, name) in face)
	}
	!known[$1] { next } # left over from an older build
	$2 == "F" { face[$1, $3] = 1 }
	$2 == "D" && $3 !~ /^__/ { home[$3] = $1 }
	$2 == "U" { wants[$1, $3] = 1 }
	END {
		for (w in wants) {
			split(w, part, SUBSEP)
			if (part[2] in home && !allowed(part[1], part[2]))
				print "  " part[1] " uses " part[2] " of " home[part[2]]
		}
	}' | sort)
if [ -n "$arrows" ]; then
	echo "rooms: names of rooms that are not listed after USES in CMakeLists.txt:"
	echo "$arrows"
	bad=1
fi
[ -s "$dir/rooms.map" ] || { echo "rooms: no $dir/rooms.map; configure first"; exit 1; }
# A program has the code of the rooms that it lists, and of those that they use. So the server has nothing of what only measures.
while IFS=': ;' read -r program uses; do
	[ -x "$dir/$program" ] || continue # this build has not made it
	code=$( (
		sed 's/[:;]/ /g; s/^/M /' "$dir/rooms.map"
		for lib in "$dir"/libnam_*.a; do
			room=${lib##*/lib}
			nm -g --defined-only "$lib" 2>/dev/null | awk -v room="${room%.a}" 'NF == 3 { print "D", room, $3 }'
		done
		nm -g --defined-only "$dir/$program" | awk '{ print "P", $3 }'
	) | awk -v uses="$uses" '
		$1 == "M" { known[$2] = 1; for (k = 3; k <= NF; k++) to[$2] = to[$2] " " $k }
		$1 == "D" && $2 in known && $3 !~ /^__/ { home[$3] = $2 }
		$1 == "P" { if (!reached) { reach(uses); reached = 1 } if ($2 in home && !(home[$2] in may)) print "  " $2 " of " home[$2] }
		function reach(rooms,   list, n, k) {
			n = split(rooms, list, /[ ;]+/)
			for (k = 1; k <= n; k++)
				if (list[k] != "" && !(list[k] in may)) {
					may[list[k]] = 1
					reach(to[list[k]])
				}
		}' | sort)
	if [ -n "$code" ]; then
		echo "rooms: $program has code of rooms that it does not use:"
		echo "$code" | head -n 20
		bad=1
	fi
	if [ "$program" = namdb ] && readelf -d "$dir/$program" | grep -i 'NEEDED.*sqlite'; then
		echo "rooms: SQLite is a peer of namdb-bench, and no part of namdb"
		bad=1
	fi
done <"$dir/programs.map"
# In quotes stands a name without a path, or nothing keeps it from climbing out of its room.
if grep -rnE '#include "[^"]*/' --include='*.[ch]' "$src"/{base,types,net,index,tsoracle,storage_node,txn,catalog,sql,compute_node,check,lib,bench,cli}; then
	echo "rooms: includes with a path are written in <>"
	bad=1
fi
# Faults built in (base/fault.h) leave no trace but in the build that is made for them.
if ! grep -q '^NAM_TWINS:BOOL=ON' "$dir/CMakeCache.txt" && nm "$dir"/libnam_*.a 2>/dev/null | grep nam_fault; then
	echo "rooms: a fault of base/fault.h is in this build"
	bad=1
fi
[ "$seen" -ge 5 ] || { echo "rooms: found only $seen libraries in $dir; build first"; exit 1; }
[ "$bad" = 0 ] && echo "rooms: $seen libraries, each exports its own prefix only and uses the rooms it lists"
exit $bad
