#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The last line of a run that fails names what the program was refused first; a program that ends
# well is told nothing at the end.
# Usage: refused.sh PTXRUN PROGRAM
set -u
failed=0

# expect WHAT END STATUS LINE: LINE is a pattern of the last line, "-" for none.
expect() {
    err=$("$ptxrun" "$program" "$1" "$2" 2>&1 >/dev/null)
    status=$?
    lines=$(printf '%s\n' "$err" | grep -c '^ptxrun: the program has failed')
    last=$(printf '%s\n' "$err" | tail -n 1)
    wanted=1
    [ "$4" = - ] && wanted=0
    if [ $status != "$3" ] || [ "$lines" != $wanted ]; then
        echo "FAILED: $1 $2: status $status, $lines lines: $err"
        failed=1
    elif [ $wanted = 1 ]; then
        case $last in
        "ptxrun: the program has failed; the first thing it needed that ptxrun does not have: "$4) ;;
        *)
            echo "FAILED: $1 $2: the last line is: $last"
            failed=1
            ;;
        esac
    fi
}

ptxrun=$1
program=$2
ulimit -c 0
expect nothing ok 0 -
expect nothing status 3 -
expect nothing abort 134 -
expect multicast ok 0 -
expect multicast status 3 'multicast objects (cuMulticastCreate)'
expect multicast abort 134 'multicast objects (cuMulticastCreate)'
expect multicast crash 139 'multicast objects (cuMulticastCreate)'
expect multicast handled 5 -
expect kernel status 3 '*textured*tex.2dms.v4.f32.s32*'
expect kernel crash 139 '*textured*tex.2dms.v4.f32.s32*'
exit $failed
