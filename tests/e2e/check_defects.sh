#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_defects.sh CHECK PTXRUN PROGRAM SOURCE [OPTION...]: of each case in the source --check=CHECK finds the wrong
# lines, by the rules that stand there, and nothing else; of its right twin nothing at all. Of two accesses that race the
# second is found: one of the lines suffices. With --check=all among the options other checks may find more in the wrong
# one, as one defect leads to another. NEEDS (environment): what the processor has to have, as /proc/cpuinfo calls it.
set -u
[ -z "${NEEDS:-}" ] || grep -qw "$NEEDS" /proc/cpuinfo || { echo "no $NEEDS"; exit 77; }
CHECK=$1
PTXRUN=$2
PROGRAM=$3
SOURCE=$4
shift 4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# A case's twins run the same kernel: the right one finds its code, checks and all, in the cache.
export PTXRUN_CACHE=on PTXRUN_CACHE_DIR="$dir/cache"
failures=0
finds_more=
case " $* " in
    *" --check=all "*) finds_more=yes ;;
esac

fail() # MESSAGE
{
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# run CASE TWIN: "RULE LINE" of what is found, sorted, in $dir/found.
run()
{
    timeout 60 "$PTXRUN" "--check=$CHECK" --check-report="$dir/report" --check-format=json "$@" "$PROGRAM" "$case" "$twin" \
        > "$dir/out" 2> "$dir/err"
    code=$?
    sed -n 's/.*"rule": "\([^"]*\)".*"line": \([0-9]*\),.*/\1 \2/p' "$dir/report" | sort -u > "$dir/found"
}

# Whether what is found is what is expected.
is_right()
{
    [ "$finds_more" ] && mv "$dir/found" "$dir/all" && comm -12 "$dir/all" "$dir/expected" > "$dir/found"
    [ "$CHECK" = memory ] || [ "$CHECK" = init ] && { cmp -s "$dir/found" "$dir/expected"; return; }
    [ -s "$dir/found" ] && [ -z "$(comm -23 "$dir/found" "$dir/expected")" ]
}

cases=$(sed -n 's/.*; \/\/ \([a-z_]*\) [a-z-]*$/\1/p' "$SOURCE" | sort -u)
for case in $cases; do
    twin=wrong
    run "$@"
    sed -n "=;s/.*; \/\/ $case \([a-z-]*\)\$/\1/p" "$SOURCE" |
        awk '/^[0-9]+$/ { line = $1; next } { print $1, line }' | sort -u > "$dir/expected"
    is_right ||
        fail "$case: found $(tr '\n' ';' < "$dir/found") expected $(tr '\n' ';' < "$dir/expected")"
    [ $code -eq 1 ] || fail "$case: ended with $code, not 1"
    twin=right
    run "$@"
    [ -s "$dir/found" ] && fail "$case, right: found $(tr '\n' ';' < "$dir/found")"
    [ $code -eq 0 ] || fail "$case, right: ended with $code"
    grep -q '^ptxrun: check: no errors$' "$dir/err" || fail "$case, right: $(cat "$dir/err")"
done
echo "$(echo "$cases" | wc -l) cases, $failures failures"
[ $failures -eq 0 ]
