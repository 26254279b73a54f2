#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Not for its numbers: `ptxbench compare` says the same in all four forms, and says when a program does not do the same in
# all settings. Usage: check_compare.sh PTXBENCH [PROGRAM]; without a CUDA program only the latter.
set -eu
ptxbench=$1
program=${2:-}
[ "$(uname -m)" = x86_64 ] || program=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What the person has set holds for all runs, but for what compare sets itself.
export PTXRUN_CACHE=off PTXRUN_STATS=1

fail() {
    echo "$1"
    cat "$work/out" "$work/err" 2>/dev/null
    exit 1
}

# compare STATUS OPTIONS…: its exit status.
compare() {
    expected=$1
    shift
    status=0
    "$ptxbench" compare --rounds 1 --tier '' --width '' --collapse flat --threads '' "$@" \
        >"$work/out" 2>"$work/err" || status=$?
    [ $status = "$expected" ] || fail "exit status $status, not $expected, of: $*"
}

# ---- the four forms ----

check_forms() {
    compare 0 --threads 1,2 --json "$work/json" --csv "$work/csv" --html "$work/html" "$program"
    for setting in default --mode=jit --mode=normal --collapse=flat --threads=1 --threads=2; do
        [ "$(grep -c "^$setting  *[0-9.]* .* [0-9.]*$" "$work/out")" = 1 ] || fail "no row for $setting"
        [ "$(grep -c "^$setting,warm,,wall,1,[0-9.]*,[0-9.]*,[0-9.]*$" "$work/csv")" = 1 ] ||
            fail "no line of CSV for $setting"
    done
    grep -q '^vector_add(' "$work/out" || fail "the kernel has no table"
    grep -q '^The output .* is the same in all settings' "$work/out" || fail "no word on the output"
    grep -q '^All runs end in the same way: exit status 0' "$work/out" || fail "no word on the end"
    for tag in '<svg ' '<table>' 'name="viewport"' 'prefers-color-scheme' '<summary>vector_add(' 'JIT mode against normal'; do
        grep -q "$tag" "$work/html" || fail "no $tag in the page"
    done
    if grep -Ei '<script|<link|src=|href=|url\(|@import' "$work/html"; then
        fail "the page needs something from elsewhere"
    fi

    if command -v python3 >/dev/null; then
        python3 - "$work/json" "$work/csv" "$work/html" <<'END' || fail "a file is not as it should be"
import csv, json, sys, xml.etree.ElementTree as tree

data = json.load(open(sys.argv[1]))
assert data["rounds"] == 1 and data["output_is_compared"]
assert len(data["settings"]) == 6 and data["settings"][1]["options"] == {"mode": "jit"}
for setting in data["settings"]:
    assert setting["output_is_same"]
    for heat in "cold", "warm":
        assert setting[heat]["runs"] == 1
        assert setting[heat]["wall_ms"]["median"] > 0
    assert setting["cold"]["compile_ms"]["median"] > 0, setting
    assert setting["warm"]["compile_ms"]["median"] < setting["cold"]["compile_ms"]["median"]
kernel, = data["kernels"]
assert kernel["readable"].startswith("vector_add(") and "kernel 'vector_add(" in kernel["explanation"]
assert len(kernel["times"]) == 12
flat, = [t for t in kernel["times"] if t["setting"] == "--collapse=flat" and t["cache"] == "cold"]
assert flat["collapse"] == "flat"

lines = list(csv.reader(open(sys.argv[2])))
assert {len(line) for line in lines} == {8} and lines[0][0] == "setting"
assert any(line[2].startswith("vector_add(") for line in lines)

page = tree.parse(sys.argv[3]).getroot()
html, svg = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
figures = page.findall(f".//{html}figure")
assert len(figures) >= 5
for figure in figures:
    assert figure.find(f"{svg}svg") is not None and figure.find(f".//{html}td") is not None
END
    fi
}

if [ -n "$program" ]; then
    check_forms
fi

# ---- what is not the same ----

# A script is a program, too; this one tells the settings apart.
cat >"$work/program" <<'END'
#!/bin/sh
echo "first line"
echo "process $$"
case $1$PTXRUN_MODE in
print*) echo "mode '$PTXRUN_MODE'" ;;
exitnormal) exit 4 ;;
killnormal) kill -SEGV $$ ;;
hangnormal) touch "$0.hangs"; sleep 1000 ;;
failing*) exit 3 ;;
esac
END
chmod +x "$work/program"

compare 1 --json "$work/json" "$work/program" print
grep -q '^The output is NOT THE SAME with --mode=jit: another line 3' "$work/out" || fail "another line is not named"
grep -q '"output_is_same": false' "$work/json" || fail "another line is not in the JSON"
compare 1 "$work/program" exit
grep -q '^FAILED with --mode=normal, cold: exit status 4' "$work/out" || fail "another exit status is not named"
grep -q '^The output .* not counting 1 that differ from run to run' "$work/out" ||
    fail "a line with the number of the process is taken for another output"
compare 1 "$work/program" kill
grep -q '^FAILED with --mode=normal, cold: ended by signal 11' "$work/out" || fail "a signal is not named"
compare 1 --limit 1 "$work/program" hang
grep -q '^FAILED with --mode=normal, cold: ended by the time limit' "$work/out" || fail "the limit is not named"
grep -q '^--mode=jit  *[0-9]' "$work/out" || fail "what was measured is lost"

# Whoever waits may stop it, and gets what there is.
rm -f "$work/program.hangs"
"$ptxbench" compare --rounds 1 --limit 300 "$work/program" hang >"$work/out" 2>"$work/err" &
compared=$!
waited=0
while [ ! -e "$work/program.hangs" ]; do
    [ $waited -lt 600 ] || fail "the program does not come to where it hangs"
    sleep 0.1
    waited=$((waited + 1))
done
kill -TERM $compared
status=0
wait $compared || status=$?
[ $status = 0 ] || fail "exit status $status after an interruption"
grep -q '^Stopped after .*: interrupted' "$work/out" || fail "nothing said of an interruption"
grep -q '^--mode=jit  *[0-9]' "$work/out" || fail "what was measured before the interruption is lost"

compare 0 --mode jit --collapse '' -- "$work/program" failing
grep -q '^ptxbench: the program under ptxrun: exit status 3' "$work/err" || fail "nothing said of a failing program"

# ---- wrong use ----

compare 2 "$work/no-such-program"
compare 2 --mode fast "$work/program"
grep -q "not 'fast'" "$work/err" || fail "a wrong value is not named"
compare 2 --colour red "$work/program"
compare 2 --json "$work/no/such/folder" "$work/program"
compare 2
