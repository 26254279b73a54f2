#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Not for its numbers: `ptxbench limits` has all of them, for this machine and for another CPU, and
# says which row they stand beside. Usage: check_limits.sh PTXBENCH
set -eu
ptxbench=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1"
    exit 1
}

"$ptxbench" limits --rounds 1 --json "$work/json" >"$work/text"
grep -q 'code for CPU native; row .* loops by clang' "$work/text" || fail "no heading"
for name in $(sed -n 's/^FIGURE(\([a-z_]*\),.*/\1/p' "$here/../../translator/module/figures.def"); do
    grep -q "^| $name | .* | [0-9.]* | .* |\$" "$work/text" || fail "no figure $name"
    grep -q "\"name\": \"$name\", \"measured\": [0-9]" "$work/json" || fail "no figure $name in the JSON"
done
for level in L1 L2 L3 memory; do
    grep -q "^| $level | .* | [0-9.]* | [0-9.]* |\$" "$work/text" || fail "no $level"
done
for key in pages_ns pages_ahead_ns forward_ns forward_parts_ns apart_ns aliased_ns; do
    grep -q "^\"$key\": [0-9]" "$work/json" || fail "no number for $key"
done
grep -q '^"launch_us": [0-9]' "$work/json" || fail "no number for a launch"

status=0
"$ptxbench" limits --cpu no-such-cpu 2>"$work/error" || status=$?
[ $status = 2 ] || fail "an unknown CPU gives exit status $status"
grep -q no-such-cpu "$work/error" || fail "the unknown CPU is not named"
if [ "$(uname -m)" = x86_64 ]; then
    "$ptxbench" limits --rounds 1 --cpu x86-64-v2 >"$work/v2"
    grep -q 'code for CPU x86-64-v2; row any-sse ' "$work/v2" || fail "not the row of x86-64-v2"
    grep -q '^| masked_store | .* | no instruction |$' "$work/v2" || fail "x86-64-v2 has no masks"
fi
