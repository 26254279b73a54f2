#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether the runner of unit tests tells those that fail from those that pass.
# check_ends.sh PROGRAM SANITIZERS: of those that the program is made with, "address,undefined", "thread" or none.
set -u
program=$1
sanitizers=$2
mistakes=0

# expect STATUS TEST
expect() {
    "$program" --filter "$2" >/dev/null 2>&1
    status=$?
    if [ "$status" -ne "$1" ]; then
        echo "$2: status $status, not $1"
        mistakes=$((mistakes + 1))
    fi
}

# one test of the source for each line
tests=$(sed -n 's/^Test(\([a-z]*\), \([a-z_]*\).*/\1\/\2/p' "$(dirname "$0")/test_ends.c")
for name in $tests; do
    case $name,$sanitizers in
    good/*) expect 0 "$name" ;;
    bad/* | address/*,address* | thread/*,thread) expect 1 "$name" ;;
    address/* | thread/*) expect 0 "$name" ;;
    esac
done
expect 1 'bad/*'
expect 1 '*/*'
expect 0 'good/*'
expect 1 'nobody/*'


found=$("$program" -j3 --filter 'bad/*' 2>&1)
wanted=$(echo "$tests" | grep -c '^bad/')
case $found in
*"$wanted tests, $wanted failed"*) ;;
*)
    echo "not all of $wanted tests have failed: $found"
    mistakes=$((mistakes + 1))
    ;;
esac
[ "$mistakes" -eq 0 ]
