#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names the compile step whose run makes a program's result wrong, or slow.
#   sh tools/bisect_steps.sh CHECK PROGRAM [ARGUMENT...]
# CHECK is a shell command; it is run with the program under ptxrun as "$@" (one worker, so that
# steps are always numbered alike), and succeeds when all is well:
#   sh tools/bisect_steps.sh '"$@" | grep -q PASSED' ./app
#   sh tools/bisect_steps.sh 'timeout 2 "$@"' ./app
# PTXRUN names the ptxrun to use. Steps that are required always run; that none but these run must
# give a good result, or the defect is elsewhere. How it works: LLVM's -opt-bisect-limit.
set -u
if [ $# -lt 2 ]; then
    sed -n '3,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
check=$1
shift
ptxrun=${PTXRUN:-ptxrun}
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT

# is_good LIMIT COMMAND...: whether all is well when so many optional steps run; 1: only the first,
# as 0 means that there is no limit.
is_good() {
    limit=$1
    shift
    PTXRUN_STEP_LIMIT=$limit PTXRUN_THREADS=1 sh -c "$check" sh "$ptxrun" "$@" >/dev/null 2>&1
}

PTXRUN_STEP_LIMIT=4000000000 PTXRUN_THREADS=1 PTXRUN_LOG=info "$ptxrun" "$@" 2>"$log" >/dev/null
high=$(sed -n 's/.* step \([0-9]*\): .* of kernel .*/\1/p' "$log" | tail -1)
if [ -z "$high" ]; then
    echo "bisect_steps: the program compiles no kernel" >&2
    exit 2
fi
if is_good "$high" "$@"; then
    echo "bisect_steps: all is well with all $high steps" >&2
    exit 2
fi
if ! is_good 1 "$@"; then
    echo "bisect_steps: it is bad without optional steps, too" >&2
    exit 2
fi
low=1
while [ $((high - low)) -gt 1 ]; do
    middle=$(((low + high) / 2))
    if is_good $middle "$@"; then low=$middle; else high=$middle; fi
done
sed -n "s/.* \(step $high: .* of kernel .*\)/\1/p" "$log" | head -1
