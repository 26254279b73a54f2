#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts defects into the PTX of right programs with a shared CUDA runtime, one at a time at places chosen at random, and counts
# how many of them checks find; put_defects.awk has the kinds of defects:
#   put_defects.sh PTXRUN PTXDUMP REPLACE_PTX COUNT SEED PROGRAM...
# PROGRAM: with its arguments, as one word; its kernels are in one unit of PTX. REPLACE_PTX: the library of replace_ptx.c,
# which also frees an allocation early (kind 'free'; LINE is its number). COUNT: defects of each program; 0: all. A line for
# each that is not found says what became of it: 'same', what the program prints, but for lines that TIMES (environment, a
# pattern of grep) names, and what copies bring to the host is the same as without, so that as far as can be seen nothing is
# wrong with it; 'other', it differs. Fails if fewer than PERCENT (environment; 0) of those that are not 'same' are found.
set -eu
[ $# -ge 6 ] || { echo "usage: $0 PTXRUN PTXDUMP REPLACE_PTX COUNT SEED PROGRAM..." >&2; exit 2; }
ptxrun=$1
ptxdump=$2
replace=$3
count=$4
seed=$5
shift 5
awk_file=$(dirname "$0")/put_defects.awk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PTXRUN_CACHE=off PTXRUN_TIER=quick PTXRUN_CHECK=memory,race,sync,init PTXRUN_CHECK_BACKTRACE=no \
    PTXRUN_LAUNCH_TIMEOUT=60 PTXRUN_CHECK_LIMIT=1

# run NAME FILE [FREED]: what the program does, in $work/NAME.out.
run()
{
    # shellcheck disable=SC2086 # the program's arguments are words
    (cd "$work" && PTX_FILE=$2 FREE_EARLY=${3:-0} SEEN_FILE=$work/$1.seen LD_PRELOAD=$replace timeout 120 "$ptxrun" $program \
        > "$work/$1.all" 2> "$work/$1.err") || true
    grep -av "${TIMES:-^\$never}" "$work/$1.all" > "$work/$1.out" || true
    cat "$work/$1.seen" >> "$work/$1.out" || true
    rm -f "$work/$1.seen"
}

for program in "$@"; do
    name=$(basename "${program%% *}")
    rm -rf "$work/ptx"
    "$ptxdump" extract -o "$work/ptx" "${program%% *}" > /dev/null
    text=$(find "$work/ptx" -name '*.ptx' | head -1)
    run right "$text"
    grep -q '^ptxrun: check: no errors' "$work/right.err" || { echo "$name is not right: $(tail -1 "$work/right.err")" >&2; exit 1; }
    awk -f "$awk_file" "$text" > "$work/places"
    seq "$(tail -1 "$work/right.out" | cut -d ' ' -f 1)" | sed 's/$/ free/' >> "$work/places"
    if [ "$count" -gt 0 ]; then
        awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $0 }' "$work/places" | sort | head -n "$count" |
            cut -d ' ' -f 2- > "$work/chosen"
    else
        cp "$work/places" "$work/chosen"
    fi
    while read -r line kind; do
        if [ "$kind" = free ]; then
            run wrong "$text" "$line" < /dev/null
        else
            awk -v line="$line" -v kind="$kind" -f "$awk_file" "$text" > "$work/wrong.ptx"
            run wrong "$work/wrong.ptx" < /dev/null
        fi
        if grep -q 'error: expected' "$work/wrong.err"; then
            cat "$work/wrong.err" >&2
            exit 2
        fi
        rule=$(sed -n 's/^ptxrun: check: .*\[\(.*\)\]$/\1/p' "$work/wrong.err" | head -1)
        if [ "$rule" ]; then
            echo "found $name $kind $rule"
        elif grep -q 'has run for' "$work/wrong.err"; then
            echo "found $name $kind hangs"
        elif cmp -s "$work/right.out" "$work/wrong.out"; then
            echo "same $name $kind $line $(sed -n "${line}p" "$text" | tr -s '\t ' ' ')"
        else
            echo "other $name $kind $line $(sed -n "${line}p" "$text" | tr -s '\t ' ' ')"
        fi
    done < "$work/chosen"
done > "$work/fates"
grep -v '^found' "$work/fates" | sort
echo
awk -v least="${PERCENT:-0}" '
    { fate[$1, $3]++; kinds[$3] = 1; sum[$1]++ }
    END {
        printf "%-8s %6s %6s %6s\n", "", "found", "other", "same"
        for (kind in kinds)
            printf "%-8s %6d %6d %6d\n", kind, fate["found", kind], fate["other", kind], fate["same", kind]
        share = 100 * sum["found"] / (sum["found"] + sum["other"])
        printf "%-8s %6d %6d %6d  found: %.0f%% of what is not the same\n", "all", sum["found"], sum["other"], sum["same"], share
        exit share < least
    }' "$work/fates"
