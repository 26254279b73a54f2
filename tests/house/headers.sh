#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone. Those that the build has compiled so (shown.sh) are not compiled again.
# Usage: headers.sh ROOT FLAGS LIST COMPILER COMMANDS
# FLAGS: a file with what the compiler is told. LIST: headers that need more, or are no C (see there). COMMANDS: how
# the build has compiled, compile_commands.json.
set -eu
root=$1 flags=$2 list=$3 compiler=$4 commands=$5
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
sh "$here/sources.sh" . | grep '\.h$' >"$work/headers" || true
grep -v '^#\|^$' "$list" >"$work/list" || true
sh "$here/shown.sh" "$root" "$flags" "$commands" >"$work/shown"

# A line for each header: its path, and what else it needs. Those that are no C are left out.
awk -v list="$work/list" '
    BEGIN {
        while ((getline line < list) > 0) {
            at = index(line " ", " ")
            more[substr(line, 1, at - 1)] = substr(line, at + 1)
        }
    }
    {
        used[$0] = 1
        if (more[$0] != "none")
            print more[$0] == "" ? $0 : $0 " " more[$0]
    }
    END {
        for (header in more)
            if (more[header] != "" && !(header in used)) {
                print header " is in the list and does not exist" >"/dev/stderr"
                exit 1
            }
    }' "$work/headers" >"$work/all"

cat >"$work/one.sh" <<'END'
# Usage: one.sh COMPILER FLAGS HEADER [FLAG...]
compiler=$1 flags=$2 header=$3
shift 3
"$compiler" "@$flags" "$@" -fsyntax-only -Wno-pragma-once-outside-header -x c "$header" || {
    echo "$header does not compile alone"
    exit 1
}
END
bad=0
total=$(wc -l <"$work/all")
grep -vxF -f "$work/shown" "$work/all" >"$work/rest" || true
sed 's/["\\]/\\&/g' "$flags" >"$work/flags"
xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 sh "$work/one.sh" "$compiler" "$work/flags" <"$work/rest" || bad=1
echo "$total headers, $(wc -l <"$work/rest") of them compiled here"
[ "$total" -gt 0 ] && [ "$bad" -eq 0 ]
