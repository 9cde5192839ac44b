#!/bin/bash
# tree.sh -- the tree of ARCHITECTURE.md is what is there: every folder has its line, and every line its folder. The mark + stands
# at the rooms of CMakeLists.txt, and only there.
set -u
cd "$(dirname "$0")/.." || exit 2
said=$(awk '
	/^## / { tree = $0 == "## The tree" }
	tree && /^```/ { block++ }
	tree && block == 1 && match($0, /[a-z]/) {
		depth = (RSTART - 1) / 2
		name = $1
		sub(/\/$/, "", name)
		path = depth == 0 ? name : at[depth - 1] "/" name
		at[depth] = path
		print path, $2 == "+" ? "+" : "-"
	}' ARCHITECTURE.md | sort)
there=$(find . -mindepth 1 \( -name '.*' -o -name 'build*' -o -name __pycache__ \) -prune -o -type d -print |
	sed 's#^\./##' | while read -r dir; do
	# Folders that hold nothing but leftovers are none of git's.
	[ -n "$(find "$dir" -type f -not -path '*/__pycache__/*' -print -quit)" ] || continue
	grep -qE "^ *nam_room\\($dir( |\\))" CMakeLists.txt && echo "$dir +" || echo "$dir -"
done | sort)
if [ "$said" != "$there" ]; then
	echo "tree: < ARCHITECTURE.md says, > is there:"
	diff <(echo "$said") <(echo "$there") | grep '^[<>]'
	exit 1
fi
echo "tree: $(echo "$there" | wc -l) folders, each with its line in ARCHITECTURE.md"
