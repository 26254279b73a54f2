#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What --explain and --stats say, and --help of them, over the prebuilt programs, as people read it.
#   sh tests/e2e/explain.sh PTXRUN ROOT
# ROOT is the repository.
set -u
ptxrun=$1
root=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# has WHAT PATTERN FILE, hasnt WHAT PATTERN FILE: extended regular expressions.
has() { grep -Eq -- "$2" "$3" || fail "$1: no '$2' in $(cat "$3")"; }
hasnt() {
    if grep -En -- "$2" "$3" >found; then
        fail "$1: $(cat found)"
    fi
}

# explain OUT PROGRAM OPTIONS: the lines of one program, without its own and those of errors.
explain() {
    out=$1
    which=$2
    shift 2
    "$ptxrun" "$@" "$which" 2>&1 >/dev/null </dev/null |
        grep '^ptxrun: ' | grep -v '^ptxrun: error' >"$out"
}

programs=
for program in "$root"/examples/prebuilt/static/* "$root"/tests/cuda/prebuilt/shared/*; do
    case $program in
    *.so | *cub_primitives | *cubin_only | *async_copies | *clusters | *_defects) ;; # plugins, what takes long, what has no PTX for this device or launches nothing by itself
    *) programs="$programs $program" ;;
    esac
done

# Words of the translator's own that no user of CUDA knows.
private='jam|nests?|units?|anchors?|crossings?|turns?|iterations?|segments?|regions?|fused?|synchroni[sz]ation points?|row x rows'
# The second form of a program finds its code in the cache, and has to say as much of it.
export PTXRUN_CACHE=on PTXRUN_CACHE_DIR="$dir/cache"
for program in $programs; do
    name=$(basename "$program")
    for form in --explain=full --explain; do
        explain said "$program" $form
        has "$name $form says something" "^ptxrun: kernel '" said
        hasnt "$name $form: every line is known" 'unknown|no lines?|lines? 0|lines?[^ a-z]|lines?$' said
        awk '/^ptxrun:   [0-9]* ?loops? over / && !/: lines? [1-9]/
             /^ptxrun:     (loads|stores|done [a-z ]*|branches [a-z ]*): / {
                 count = split($0, items, "; ")
                 for (i = 1; i <= count; i++)
                     if (items[i] !~ /\(lines? [1-9]/) print
             }' said >lineless
        cat said >>all
        [ -s lineless ] && fail "$name $form: without a line: $(cat lineless)"
        hasnt "$name $form: no private words" "\\b($private)\\b" said
        hasnt "$name $form: names as in the source" "kernel '_Z" said
        # Behind a long name the sentence has a line of its own.
        sed "/^ptxrun: kernel '.*':\$/{N;s/\nptxrun:  //}" said | grep "^ptxrun: kernel '" >sentences
        hasnt "$name $form: the first line is a sentence with a reason" \
            "^ptxrun: kernel '.*': .*, because .*[^.]\$" sentences
        [ "$(grep -c ', because ' sentences)" = "$(wc -l <sentences)" ] ||
            fail "$name $form: a kernel without a reason: $(cat sentences)"
    done
    grep ' of them over vectors ' sentences |
        grep -Ev ', and [0-9]+ over single threads, because .* \(line [1-9][0-9]*\)\.$' >unexplained
    [ -s unexplained ] && fail "$name: why some loops are not over vectors: $(cat unexplained)"
    # No two paragraphs of a kernel say the same but for lines and numbers of loops.
    awk '/^ptxrun: kernel/ { kernel++ }
         /^ptxrun:   [0-9]* ?loops? over/ { if (text != "") print text; text = kernel }
         { gsub(/[0-9]+ loops/, "loop"); gsub(/lines? [0-9, .-]+/, ""); text = text != "" ? text $0 : "" }
         END { print text }' said | sort | uniq -d >twice
    [ -s twice ] && fail "$name: paragraphs that say the same: $(cat twice)"
done
export PTXRUN_CACHE=off

# Every phrase of a paragraph is in the legend; numbers are one there as well.
sed 's/[0-9][0-9]*/N/g' "$root/docs/explain.md" >legend
sed -n 's/^ptxrun:     //p' all | sed 's/: /\n/g; s/ (lines\{0,1\} [^)]*)//g' | sed 's/; */\n/g' | sed 's/, */\n/g' |
    sed 's/[0-9][0-9]*/N/g; s/N-N/N/g; s/^lines* N.*//; s/^N$//' | sort -u | grep . >phrases
while read -r phrase; do
    grep -Fiq -- "$phrase" legend || fail "docs/explain.md explains '$phrase'"
done <phrases

# What is shown of one kernel, by how much is asked for.
program=$root/examples/prebuilt/static/reduction_shuffle
explain short "$program" --explain
explain full "$program" --explain=full
has "the levels of a reduction are one paragraph" '^ptxrun:   9 loops over .*: lines [0-9]+, [0-9]+-[0-9]+, ' short
has "why" "^ptxrun: kernel 'sum_blocks\(float const\*, float\*, int\)': the 256 threads of a block run warp by warp" short
hasnt "short has no details" 'estimated time|for launches with|stays:|why:' short
has "full has the facts" '^ptxrun:   for launches with: block 256x1x1' full
has "full has the barriers" '^ptxrun:   barrier at line [0-9]+ stays: ' full
grep -v 'compiled in' short | grep -vxFf full >missing
[ -s missing ] && fail "full lacks what short has: $(cat missing)"
PTXRUN_EXPLAIN=full "$ptxrun" "$program" 2>&1 >/dev/null | grep '^ptxrun: ' | grep -v 'compiled in' >variable
grep -v 'compiled in' full | cmp -s - variable || fail "PTXRUN_EXPLAIN=full is --explain=full"
"$ptxrun" --explain=ful "$program" >bad 2>&1
[ $? = 2 ] || fail "--explain=ful is refused"
has "what is allowed is said" 'one of 0\|1\|full' bad

# Reasons that are known.
explain said "$root/tests/cuda/prebuilt/shared/rdc_two_units" --explain
has "a stack for each thread" "'first_kernel\(int\*\)': each thread of a block runs on a stack of its own \(precise\), because threads may wait for each other, or end, in a function that is called through a pointer \(line [1-9][0-9]*\)\.\$" said
explain said "$root/examples/prebuilt/static/vector_add" --explain --collapse=precise
has "what was asked for is the reason" "on a stack of its own \(precise\), because --collapse=precise asks for it\.\$" said
explain said "$program" --explain --collapse=flat
has "what was asked for, as far as it goes" "warp by warp, one after another in loops \(hierarchical\), because --collapse=flat asks for no vectors, and the kernel has warp operations\.\$" said
explain said "$program" --explain --tier=quick
has "no vectors in quick code" "in loops \(hierarchical\), because code of the quick tier has no vectors of them\.\$" said
has "the tier" "^ptxrun:   code of the quick tier: " said
explain said "$root/examples/prebuilt/static/device_printf" --explain
has "one thread" "'print_formats\(int\*\)': the only thread of a block runs as it is \(flat\), because there are no others to make a vector of\.\$" said

if [ "$(uname -m)" = x86_64 ]; then
    "$ptxrun" --explain "$root/tests/cuda/prebuilt/shared/cub_primitives" 1 scan_4 2>said >/dev/null
    has "behind a long name" "^ptxrun:   the 128 threads of a block run .*, because .*\.\$" said
fi

# --stats, and where its columns are explained.
"$ptxrun" --stats --collapse=flat "$program" 2>&1 >/dev/null | grep '^ptxrun: ' >stats
has "a row, with the name of the source" "^ptxrun: +[0-9.]+ .* hierarchical +sum_blocks\(float const\*, float\*, int\)\$" stats
has "why it is not what was asked for" "^ptxrun: kernel 'sum_blocks\(.*\)': the 256 threads .*because --collapse=flat asks for no vectors" stats
head -1 stats | sed 's/^ptxrun: *//; s/  */\n/g' | grep -v '^ms$' >columns
while read -r column; do
    grep -Fq "| \`$column" "$root/docs/explain.md" || fail "docs/explain.md explains column $column"
done <columns
[ "$(wc -l <columns)" = 9 ] || fail "nine columns: $(cat columns)"

# Tiers: what --explain and --stats say of them, and where that is explained.
tiers() { # tiers OPTIONS: the lines about tiers, of programs that launch a kernel once and often
    for name in matmul_tiled many_host_threads; do
        for folder in examples tests/cuda; do
            program=$root/$folder/prebuilt/static/$name
            [ -e "$program" ] && "$ptxrun" --explain --stats "$@" "$program" 2>&1 >/dev/null
        done
    done | sed -n "s/^ptxrun:   tier: /tier: /p; s/^ptxrun: kernel '.*': \(quick code ran .*\)/\1/p" | sort -u
}
tiers --tier=best >best
[ -s best ] && fail "--tier=best says nothing of tiers: $(cat best)"
tiers --tier=quick >quick
has "quick code, as asked for" '^tier: quick, as --tier=quick asks for it$' quick
tiers --tier=auto --tier-patience=4000000000 >patient
has "quick code at first" '^tier: quick at first; the best code is predicted to take [0-9.]+ ms to compile$' patient
has "quick code only" '^quick code ran for [0-9.]+ ms; compiling the best is predicted to take [0-9.]+ ms$' patient
tiers --tier=auto --tier-patience=0 --compile-threads=0 >earned
has "best code, and what it took" '^tier: best, after [0-9.]+ ms in quick code; compiling was predicted to take [0-9.]+ ms and took [0-9.]+ ms$' earned
has "when it took over" '^quick code ran for [0-9.]+ ms; compiling the best was predicted to take [0-9.]+ ms and took [0-9.]+ ms; it took over after [0-9.]+ ms$' earned
sed 's/[0-9][0-9.]*/N/g' "$root/docs/explain.md" >numberless
cat quick patient earned | sed 's/[0-9][0-9.]*/N/g' | sort -u >phrases
while read -r phrase; do
    grep -Fq -- "$phrase" numberless || fail "docs/explain.md explains '$phrase'"
done <phrases

# Kernels that flush subnormals by the CPU's mode, beside one that keeps those of f64.
explain fast "$root/tests/cuda/prebuilt/shared/fast_math" --explain --tier=best
has "kernels without subnormals" 'subnormals: flushed by the CPU, as all f32 arithmetic has .ftz$' fast
[ "$(grep -c 'subnormals: flushed' fast)" = 4 ] || fail "four kernels flush: $(cat fast)"

# --help fits a terminal.
"$ptxrun" --help >help
awk 'length > 100' help >long
[ -s long ] && fail "--help is too wide: $(cat long)"
has "the forms of --explain" '^  --explain\[=full\] ' help

exit $failed
