#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program linked with NVTX 2 finds our library, and its texts are shown on request only.
# Usage: nvtx.sh PTXRUN PROGRAM
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

"$1" "$2" >"$log" 2>&1 || { echo "FAILED: exit status $?"; failed=1; }
[ -s "$log" ] && { echo "FAILED: not silent"; cat "$log"; failed=1; }
"$1" --log info "$2" >"$log" 2>&1 || { echo "FAILED: exit status $? with --log info"; failed=1; }
for line in "NVTX mark: a mark" "NVTX range: a range" "NVTX range: a range with attributes" \
            "NVTX range: another range"; do
    grep -qx "ptxrun: $line" "$log" || { echo "FAILED: no '$line'"; cat "$log"; failed=1; }
done
[ "$(grep -c NVTX "$log")" = 4 ] || { echo "FAILED: more lines than wanted"; cat "$log"; failed=1; }
exit $failed
