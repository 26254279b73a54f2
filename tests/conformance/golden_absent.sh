#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The list of what the golden file lacks is held to: with one name less, with one that the file has, with one that
# nobody asks for, and with one twice, the comparison fails and says which.
# Usage: golden_absent.sh CONFORMANCE GOLDEN
set -eu
conformance=$1 golden=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$golden/conformance.zst" "$work"

# compare STATUS TEXT [OPTION...]: with the list on standard input.
compare() {
    wanted=$1 text=$2
    shift 2
    cat >"$work/absent.txt"
    status=0
    "$conformance" --golden compare "$work" --cases 2000 --max-sm 90 "$@" >"$work/said" 2>&1 || status=$?
    if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" "$work/said"; then
        echo "status $status instead of $wanted, or not said: $text"
        cat "$work/said"
        exit 1
    fi
}

name='movmatrix.sync.aligned.m8n8.trans.b16'
compare 0 "0 rows with failures" --row MOVMATRIX <"$golden/absent.txt"
grep -vxF "$name" "$golden/absent.txt" | compare 1 "not in the golden file: $name" --row MOVMATRIX
{ cat "$golden/absent.txt"; echo 'atom.acq_rel.cas.b32'; } |
    compare 2 "'atom.acq_rel.cas.b32' is in the golden file, and in the list" --row MOVMATRIX
{ cat "$golden/absent.txt"; echo "$name"; } | compare 2 "'$name' is twice in the list" --row MOVMATRIX
