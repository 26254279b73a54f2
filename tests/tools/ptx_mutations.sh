#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Asks NVIDIA's assembler and ptxrun's parser about PTX with one token changed, and lists what they disagree about, the most
# frequent first. A long command by hand:
#   ptx_mutations.sh PTXDUMP COUNT SEED FILE.ptx...
# Without an assembler (PTXAS, or ptxas in the path) it says so and succeeds. What makes the assembler die or hang is left out.
set -eu
[ $# -ge 4 ] || { echo "usage: $0 PTXDUMP COUNT SEED FILE.ptx..." >&2; exit 2; }
ptxdump=$1
count=$2
seed=$3
shift 3
ptxas=${PTXAS:-ptxas}
command -v "$ptxas" > /dev/null || { echo "no ptxas: skipped"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Writes the text with one token deleted, doubled, swapped with the next, or replaced, behind the head of the module.
mutate() { # mutate FILE SEED
    awk -v seed="$2" '
        BEGIN {
            srand(seed)
            pool_count = split("+ - , ; 1 0 -1 0x7f 1.0 0f3F800000 %r1 %rd1 %p1 %f1 %tid.x %laneid ! [ ] { } ( ) _ @ | .u32 " \
                ".s32 .b32 .f32 .u64 .b64 .f64 .u16 .u8 .pred .sat .rn .ftz .global .shared .local .const .param .v2 .v4 " \
                ".volatile .sync .lo .wide .cc .uni .eq ret add mov ld st bra .reg .align .visible .extern .weak 8 32 WARP_SZ", \
                pool, " ")
        }
        { gsub(/\/\/.*/, ""); text = text $0 "\n" }
        END {
            while (length(text) > 0) {
                if (!match(text, /^([ \t\n]+|"[^"]*"|[%$A-Za-z_][A-Za-z0-9_$]*|\.[A-Za-z_0-9:]+|[0-9][A-Za-z0-9.]*)/))
                    RLENGTH = 1
                token[++tokens] = substr(text, 1, RLENGTH)
                text = substr(text, RLENGTH + 1)
                if (first || token[tokens] ~ /^\.(entry|func|visible|global|shared)$/) {
                    if (!first)
                        first = tokens
                    if (token[tokens] !~ /^[ \t\n]/)
                        place[++places] = tokens
                }
            }
            n = 1 + int(rand() * places)
            at = place[n]
            kind = int(rand() * 6)
            next_at = place[n < places ? n + 1 : n]
            other = place[1 + int(rand() * places)]
            word = pool[1 + int(rand() * pool_count)]
            if (kind == 0) token[at] = ""
            else if (kind == 1) token[at] = token[at] " " token[at]
            else if (kind == 2) { word = token[at]; token[at] = token[next_at]; token[next_at] = word }
            else if (kind == 3) token[at] = word
            else if (kind == 4) token[at] = word " " token[at]
            else token[at] = token[other]
            for (i = 1; i <= tokens; i++)
                printf "%s", token[i]
        }' "$1"
}

# "accepted", "died", or what is wrong, without names and numbers.
judge_assembler() {
    if timeout 10 "$ptxas" -arch=sm_100 -o "$work/out" "$1" > "$work/said" 2>&1; then
        echo accepted
    else
        sed -n 's/.*\(error\|fatal\) *: *//p' "$work/said" | sed "1!d; s/'[^']*'/_/g; s/[0-9][0-9]*/N/g" > "$work/why"
        if [ -s "$work/why" ]; then cat "$work/why"; else echo died; fi
    fi
}

judge_parser() {
    if "$ptxdump" print "$1" > /dev/null 2> "$work/said"; then
        echo accepted
    else
        sed -n '1s/.*error: //p' "$work/said" | sed "s/'[^']*'/_/g; s/[0-9][0-9]*/N/g"
    fi
}

n=0
while [ "$n" -lt "$count" ]; do
    for file in "$@"; do
        [ "$n" -lt "$count" ] || break
        n=$((n + 1))
        mutate "$file" $((seed + n)) > "$work/text.ptx"
        theirs=$(judge_assembler "$work/text.ptx")
        ours=$(judge_parser "$work/text.ptx")
        case "$theirs/$ours" in
        died/* | accepted/accepted) ;;
        accepted/*) echo "only the assembler accepts: $ours" ;;
        */accepted) echo "only the parser accepts: $theirs" ;;
        esac
    done
done | sort | uniq -c | sort -rn
echo "$count texts"
