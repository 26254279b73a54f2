#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# random_defects.sh CASES LIBCUDA KIND FIRST COUNT [FAMILY]: what --check says of the random kernels FIRST, FIRST + 1, …,
# run by that libcuda.so.1; CASES: the folder of random_kernels and shapes; FAMILY: as --small, of random_kernels.
#   right    nothing, and they compute the same as without
#   access   that an access which leads out of its memory does, in each that comes there: its line, or one that is not
#            known, where the compiler has put it before what checks it, and it ends the kernel
#   store    something, if a store to memory of the block or the thread is gone
#   barrier  something, if a barrier is gone
# The oracle knows what counts: a trap in front of the access that is reached; results that depend on what nothing has
# written, or on the order of threads. Other kernels are told apart, as without a defect; right ones that are none, too.
# PTXRUN_TIER, PTXRUN_COLLAPSE and so on are those of the runs. Ends with 1 if something is missed or invented.
set -u
CASES=$1
KIND=$3
FIRST=$4
COUNT=$5
FAMILY=${6:-}
tools=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PTXRUN_TEST_LIBCUDA="$2" PTXRUN_CACHE=off PTXRUN_CHECK_BACKTRACE=no
found=0
missed=0
none=0

# put KIND FILE: the kernel with the defect; its line is in $dir/line. False: there is no place for one.
put()
{
    awk -v kind="$1" -v seed="$seed" -f "$tools/random_defects.awk" "$dir/right" > "$2" 2> "$dir/line"
}

# oracle FILE: what the oracle says of it
oracle()
{
    # shellcheck disable=SC2086
    "$CASES/random_kernels" $FAMILY --backend oracle --check "$1" 2>&1
}

# check CHECKS FILE: the findings
check()
{
    PTXRUN_CHECK=$1 timeout 60 "$CASES/shapes" --seeds 1 --backend driver "$2" > "$dir/said" 2>&1
    grep -A 1 '^ptxrun: check: .* \[' "$dir/said"
}

# Some destroy an mbarrier at which others still arrive, as programs do: a race, and a misuse, which ends the kernel.
unless_destroyed() # CHECKS FILE
{
    grep -q 'mbarrier\.inval' "$2" || printf %s "$1"
}

count() # WHETHER-IT-IS-RIGHT
{
    if [ "$1" -eq 0 ]; then
        found=$((found + 1))
    else
        missed=$((missed + 1))
        echo "$KIND $FAMILY $seed: line $(cat "$dir/line" 2> /dev/null): $(grep -m 3 check: "$dir/said")"
    fi
}

try_right()
{
    # shellcheck disable=SC2086
    PTXRUN_CHECK=memory,init$(unless_destroyed ,race "$dir/right") \
        "$CASES/random_kernels" $FAMILY --backend driver --check "$dir/right" > "$dir/said" 2>&1
    grep -q '^invalid' "$dir/said" && return 1
    grep -q '^same' "$dir/said" && grep -qx 'ptxrun: check: no errors' "$dir/said"
    count $?
}

try_access()
{
    put trap "$dir/wrong" && oracle "$dir/wrong" | grep -q "'trap'" || return 1
    put access "$dir/wrong"
    check memory "$dir/wrong" | grep -q -e "PTX line $(cat "$dir/line") " -e 'at a line of .* that is not known'
    count $?
}

try_gone()
{
    put "$KIND" "$dir/wrong" || return 1
    oracle "$dir/wrong" | grep -q '^same' && return 1
    check "memory,init$(unless_destroyed ,race,sync "$dir/wrong")" "$dir/wrong" | grep -q .
    count $?
}

seed=$FIRST
while [ "$seed" -lt $((FIRST + COUNT)) ]; do
    # shellcheck disable=SC2086
    "$CASES/random_kernels" $FAMILY --print "$seed" > "$dir/right"
    case $KIND in
        right) try_right ;;
        access) try_access ;;
        store | barrier) try_gone ;;
        *) echo "no kind '$KIND'"; exit 2 ;;
    esac || none=$((none + 1))
    seed=$((seed + 1))
done
echo "$KIND $FAMILY: $found as it should be, $missed not, $none without a defect"
[ "$missed" -eq 0 ]
