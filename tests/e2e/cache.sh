#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiled code is kept from one process to the next: a second run compiles nothing and does not map
# the compile library, nor parses PTX; options say where the cache is, and whether; nothing that is wrong with it
# changes a result. Usage: cache.sh PTXRUN EXAMPLES SHOW_MAPS PTXCACHE
# EXAMPLES: the folder. SHOW_MAPS: a library that prints at exit which libraries are mapped.
set -u
ptxrun=$1
sources=$2
examples=$sources/examples
show_maps=$3
ptxcache=$4
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: the programs are built for x86_64"
    exit 77
}
work=$(mktemp -d)
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
unset PTXRUN_CACHE PTXRUN_CACHE_DIR CUDA_CACHE_DISABLE CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE
unset PTXRUN_CPU PTXRUN_COLLAPSE PTXRUN_MODE PTXRUN_SKIP
export HOME="$work/home" XDG_CACHE_HOME="$work/xdg"
mkdir "$HOME"
failures=0
preload=

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/err" "$work/out"
    failures=$((failures + 1))
}

# run PROGRAM [OPTION...]: its output has to be what is expected.
run() {
    name=$1
    shift
    folder=$examples
    [ -e "$folder/prebuilt/shared/$name" ] || folder=$sources/tests/cuda
    env LD_PRELOAD="$preload" "$ptxrun" --stats "$@" "$folder/prebuilt/shared/$name" \
        >"$work/out" 2>"$work/err" || fail "$name $*: status $?"
    cmp -s "$work/out" "$folder/expected/$name.txt" || fail "$name $*: other output"
}

# says WHAT PATTERN: the last run's standard error has a line
says() {
    grep -q "$2" "$work/err" || fail "$1: no line '$2'"
}

is_silent() {
    grep -q "$2" "$work/err" && fail "$1: a line '$2'"
}

hit='from the cache, 0 not in the cache'
miss='compiled code: 0 from the cache'

entries() {
    find "$1" -type f -path '*/??/*' | wc -l
}

# ---- hits ----

# Kernels of every kind: with barriers, functions in other modules, recursion, faults, stacks of
# their own.
for name in vector_add matmul_tiled reduction_shuffle histogram_atomics stencil_halo scan_cooperative \
    device_printf barriers warp_in_step lock_between_lanes recursion_indirect device_malloc \
    deep_stack symbols rdc_two_units bad_address assert_fails; do
    run $name --cache-dir "$work/a"
    says "$name, first run" "$miss"
    run $name --cache-dir "$work/a"
    says "$name, second run" "$hit"
    says "$name, second run" 'modules: [1-9][0-9]* known from the cache, 0 parsed'
    says "$name, second run" ' 0.000  [a-z]'
done

preload=$show_maps
run vector_add --cache-dir "$work/a"
says "maps" 'libptxrun.so'
is_silent "a hit opens the compiler" 'libptxrun-compile.so'
run vector_add --cache-dir "$work/b"
says "maps of a miss" 'libptxrun-compile.so'
preload=

run vector_add --explain=full --cache-dir "$work/a"
says "--explain" "loaded from the cache in"
says "--explain" "for launches with: block"

# ---- counts over processes ----

for i in 1 2 3; do
    run vector_add --cache-dir "$work/n"
done
"$ptxcache" -s --json --cache-dir "$work/n" >"$work/err"
says "counts" '"processes": 3'
says "counts" '"best": {"hits": 2, "misses": 1}'
says "counts" '"summary": {"hits": 2, "misses": 1}'
saved=$(sed -n 's/.*"compile_saved_ns": \([0-9]*\).*/\1/p' "$work/err")
spent=$(sed -n 's/.*"compile_spent_ns": \([0-9]*\).*/\1/p' "$work/err")
[ "$saved" = $((2 * spent)) ] && [ "$spent" -gt 0 ] || fail "counts: spent $spent, saved $saved"
"$ptxcache" -z --cache-dir "$work/n" >/dev/null
run vector_add --cache-dir "$work/n"
"$ptxcache" -s --json --cache-dir "$work/n" >"$work/err"
says "counts after zeroing" '"best": {"hits": 1, "misses": 0}'
run vector_add --cache-dir "$work/n" --tier=auto
"$ptxcache" -s --json --cache-dir "$work/n" >"$work/err"
says "counts of who takes either tier" '"best": {"hits": 2, "misses": 0}, "quick": {"hits": 0, "misses": 0}'

# ---- tiers ----

# Quick and best code are both kept; the best is taken at once where it is there.
run matmul_tiled --tier=auto --explain --cache-dir "$work/tiers"
says "nothing is there" 'compiled in '
says "nothing is there" 'tier: quick at first'
run matmul_tiled --tier=auto --explain --cache-dir "$work/tiers"
says "quick code is there" 'loaded from the cache in '
says "quick code is there" 'tier: quick at first'
run matmul_tiled --tier=best --cache-dir "$work/tiers"
says "best code" "$miss"
run matmul_tiled --tier=auto --explain --cache-dir "$work/tiers"
says "best code is there" 'tier: best, as it was in the cache'
says "best code is there" "$hit"
run matmul_tiled --tier=quick --cache-dir "$work/tiers"
says "quick code is still there" "$hit"

# Who compiles in the background keeps it, too.
run many_host_threads --tier=auto --tier-patience=0 --compile-threads=0 --cache-dir "$work/earned"
run many_host_threads --tier=auto --explain --cache-dir "$work/earned"
says "best code that was earned is there" 'tier: best, as it was in the cache'

# ---- what decides code ----

for options in '--collapse=flat' '--mode=normal' '--tier=quick' '--width=4' '--skip=unroll' '--cpu=x86-64-v2'; do
    run vector_add --cache-dir "$work/a" "$options"
    says "first run with $options" "$miss"
    run vector_add --cache-dir "$work/a" "$options"
    says "second run with $options" "$hit"
done
preload=$show_maps
run vector_add --cache-dir "$work/a" --cpu=x86-64-v2
preload=
is_silent "a hit with --cpu opens the compiler" 'libptxrun-compile.so'
for options in '--dump=ptx' '--time-steps' '--verify-steps' '--step-limit=1000'; do
    run vector_add --cache-dir "$work/a" --dump-dir "$work/dumps" "$options"
    is_silent "$options" 'compiled code:'
done
# A number of threads is none of it.
run vector_add --cache-dir "$work/a" --threads 3
says "--threads" "$hit"

# ---- where ----

run vector_add
[ "$(entries "$work/xdg/ptxrun")" -ge 1 ] || fail "XDG_CACHE_HOME is not used"
XDG_CACHE_HOME='' run vector_add
[ "$(entries "$HOME/.cache/ptxrun")" -ge 1 ] || fail "~/.cache is not used"
CUDA_CACHE_PATH="$work/cuda" run vector_add
[ "$(entries "$work/cuda")" -ge 1 ] || fail "CUDA_CACHE_PATH is not used"
CUDA_CACHE_PATH="$work/none" PTXRUN_CACHE_DIR="$work/own" run vector_add
[ "$(entries "$work/own")" -ge 1 ] && [ ! -e "$work/none" ] || fail "PTXRUN_CACHE_DIR is not first"
PTXRUN_CACHE_DIR="$work/none" run vector_add --cache-dir "$work/line"
[ "$(entries "$work/line")" -ge 1 ] && [ ! -e "$work/none" ] || fail "--cache-dir is not first"
HOME='' XDG_CACHE_HOME='' run vector_add
is_silent "no home" 'compiled code:'

# ---- whether ----

for setting in CUDA_CACHE_DISABLE=1 PTXRUN_CACHE=off; do
    (
        export "${setting?}"
        run vector_add --cache-dir "$work/none"
        is_silent "$setting" 'compiled code:'
        exit $failures
    )
    failures=$?
done
run vector_add --cache=off --cache-dir "$work/none"
[ ! -e "$work/none" ] || fail "a cache that is off makes a directory"
CUDA_CACHE_DISABLE=1 run vector_add --cache=on --cache-dir "$work/a"
says "--cache=on" "$hit"
CUDA_CACHE_DISABLE=0 run vector_add --cache-dir "$work/a"
says "CUDA_CACHE_DISABLE=0" "$hit"
CUDA_CACHE_MAXSIZE=1000 run vector_add --cache-dir "$work/small"
[ "$(entries "$work/small" 2>/dev/null)" = 0 ] || fail "CUDA_CACHE_MAXSIZE is passed"

# ---- what is wrong with it ----

# Also where ORC loads what is in the cache.
wrong() {
    run vector_add --cache-dir "$work/c" ${loader:+--loader $loader}
    [ "$(grep -c 'warning' "$work/err")" -le 1 ] || fail "$1: more than a line"
}
fill() {
    rm -rf "$work/c"
    run vector_add --cache-dir "$work/c"
}
for loader in own orc; do
    fill
    find "$work/c" -type f -path '*/??/*' | while read -r entry; do echo garbage >"$entry"; done
    wrong "garbage, loaded by $loader"
    says "garbage, loaded by $loader" "is not used"
    fill
    find "$work/c" -type f -path '*/??/*' -exec truncate -s 50 {} +
    wrong "cut off, loaded by $loader"
    fill
    for entry in "$work"/c/??/*; do
        printf '\252\125' | dd of="$entry" bs=1 seek=$(($(stat -c %s "$entry") / 2)) conv=notrunc 2>/dev/null
    done
    wrong "two bytes changed, loaded by $loader"
    says "two bytes changed, loaded by $loader" "$miss"
    wrong "mended, loaded by $loader"
    says "mended, loaded by $loader" "$hit"
done
loader=
fill
find "$work/c" -type f -path '*/??/*' -exec chmod 666 {} +
wrong "others could write entries"
says "others could write entries" "$miss"
fill
chmod 777 "$work/c"
wrong "others could write the directory"
says "others could write the directory" "others may write"
fill
mv "$work/c" "$work/real"
ln -s "$work/real" "$work/c"
wrong "a link"
is_silent "a link" "$hit"
rm "$work/c"
echo >"$work/c"
wrong "a file in its place"
rm "$work/c"
fill
if [ "$(id -u)" -ne 0 ]; then
    chmod -R a-w "$work/c"
    wrong "read-only"
    says "read-only" "$hit"
    run vector_add --cache-dir "$work/c" --collapse=flat
    says "read-only" "$miss"
fi

# ---- many at once ----

i=0
while [ $i -lt 6 ]; do
    "$ptxrun" --stats --cache-dir "$work/many" "$examples/prebuilt/shared/reduction_shuffle" \
        >"$work/out.$i" 2>"$work/err.$i" &
    i=$((i + 1))
done
wait
i=0
while [ $i -lt 6 ]; do
    cmp -s "$work/out.$i" "$examples/expected/reduction_shuffle.txt" || {
        cp "$work/err.$i" "$work/err"
        cp "$work/out.$i" "$work/out"
        fail "process $i of many"
    }
    i=$((i + 1))
done
compiled=$(grep -l "$miss" "$work"/err.? | wc -l)
[ "$compiled" -eq 1 ] || fail "$compiled of 6 processes have compiled the kernel"

[ $failures -eq 0 ]
