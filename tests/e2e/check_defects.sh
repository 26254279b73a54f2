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
finds_more=0
case " $* " in
    *" --check=all "*) finds_more=1 ;;
esac

# Between two runs nothing else is started, which would take longer than they do: all are judged at the end. What a case
# that hangs is called is the last line that ctest shows.
for case in $(sed -n 's/.*; \/\/ \([a-z_]*\) [a-z-]*$/\1/p' "$SOURCE" | sort -u); do
    echo "$case" >&2
    for twin in wrong right; do
        "$PTXRUN" "--check=$CHECK" --check-report="$dir/$case.$twin.report" --check-format=json "$@" \
            "$PROGRAM" "$case" $twin > "$dir/out" 2> "$dir/$case.$twin.err"
        echo "$case $twin $?"
    done
done > "$dir/codes"
awk -v check="$CHECK" -v finds_more=$finds_more -v dir="$dir" -f "$(dirname "$0")/check_defects.awk" \
    "$SOURCE" "$dir/codes"
