#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Includes and calls between the folders run only the ways that the list of arrows allows.
# Usage: arrows.sh ROOT ARROWS BUILD OBJECTS NM
# OBJECTS: a file with the object files of the product, below BUILD, one a line.
set -eu
root=$1 arrows=$2 build=$3 objects=$4 nm=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

here=$(cd "$(dirname "$0")" && pwd)
cd "$root"
sh "$here/sources.sh" . | grep -v '^tests/\|^examples/' >"$work/sources"

# Uses: the folder that uses, the folder used, and the sentence about it.
xargs awk '
    /^[ \t]*#[ \t]*include[ \t]*"[^"]*\/[^"]*"/ {
        split($0, part, "\"")
        from = FILENAME; sub(/\/[^\/]*$/, "", from)
        to = part[2]; sub(/\/[^\/]*$/, "", to)
        if (to == "ptxrun")
            to = "include/ptxrun"
        print from "\t" to "\t" FILENAME " includes " part[2]
    }' <"$work/sources" >"$work/uses"

while read -r object; do
    [ -e "$object" ] || {
        echo "$object has not been built"
        exit 1
    }
done <"$objects"
sh "$here/objects.sh" "$build" "$objects" >"$work/objects"
cut -d' ' -f1 "$work/objects" | xargs "$nm" -A -P | awk -v names="$work/objects" '
    BEGIN {
        while ((getline line < names) > 0) {
            split(line, part, " ")
            source[part[1]] = part[2]
        }
    }
    {
        at = index($0, ": ")
        file = source[substr($0, 1, at - 1)]
        split(substr($0, at + 2), part, " ")
        folder = file; sub(/\/[^\/]*$/, "", folder)
        if (part[2] ~ /^[TDBRVWCGS]$/)
            owners[part[1]] = index(owners[part[1]] " ", " " folder " ") ? owners[part[1]] \
                                                                        : owners[part[1]] " " folder
        else if (part[2] == "U") {
            used[++count] = part[1]
            by[count] = folder
            object[count] = file
        }
    }
    END {
        for (i = 1; i <= count; i++)
            if (used[i] in owners)
                print by[i] "\t" substr(owners[used[i]], 2) "\t" object[i] " refers to " used[i]
    }' >>"$work/uses"

echo "$(wc -l <"$work/sources") sources, $(wc -l <"$work/objects") objects, $(wc -l <"$work/uses") uses"
[ -s "$work/sources" ] && [ -s "$work/objects" ] || exit 1

# Of a name that several folders define, one that may be used is enough.
{
    sed 's|/[^/]*$||' "$work/sources" | sort -u | sed 's/^/folder\t/'
    cat "$work/uses"
} | awk -F '\t' -v arrows="$arrows" '
    function say(text) { print text; bad = 1 }

    function read_arrows(   line, at, from, via, other, list, pair, i, n, key) {
        while ((getline line < arrows) > 0) {
            if (line ~ /^#/ || line ~ /^ *$/)
                continue
            if (line ~ /^except /) {
                split(line, list, " ")
                if (list[3] != "->" || list[5] == "")
                    say("not understood: " line)
                excused[list[2], list[4]] = 1
                continue
            }
            at = index(line, ":")
            from = substr(line, 1, at - 1)
            if (from in known)
                say(from " has two lines")
            known[from] = 1
            may[from, from] = 1
            n = split(substr(line, at + 1), list, " ")
            for (i = 1; i <= n; i++)
                may[from, list[i]] = direct[from, list[i]] = 1
        }
        for (via in known)
            for (from in known)
                if ((from, via) in may)
                    for (other in known)
                        if ((via, other) in may)
                            may[from, other] = 1
        for (key in direct) {
            split(key, pair, SUBSEP)
            if (!(pair[2] in known))
                say(pair[1] " uses " pair[2] ", which has no line")
            if ((pair[2], pair[1]) in may)
                say("circle: " pair[1] " and " pair[2] " use each other")
        }
    }

    BEGIN { read_arrows() }

    $1 == "folder" {
        present[$2] = 1
        if (!($2 in known))
            say($2 " has no line in the list of arrows")
        next
    }

    {
        count = split($2, to, " ")
        for (i = 1; i <= count; i++)
            if (($1, to[i]) in may)
                next
        for (key in excused) {
            split(key, pair, SUBSEP)
            for (i = 1; i <= count; i++)
                if (pair[1] == $1 && (pair[2], to[i]) in may) {
                    needed[key] = 1
                    next
                }
        }
        say($3 ": " $1 " may not use " $2)
    }

    END {
        for (folder in known)
            if (!(folder in present))
                say(folder " is in the list of arrows, and holds no sources")
        for (key in excused)
            if (!(key in needed)) {
                split(key, pair, SUBSEP)
                say("an excuse for nothing: " pair[1] " -> " pair[2])
            }
        exit bad
    }'
