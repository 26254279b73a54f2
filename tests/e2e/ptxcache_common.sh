# SPDX-License-Identifier: Apache-2.0
# For the scripts about ptxcache, which set `ptxcache` first: a folder `work` of their own, no
# setting from outside, and what they check with. Sourced.
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: the programs are built for x86_64"
    exit 77
}
work=$(mktemp -d)
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
unset PTXRUN_CACHE PTXRUN_CACHE_DIR CUDA_CACHE_DISABLE CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE
unset PTXRUN_CPU PTXRUN_COLLAPSE PTXRUN_MODE PTXRUN_SKIP PTXRUN_RECORD PTXRUN_TIER
failures=0

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/out" "$work/err"
    failures=$((failures + 1))
}

# tool STATUS ARGUMENT...: ptxcache has to end like that.
tool() {
    wanted=$1
    shift
    "$ptxcache" "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status = "$wanted" ] || fail "ptxcache $*: status $status, not $wanted"
}

says() {
    grep -q -- "$1" "$work/out" "$work/err" || fail "no line '$1'"
}

says_not() {
    grep -q -- "$1" "$work/out" "$work/err" && fail "a line '$1'"
}
