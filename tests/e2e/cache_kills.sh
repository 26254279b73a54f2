#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many processes at once on one cache, most of them killed at any moment: who lives to the end prints what it
# should, nothing is left damaged, and afterwards everything is found.
# Usage: cache_kills.sh PTXRUN EXAMPLES PTXCACHE [PROCESSES [STARTS]]
set -u
ptxrun=$1
examples=$2/examples
ptxcache=$3
processes=${4:-16}
starts=${5:-96}
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: the programs are built for x86_64"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PTXRUN_CACHE PTXRUN_CACHE_DIR CUDA_CACHE_DISABLE CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE
names="vector_add matmul_tiled reduction_shuffle histogram_atomics stencil_halo scan_cooperative"

# One start: a program, and when it is killed, by the start's number. A third is not killed.
cat >"$work/start" <<'END'
n=$1
shift
eval "name=\$$((n % 6 + 1))"
limit=0.$(printf %03d $((n * 7919 % 240 + 1)))
[ $((n % 3)) = 0 ] && limit=60
timeout -s KILL "$limit" "$PTXRUN" --cache-dir "$WORK/cache" "$EXAMPLES/prebuilt/shared/$name" \
    >"$WORK/out.$n" 2>"$WORK/err.$n"
status=$?
[ $status = 137 ] && [ "$limit" != 60 ] && exit 0
if [ $status != 0 ] || ! cmp -s "$WORK/out.$n" "$EXAMPLES/expected/$name.txt" || [ -s "$WORK/err.$n" ]; then
    echo "start $n, $name: status $status"
    cat "$WORK/err.$n"
fi
rm -f "$WORK/out.$n" "$WORK/err.$n"
END
export PTXRUN="$ptxrun" WORK="$work" EXAMPLES="$examples"
seq "$starts" | xargs -P "$processes" -I{} sh "$work/start" {} $names >"$work/wrong" 2>"$work/log"

"$ptxcache" verify --cache-dir "$work/cache" >"$work/verified" 2>&1 || cat "$work/verified" >>"$work/wrong"
for round in 1 2; do
    for name in $names; do
        "$ptxrun" --stats --cache-dir "$work/cache" "$examples/prebuilt/shared/$name" \
            >"$work/out" 2>"$work/err" || echo "$name: fails" >>"$work/wrong"
        cmp -s "$work/out" "$examples/expected/$name.txt" || echo "$name: other output" >>"$work/wrong"
        [ $round = 1 ] && continue
        grep -q 'from the cache, 0 not in the cache' "$work/err" &&
            grep -q 'known from the cache, 0 parsed' "$work/err" ||
            echo "$name: not all is found" >>"$work/wrong"
    done
done
echo "$starts starts, $processes at once: $(wc -l <"$work/wrong") lines about what is wrong"
cat "$work/wrong"
[ ! -s "$work/wrong" ]
