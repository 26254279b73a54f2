#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In a control group of 256 MiB a program gets less than that, can use what it gets, and is refused
# what is not there, instead of being ended. Skipped where no control group can be made.
# Usage: memory_group.sh PTXRUN PROGRAM
set -u
limit=268435456
group=
for parent in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    [ -e "$parent/memory.limit_in_bytes" ] || [ -e "$parent/cgroup.controllers" ] || continue
    mkdir "$parent/ptxrun-test-$$" 2>/dev/null || continue
    group=$parent/ptxrun-test-$$
    for file in memory.limit_in_bytes memory.max; do
        [ -e "$group/$file" ] && echo $limit 2>/dev/null >"$group/$file" && break 2
    done
    rmdir "$group"
    group=
done
if [ -z "$group" ]; then
    echo "skipped: this user may not make a control group with a limit on memory"
    exit 77
fi
out=$( (sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$1" "$2") 2>&1)
status=$?
rmdir "$group"
[ $status = 0 ] || { echo "FAILED: exit status $status: $out"; exit 1; }
total=$(echo "$out" | sed -n '1s/ MiB//p')
[ "$total" -lt 256 ] && [ "$total" -ge 64 ] || { echo "FAILED: $total MiB in all"; exit 1; }
echo "$out" | grep -qx ok || { echo "FAILED: $out"; exit 1; }
