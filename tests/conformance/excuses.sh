#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Excuses are of one fault and place each, as in tests/vector/excuses.sh, which tries what lists look like.
# Usage: excuses.sh CONFORMANCE LIST
set -eu
conformance=$1 list=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS TEXT [OPTION...]: with the list on standard input.
expect() {
    wanted=$1 text=$2
    shift 2
    cat >"$work/list"
    status=0
    "$conformance" --faults 1 --excuses "$work/list" --row BMSK --jobs 1 "$@" >"$work/said" 2>&1 || status=$?
    if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" "$work/said"; then
        echo "status $status instead of $wanted, or not said: $text"
        cat "$work/list" "$work/said"
        exit 1
    fi
}

key="BMSK bmsk.wrap.b32 llvm:forget_select"
grep '^BMSK ' "$list" >"$work/right"
grep -q "^$key 0: " "$work/right"
expect 0 " 0 missed, 0 excused for nothing" <"$work/right"
grep -v "^$key" "$work/right" | expect 1 "$key 0: ?" --list
sed "s/^$key 0:/$key 1:/" "$work/right" >"$work/wrong"
expect 1 "MISSED: $key, place 0" <"$work/wrong"
grep -qF "EXCUSED FOR NOTHING" "$work/said"
{ cat "$work/right"; echo 'BMSK bmsk.wrap.b32 llvm:no_such_fault 0: why'; } | expect 1 "EXCUSED FOR NOTHING: 1 places of BMSK"
{ cat "$work/right"; echo 'NO_SUCH_ROW drop_sat 0: why'; } | expect 1 "there is no row of 'NO_SUCH_ROW drop_sat'"
