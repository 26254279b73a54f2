# SPDX-License-Identifier: Apache-2.0
# For scripts that run commands and count what is not as it should be: `. check.sh`.
# shellcheck shell=sh
failures=0

# check NAME STATUS PATTERN COMMAND...: exit status, and a pattern in stdout and stderr together
check() {
    name=$1 status=$2 pattern=$3
    shift 3
    output=$("$@" 2>&1)
    code=$?
    if [ "$code" -ne "$status" ] || ! printf '%s\n' "$output" | grep -qe "$pattern"; then
        echo "FAILED: $name: status $code, expected $status and '$pattern' in: $output"
        failures=$((failures + 1))
    fi
}
