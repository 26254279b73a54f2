#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The workflows of docs/ci can be read, and their shell steps work in a fresh folder with the archive that `package`
# makes; later runs find what earlier ones have compiled. Usage: ci_workflows.sh SOURCES CPACK BUILD-DIRECTORY
set -u
sources=$1 cpack=$2 build=$3
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: the programs are built for x86_64"
    exit 77
}
command -v bash >/dev/null && python3 -c 'import yaml' 2>/dev/null || {
    echo "skipped: no bash, or no Python with its package yaml"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PTXRUN_CACHE CUDA_CACHE_DISABLE CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE
unset PTXRUN_COLLAPSE PTXRUN_MODE PTXRUN_SKIP PTXRUN_KEY

fail() {
    echo "FAILED: $1"
    exit 1
}

(cd "$build" && "$cpack" -B "$work/package") >"$work/log" 2>&1 || {
    cat "$work/log"
    fail "cpack"
}
mv "$work/package/"ptxrun-*.tar.gz "$work/ptxrun.tar.gz"
head -c 32 /dev/urandom >"$work/key"

# What runners and the variables of the files set.
export PTXRUN_CPU=x86-64-v3 PTXRUN_TIER=best
grep -q avx2 /proc/cpuinfo || PTXRUN_CPU=x86-64-v2
export TEST_COMMAND="$sources/examples/prebuilt/static/vector_add"

# run KIND FILE: the steps, with -e as runners have it.
run() {
    python3 "$sources/tests/e2e/ci_steps.py" "$1" "$sources/docs/ci/$2" >"$work/steps" || fail "$2 cannot be read"
    [ -s "$work/steps" ] || fail "$2 has no steps"
    (cd "$work/$1" && PATH="$PWD/.ptxrun/tool/bin:$PATH" bash -e "$work/steps") >"$work/log" 2>&1 || {
        cat "$work/log"
        fail "$2"
    }
}

says() {
    grep -q -- "$1" "$work/log" || {
        cat "$work/log"
        fail "no line '$1'"
    }
}

for kind in github gitlab; do
    mkdir "$work/$kind"
    cp "$work/ptxrun.tar.gz" "$work/$kind"
done

export GITHUB_PATH="$work/path" GITHUB_STEP_SUMMARY="$work/summary"
export PTXRUN_CACHE_DIR="$work/github/.ptxrun/kernels" PTXRUN_RECORD="$work/github/.ptxrun/launches.new"
run github github-actions.yml
says 'vector_add: PASSED'
grep -q "^$work/github/.ptxrun/tool/bin\$" "$work/path" || fail "the tool is not put into the path"
rm -rf "$work/github/.ptxrun/kernels/"[0-9a-f][0-9a-f] "$work/github/.ptxrun/tool"
run github github-actions.yml
says 'the cache has no PTX'
run github github-actions.yml
says 'compiled 0, already there 1,'
grep -q '^directory: ' "$work/summary" || fail "no report"

export PTXRUN_CACHE_DIR="$work/gitlab/.ptxrun/kernels" PTXRUN_RECORD="$work/gitlab/.ptxrun/launches"
export PTXRUN_KEY="$work/key"
for round in 1 2; do
    run gitlab gitlab-ci.yml
    says 'vector_add: PASSED'
    rm -rf "$PTXRUN_CACHE_DIR" "$PTXRUN_RECORD"
done
says 'compiled 0, already there 1,'
echo other-key-other-key >"$work/key"
run gitlab gitlab-ci.yml
says 'its signature is not one with this key'

echo "all is well"
