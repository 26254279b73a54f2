#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compile library has its functions in the order in which they are first called, so that few pages hold those that
# a first kernel needs. Usage: first_calls.sh LIBRARY LIST
set -u
command -v nm >/dev/null || {
    echo "skipped: no nm"
    exit 77
}
# Names that several files have are left out: where each of them is, the list does not tell.
nm "$1" | awk '
    function number(hex,    i, value) {
        for (i = 1; i <= length(hex); i++)
            value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
        return value
    }
    NR == FNR { address[$3] = $1; names[$3]++; next }
    names[$1] == 1 { count++; here = number(address[$1]); ordered += here > last; last = here }
    END {
        print ordered " of " count " functions lie behind the one that is called before them"
        exit !(count > 5000 && ordered > count * 0.9)
    }' - "$2"
