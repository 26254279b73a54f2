#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Excuses are of one place each, as in tests/vector/excuses.sh, which tries what lists look like.
# Usage: excuses.sh REGION_FAULTS SHAPES LIST
set -eu
program=$1 shapes=$2 list=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=exit_all_but_one
key="$name hierarchical exited_mask"

# expect STATUS TEXT [OPTION...]: with the list on standard input.
expect() {
    wanted=$1 text=$2
    shift 2
    cat >"$work/list"
    status=0
    "$program" --excuses "$work/list" "$@" "$shapes/$name.ptx" >"$work/said" 2>&1 || status=$?
    if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" "$work/said"; then
        echo "status $status instead of $wanted, or not said: $text"
        cat "$work/list" "$work/said"
        exit 1
    fi
}

grep "^$name " "$list" >"$work/right"
grep -q "^$key 3: " "$work/right"
expect 0 "1 excused, 0 missed" <"$work/right"
sed 's/mask 3:/mask 2:/' "$work/right" >"$work/wrong"
expect 1 "excused for nothing: $key, place 2" <"$work/wrong"
grep -qF "missed: $key, place 3" "$work/said"
sed 's/mask 3:/mask 3,90:/' "$work/right" | expect 1 "and no place 90"
sed 's/hierarchical/precise/' "$work/right" | expect 2 "there is no case or kind"
sed "s/^$name/no_such_case/" "$work/right" | expect 2 "there is no case or kind"
