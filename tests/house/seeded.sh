#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each rule of the house finds what breaks it: in a small tree, with one fault at a time; and arrows that
# the real tree needs are missed when they are taken out of the list.
# Usage: seeded.sh ROOT BUILD OBJECTS NM COMPILER CLANG-FORMAT
set -eu
root=$1 build=$2 objects=$3 nm=$4 compiler=$5 format=$6
here=$root/tests/house
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect WHAT TEXT COMMAND...: the command fails and says the text; or, for the text "", does neither.
expect() {
    what=$1 text=$2
    shift 2
    if "$@" >"$work/said" 2>&1; then status=0; else status=$?; fi
    if [ -z "$text" ] && [ $status -eq 0 ]; then return; fi
    if [ -n "$text" ] && [ $status -ne 0 ] && grep -qF -- "$text" "$work/said"; then return; fi
    echo "$what: status $status, expected: ${text:-nothing}"
    cat "$work/said"
    failed=1
}

# ---- a small tree: high uses low ----

tree=$work/tree
fresh() {
    rm -rf "$tree"
    mkdir -p "$tree/low" "$tree/high" "$tree/build"
    : >"$tree/build/CMakeCache.txt"
    printf 'int low(void);\n' >"$tree/low/low.h"
    printf '#include "low/low.h"\n\nint low(void)\n{\n    return 1;\n}\n' >"$tree/low/low.c"
    printf 'int high(void);\n' >"$tree/high/high.h"
    printf '#include "high/high.h"\n#include "low/low.h"\n\nint high(void)\n{\n    return low();\n}\n' \
        >"$tree/high/high.c"
    printf '# Low\n\nIt is high that uses it.\n' >"$tree/low/README.md"
    printf 'low:\nhigh: low\n' >"$tree/arrows.txt"
    cp "$root/.clang-format" "$tree"
    : >"$tree/headers.txt"
    echo "-I$tree" >"$tree/flags.txt"
}
arrows() {
    : >"$tree/objects.txt"
    for file in low/low high/high; do
        object=$tree/build/${file%/*}/CMakeFiles/t.dir/${file#*/}.c.o
        mkdir -p "$(dirname "$object")"
        "$compiler" -c -I"$tree" "$tree/$file.c" -o "$object"
        echo "$object" >>"$tree/objects.txt"
    done
    sh "$here/arrows.sh" "$tree" "$tree/arrows.txt" "$tree/build" "$tree/objects.txt" "$nm"
}
headers() {
    sh "$here/headers.sh" "$tree" "$tree/flags.txt" "$tree/headers.txt" "$compiler" "$tree/commands.json"
}
# compiled_with FLAGS: what the build says of high.c.
compiled_with() {
    echo "\"command\": \"cc $* -c $tree/high/high.c\"," >"$tree/commands.json"
}
formatted() {
    sh "$here/format.sh" "$tree" "$format"
}

fresh
expect "sound tree" "" arrows
expect "sound tree" "" headers

fresh
sed -i '1i #include "high/high.h"' "$tree/low/low.c"
expect "include upwards" "low/low.c includes high/high.h: low may not use high" arrows

fresh
printf 'int high(void);\nint up(void)\n{\n    return high();\n}\n' >>"$tree/low/low.c"
expect "call upwards" "low/low.c refers to high: low may not use high" arrows
echo "except low -> high a reason" >>"$tree/arrows.txt"
expect "excused call" "" arrows

fresh
echo "except low -> high a reason" >>"$tree/arrows.txt"
expect "excuse for nothing" "an excuse for nothing: low -> high" arrows

fresh
printf 'low: high\nhigh: low\n' >"$tree/arrows.txt"
expect "circle" "circle: " arrows

fresh
mkdir "$tree/other"
cp "$tree/low/low.h" "$tree/other"
expect "unknown folder" "other has no line in the list of arrows" arrows

fresh
echo 'gone:' >>"$tree/arrows.txt"
expect "folder that is gone" "gone is in the list of arrows" arrows

fresh
printf 'size_t size(void);\n' >>"$tree/high/high.h"
expect "header that needs another" "high/high.h does not compile alone" headers
echo 'high/high.h -include stddef.h' >"$tree/headers.txt"
expect "header with what it needs" "" headers
: >"$tree/headers.txt"
compiled_with "-I$tree -O2"
expect "header that the build compiled alone" "" headers
compiled_with "-I$tree -DMORE"
expect "header that the build compiled with more" "high/high.h does not compile alone" headers
compiled_with "-I$tree -include stddef.h"
expect "header behind one that is included" "high/high.h does not compile alone" headers
compiled_with "-I$tree -O2"
sed -i '1i #include <stddef.h>' "$tree/high/high.c"
expect "header that is not the first" "high/high.h does not compile alone" headers
echo 'high/gone.h none' >"$tree/headers.txt"
expect "header that is gone" "high/gone.h is in the list and does not exist" headers

fresh
if formatted >/dev/null 2>&1; then
    echo 'int  two(void);' >>"$tree/low/low.h"
    expect "two spaces" "low/low.h:2:4: error" formatted
fi
expect "no formatter" "skipped" sh "$here/format.sh" "$tree" "$work/none"

# lines TEXT: what ends the page of low, where @ stands for a line of 121 characters and % for one of 120.
lines() {
    fresh
    long=$(printf '%118s é' '' | tr ' ' x)
    printf '%s\n' "$1" | sed "s/@/x$long/; s/%/$long/" >>"$tree/low/README.md"
    sh "$here/format.sh" "$tree" "$work/none"
}
expect "long line" "low/README.md:5: a line of 121 characters" lines '
@'
expect "long line after code" "low/README.md:6: a line of 121 characters" lines '```
```
@'
for text in '%' '| @ |' '```
@
```' '    @' 'Made by `low`.
@'; do
    expect "line that may be long: $text" "skipped" lines "$text"
done
fresh
rm "$tree/low/README.md"
expect "no pages" "no pages" sh "$here/lines.sh" "$tree"

fresh
mkdir -p "$tree/tests/vector/cases"
: >"$tree/tests/vector/cases/a.ll"
: >"$tree/tests/vector/cases/b.ll"
cases() {
    sh "$here/cases.sh" "$1" "$tree" "$tree/cases.txt"
}
expect "no list of cases" "no list of cases" cases check
cases update
expect "cases as listed" "" cases check
rm "$tree/tests/vector/cases/a.ll"
: >"$tree/tests/vector/cases/c.ll"
expect "case that is lost" "tests/vector/cases/a.ll is lost" cases check
expect "case that nobody added" "tests/vector/cases/c.ll is not in the list of cases" cases check

fresh
mkdir -p "$tree/tests/unit/low"
: >"$tree/tests/unit/low/test_low.c"
compiled() {
    sh "$here/compiled.sh" "$tree" "$tree/build" "$tree/objects.txt"
}
echo "$tree/build/tests/unit/low/CMakeFiles/t.dir/test_low.c.o" >"$tree/objects.txt"
expect "test that is compiled" "" compiled
echo "$tree/build/tests/unit/low/CMakeFiles/t.dir/test_other.c.o" >"$tree/objects.txt"
expect "test that is not compiled" "tests/unit/low/test_low.c is compiled by nothing" compiled

# ---- the real tree ----

sed 's/^cudart\/core\/graph: .*/cudart\/core\/graph: cudart\/core\/memory/' "$here/arrows.txt" >"$work/arrows.txt"
for text in "cudart/core/graph/graph_launch.c includes cudart/core/code/launch.h" \
    "cudart/core/graph/graph_launch.c refers to crt_launch_finish"; do
    expect "missing arrow" "$text" sh "$here/arrows.sh" "$root" "$work/arrows.txt" "$build" "$objects" "$nm"
done

[ $failed -eq 0 ] && echo "every fault was found"
