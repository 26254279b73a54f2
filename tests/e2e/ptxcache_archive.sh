#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An archive carries a cache elsewhere; machine code in it is taken only from who is trusted, and
# nothing of a damaged one. Usage: ptxcache_archive.sh PTXCACHE PTXRUN SOURCES OTHER_MACHINE
# OTHER_MACHINE: a library that tells of another machine with the same CPU
set -u
ptxcache=$(realpath "$1")
ptxrun=$(realpath "$2")
sources=$(realpath "$3")
other_machine=$(realpath "$4")
program=$sources/examples/prebuilt/static/vector_add
expected=$sources/examples/expected/vector_add.txt
. "$(dirname "$0")/ptxcache_common.sh"

entries() {
    find "$1" -type f -path '*/??/*' 2>/dev/null | wc -l
}

hit_with() {
    "$ptxrun" --stats --tier best --cache-dir "$1" "$program" >"$work/out" 2>"$work/err" ||
        fail "with $1: status $?"
    cmp -s "$work/out" "$expected" || fail "with $1: other output"
    says 'from the cache, 0 not in the cache'
}

"$ptxrun" --tier best --cache-dir "$work/a" --record "$work/recording" "$program" >/dev/null
head -c 32 /dev/urandom >"$work/key"
head -c 32 /dev/urandom >"$work/other"
echo short >"$work/short"
tool 0 --cache-dir "$work/a" export "$work/plain" --from "$work/recording"
says '^exported [1-9]'
tool 0 --cache-dir "$work/a" export "$work/signed" --from "$work/recording" --key "$work/key"
says ', signed$'
tool 1 --cache-dir "$work/a" export "$work/x" --key "$work/short"
says 'too short for a key'
tool 1 --cache-dir "$work/a" export "$work/missing/x"
tool 1 --cache-dir "$work/a" export "$work/x" --from "$work/short"
[ -e "$work/x" ] && fail "an archive that could not be written whole is there"

# ---- who is trusted ----

tool 0 --cache-dir "$work/b" import "$work/plain"
says '^took the PTX of 1 images, 0 entries of compiled code, 1 recorded launches$'
says '^left out [1-9]'
says '^compiled 1,'
hit_with "$work/b"
tool 0 --cache-dir "$work/c" import --trust "$work/plain"
says_not 'left out'
says '^compiled 0, already there 1,'
hit_with "$work/c"
tool 0 --cache-dir "$work/d" import --key "$work/key" "$work/signed"
says '^compiled 0, already there 1,'
hit_with "$work/d"
for wrong in "$work/other $work/signed" "$work/key $work/plain" "$work/short $work/signed" \
    "$work/missing $work/signed"; do
    tool 1 --cache-dir "$work/e" import --key $wrong
    [ "$(entries "$work/e")" = 0 ] || fail "--key $wrong: something was taken"
done
tool 0 --cache-dir "$work/f" import "$work/signed"
says '^left out'

# ---- for others ----

tool 0 --cache-dir "$work/g" warm --cpu x86-64-v2 "$program"
tool 0 --cache-dir "$work/g" export "$work/v2"
tool 0 --cache-dir "$work/h" import --trust "$work/v2"
says 'for another CPU than'
tool 0 --cache-dir "$work/h" list
says '^best .* x86-64-v2 '

# Code for a CPU that is named is for all machines that have it.
other() {
    LD_PRELOAD=$other_machine "$ptxrun" --stats --tier best --mode normal --cache-dir "$work/g" "$@" \
        "$program" >"$work/out" 2>"$work/err" || fail "another machine: status $?"
}
other --cpu x86-64-v2
says 'from the cache, 0 not in the cache'
tool 0 --cache-dir "$work/g" warm "$program"
other
says 'compiled code: 0 from the cache'

# ---- damage ----

# A share of the bytes; the test of the format changes them all.
size=$(wc -c <"$work/plain")
at=0
while [ $at -lt "$size" ]; do
    cp "$work/plain" "$work/bad"
    byte=$(dd if="$work/plain" bs=1 skip=$at count=1 2>/dev/null | od -An -tu1 | tr -d ' ')
    printf "$(printf '\\%03o' $((byte ^ 16)))" | dd of="$work/bad" bs=1 seek=$at conv=notrunc 2>/dev/null
    tool 1 --cache-dir "$work/i" import --trust "$work/bad"
    says 'nothing was taken'
    at=$((at + 1 + size / 40))
done
head -c $((size - 1)) "$work/plain" >"$work/bad"
tool 1 --cache-dir "$work/i" import --trust "$work/bad"
says 'cut off'
: >"$work/bad"
tool 1 --cache-dir "$work/i" import --trust "$work/bad"
says 'no archive of ptxcache'
tool 1 --cache-dir "$work/i" import --trust "$work"
tool 1 --cache-dir "$work/i" import --trust "$work/missing"
mkfifo "$work/pipe"
tool 1 --cache-dir "$work/i" import --trust "$work/pipe"
[ "$(entries "$work/i")" = 0 ] || fail "something of a damaged archive was taken"

# Folders of the cache that lead elsewhere are not followed.
mkdir "$work/elsewhere" "$work/j"
chmod 700 "$work/j"
for high in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
    for low in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
        ln -s "$work/elsewhere" "$work/j/$high$low"
    done
done
tool 1 --cache-dir "$work/j" import --trust "$work/plain"
says 'cannot be stored'
[ -z "$(ls -A "$work/elsewhere")" ] || fail "something was written outside of the cache"

# ---- no room ----

(
    ulimit -f 1
    "$ptxcache" --cache-dir "$work/a" export "$work/large" >"$work/out" 2>"$work/err"
    [ $? = 1 ] || exit 1
) || fail "export beyond the limit of file sizes"
[ -e "$work/large" ] && fail "half of an archive is there"
if [ -w /dev/full ]; then
    CUDA_CACHE_MAXSIZE=1 tool 1 --cache-dir "$work/k" import --trust "$work/plain"
    says 'cannot be stored'
fi

[ $failures = 0 ] && echo "all is well"
exit $((failures > 0))
