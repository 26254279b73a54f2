#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptxcache looks after the cache: shows, counts, checks, trims, fills it ahead of the first launch.
# Usage: ptxcache.sh PTXCACHE PTXRUN SOURCES
set -u
ptxcache=$(realpath "$1")
ptxrun=$(realpath "$2")
sources=$(realpath "$3")
. "$(dirname "$0")/ptxcache_common.sh"
export HOME="$work/home" XDG_CACHE_HOME="$work/xdg"
mkdir "$HOME"
cd "$work" || exit 1

# run PROGRAM [OPTION...]: its output has to be what is expected.
run() {
    name=$1
    shift
    folder=$sources/examples
    [ -e "$folder/prebuilt/static/$name" ] || folder=$sources/tests/cuda
    "$ptxrun" --stats "$@" "$folder/prebuilt/static/$name" >"$work/out" 2>"$work/err" ||
        fail "$name $*: status $?"
    cmp -s "$work/out" "$folder/expected/$name.txt" || fail "$name $*: other output"
}

hits='from the cache, 0 not in the cache'

# ---- usage ----

tool 2
tool 0 --help
says '^usage: ptxcache'
tool 0 --version
tool 2 frobnicate
tool 2 --frobnicate
tool 2 warm
tool 2 warm --tune
tool 2 warm --tune --from x ./program
tool 2 export
tool 2 import
tool 2 -M many
tool 2 -M -1
tool 2 --evict-older-than 7
tool 2 --evict-older-than d
tool 2 warm -j 0 x
(
    unset HOME XDG_CACHE_HOME
    failures=0
    tool 1 -s
    says 'no place for a cache'
    exit $failures
) || failures=$((failures + 1))

# ---- where ----

tool 0 -s
says "^directory: $work/xdg/ptxrun\$"
CUDA_CACHE_PATH=$work/path tool 0 -s
says "^directory: $work/path\$"
PTXRUN_CACHE=off tool 0 --cache-dir "$work/c" -s
says "^directory: $work/c\$"

# ---- what is there ----

run vector_add --cache-dir "$work/c" --tier best
run vector_add --cache-dir "$work/c" --tier best
says "$hits"
tool 0 --cache-dir "$work/c" list
says '^best .* _Z10vector_addPKfS0_Pfi$'
tool 0 --cache-dir "$work/c" -s
says '^  best  *1 entries'
says '^  best  *1 hits, 1 misses (50.0%)$'
says '^processes: 2 since'
says '^compiling: .* s spent, .* s saved$'
tool 0 --cache-dir "$work/c" -s --json
says '"version": 1'
says '"best": {"hits": 1, "misses": 1}'
says '"compile_spent_ns": [1-9][0-9]*, "compile_saved_ns": [1-9]'
tool 0 --cache-dir "$work/c" list --json
says '"kind": "best", "name": "_Z10vector_addPKfS0_Pfi"'
if command -v python3 >/dev/null; then
    python3 -m json.tool "$work/out" >"$work/json" || fail "list --json"
fi
tool 0 --cache-dir "$work/c" -z
tool 0 --cache-dir "$work/c" -s
says_not 'hits'
tool 0 --cache-dir "$work/c" verify
says ', 0 damaged$'
entry=$(find "$work/c" -type f -path '*/??/*' | head -n 1)
printf 'x' | dd of="$entry" bs=1 conv=notrunc 2>/dev/null
tool 1 --cache-dir "$work/c" verify
says 'is damaged: '
tool 1 --cache-dir "$work/c" verify --remove
says '; it is removed'
tool 0 --cache-dir "$work/c" verify

# ---- less ----

run vector_add --cache-dir "$work/c"
find "$work/c" -type f -path '*/??/*' -exec touch -d '3 hours ago' {} +
run mandelbrot --cache-dir "$work/c" --tier best
tool 0 --cache-dir "$work/c" --evict-older-than 4h
says '^removed 0 entries'
tool 0 --cache-dir "$work/c" --evict-older-than 2h
tool 0 --cache-dir "$work/c" list
says '_Z4drawPh'
says_not 'vector_add'
tool 0 --cache-dir "$work/c" -M 1K
says '^limit: 1.0 KiB'
tool 0 --cache-dir "$work/c" -c
says ', kept 0 '
run vector_add --cache-dir "$work/c"
tool 0 --cache-dir "$work/c" list
says_not 'vector_add'
CUDA_CACHE_MAXSIZE=100000000 run vector_add --cache-dir "$work/c"
tool 0 --cache-dir "$work/c" list
says 'vector_add'
tool 0 --cache-dir "$work/c" -M 0 -C
says '^limit: none'
says ', kept 0 '

# ---- measured ----

# How far a program gets is a matter of moments; what one run has found the next goes on with.
LD_LIBRARY_PATH=$(cd "$(dirname "$ptxrun")/../lib/ptxrun/cudart" && pwd)
export LD_LIBRARY_PATH
program=$sources/tests/cuda/prebuilt/shared/many_launches
for round in 1 2 3 4 5 6 7 8 9 10; do
    tool 0 --cache-dir "$work/t" warm -v --tune -- "$program" 100
    cmp -s "$work/out" "$sources/tests/cuda/expected/many_launches.txt" || fail "tuning: other output"
    tool 0 --cache-dir "$work/t" list
    [ "$(grep -c '^choice ' "$work/out")" -eq 2 ] && break
done
says '^choice .*generate'
says '^choice .*look_up'
tool 0 --cache-dir "$work/t" warm -v --tune -- "$program" 3
says 'measured against .* in earlier processes'
tool 1 --cache-dir "$work/t" warm --tune -- "$work/missing"
unset LD_LIBRARY_PATH

# ---- ahead ----

PTXRUN_DUMP=ptx PTXRUN_RECORD=$work/nothing PTXRUN_STATS=1 tool 0 --cache-dir "$work/w" warm -v -j 2 "$sources/examples/prebuilt/static/vector_add"
says '^compiled 5, already there 0, not supported 0, failed 0;'
says_not '^ptxrun: '
tool 0 --cache-dir "$work/w" list
says_not '^ptx '
tool 0 --cache-dir "$work/w" warm "$sources/examples/prebuilt/static/vector_add"
says '^compiled 0, already there 5,'
tool 0 --cache-dir "$work/w" -s
says '^processes: none' # of programs
run vector_add --cache-dir "$work/w" --mode normal --tier best
says "$hits"
says 'modules: 1 known from the cache, 0 parsed'
run vector_add --cache-dir "$work/w"
says "$hits"
tool 0 --cache-dir "$work/w" warm "$sources/tests/cuda/prebuilt/static/rdc_two_units"
run rdc_two_units --cache-dir "$work/w" --mode normal --tier best
says "$hits"
says 'modules: 1 known from the cache, 0 parsed'
tool 1 --cache-dir "$work/w" warm "$sources/tests/cuda/prebuilt/static/cubin_only"
says 'holds no PTX'
tool 1 --cache-dir "$work/w" warm "$work/missing"
cp "$sources/examples/prebuilt/static/device_printf" "$sources/README.md" "$work/w"
ln -s "$work/missing" "$work/w/link"
tool 0 --cache-dir "$work/w" warm "$work/w"
says '^compiled [0-9]*[05],'
tool 1 --cache-dir "$work/w" warm --cpu frobnicator "$work/w"
says "knows no CPU 'frobnicator'"
cat >"$work/texture.ptx" <<'PTX'
.version 8.0
.target sm_75
.address_size 64
.visible .entry plain() { ret; }
.visible .entry texture() {
    .reg .b32 %r1;
    .reg .b64 %rd1;
    tex.2dms.v4.u32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1, %r1, %r1, %r1}];
    ret;
}
PTX
tool 0 --cache-dir "$work/w" warm "$work/texture.ptx"
says '^compiled 5, already there 0, not supported 5, failed 0;'
says "kernel 'texture'"

# ---- recordings ----

for name in vector_add histogram_atomics rdc_two_units; do
    run $name --cache-dir "$work/r" --record "$work/recording"
done
(cd "$work" && "$ptxrun" --cache-dir "$work/r" --record recording \
    "$sources/examples/prebuilt/static/vector_add" >/dev/null)
grep -c 'launches=1.*kernel=_Z10vector_addPKfS0_Pfi' "$work/recording" >"$work/out"
says '^2$'
find "$work/r" -type f -path '*/??/*' -exec grep -lE 'best|quick' {} + | xargs rm
tool 0 --cache-dir "$work/r" warm --from "$work/recording"
says 'already there 0, not supported 0, failed 0;'
# Whatever the tier was: the first launch gets the best code.
grep -c 'quick=1' "$work/recording" >"$work/out"
says '^0$'
for name in vector_add histogram_atomics rdc_two_units; do
    for tier in best auto; do
        run $name --cache-dir "$work/r" --tier $tier
        says "$hits"
        says_not 'quick code ran'
    done
done
run vector_add --cache-dir "$work/q" --tier quick --record "$work/quick"
find "$work/q" -type f -path '*/??/*' -exec grep -l quick {} + | xargs rm
tool 0 --cache-dir "$work/q" warm --from "$work/quick"
says '^compiled 1, already there 0,'
run vector_add --cache-dir "$work/q" --tier quick
says "$hits"
cp "$work/recording" "$work/cut"
printf 'v1\tlaunches=1\timage=00' >>"$work/cut"
tool 0 --cache-dir "$work/r" warm --from "$work/cut"
printf '\n' >>"$work/cut"
tool 1 --cache-dir "$work/r" warm --from "$work/cut"
says 'line [0-9]*: a field is not known'
echo 'v2	later' >"$work/cut"
tool 1 --cache-dir "$work/r" warm --from "$work/cut"
says 'line 1: it has the format of another version'
tool 1 --cache-dir "$work/empty" warm --from "$work/recording"
says 'the cache has no PTX'
"$ptxrun" --cache off --record "$work/none" "$sources/examples/prebuilt/static/vector_add" \
    >"$work/out" 2>"$work/err" || fail "a recording without a cache: status $?"
says 'cannot be kept in the cache'

# Processes that record at the same time.
for i in 1 2 3 4 5 6; do
    "$ptxrun" --cache-dir "$work/r" --record "$work/many" \
        "$sources/examples/prebuilt/static/vector_add" >/dev/null &
done
wait
grep -vc '^v1	launches=[01]	image=[0-9a-f]*	kernel=_Z10vector_addPKfS0_Pfi	capability=80	.*[0-9]$' \
    "$work/many" >"$work/out"
says '^0$'
wc -l <"$work/many" >"$work/out"
says '^12$'

# ---- what cannot be written ----

if [ "$(id -u)" != 0 ]; then
    mkdir -m 500 "$work/readonly"
    tool 1 --cache-dir "$work/readonly" warm "$sources/examples/prebuilt/static/vector_add"
    says 'cannot be kept'
    tool 1 --cache-dir "$work/readonly" -C
fi
(
    ulimit -f 1
    failures=0
    tool 1 --cache-dir "$work/full" warm "$sources/examples/prebuilt/static/vector_add"
    says 'cannot be kept'
    exit $failures
) || failures=$((failures + 1))
mkdir -m 777 "$work/shared"
chmod 777 "$work/shared"
tool 1 --cache-dir "$work/shared" -s
says 'others may write in it'

[ $failures = 0 ] && echo "all is well"
exit $((failures > 0))
