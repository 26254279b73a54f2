#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every program of a samples build under ptxrun and prints a table: pass, fail with the
# reason, skip with the reason. README.md says how a program is judged.
set -u
: "${PTXRUN_CACHE:=off}" # unless somebody wants to see what it does
export PTXRUN_CACHE
usage() {
    cat <<'END'
usage: run.sh [options] PTXRUN DIRECTORY...

Runs the executables found in the directories, such as the build tree of a set of CUDA samples.

  --timeout S       seconds for one program [120]
  --jobs N          programs at a time [1]
  --only REGEX      only programs whose name matches (extended regular expression)
  --args FILE       lines 'NAME ARGUMENTS...'; several lines for a name are several runs
  --expect FILE     names that must pass, one a line; a skipped or missing one is a failure too
  --option WORD     an option for ptxrun; may be repeated, as in --option --devices --option 2
  --logs DIRECTORY  keep what each program printed
  --json FILE       write the table as JSON
  --junit FILE      write the table as JUnit XML

Exit status: 0, 1 if a program failed or an expected one did not pass, 2 for wrong options.
END
}
bad_usage() {
    echo "run.sh: $1" >&2
    usage >&2
    exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
SAMPLES_TIMEOUT=120 SAMPLES_OPTIONS='' jobs=1
only=. arguments='' expect='' logs='' json='' junit=''
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        usage
        exit 0
        ;;
    --timeout | --jobs | --only | --args | --expect | --option | --logs | --json | --junit)
        [ $# -ge 2 ] || bad_usage "$1 needs a value"
        case $1 in
        --timeout) SAMPLES_TIMEOUT=$2 ;;
        --jobs) jobs=$2 ;;
        --only) only=$2 ;;
        --args) arguments=$2 ;;
        --expect) expect=$2 ;;
        --option) SAMPLES_OPTIONS="$SAMPLES_OPTIONS $2" ;;
        --logs) logs=$2 ;;
        --json) json=$2 ;;
        --junit) junit=$2 ;;
        esac
        shift 2
        ;;
    --)
        shift
        break
        ;;
    -*) bad_usage "unknown option '$1'" ;;
    *) break ;;
    esac
done
[ $# -ge 2 ] || bad_usage "PTXRUN and a DIRECTORY are needed"
case $SAMPLES_TIMEOUT$jobs in *[!0-9]* | '') bad_usage "--timeout and --jobs take numbers" ;; esac
for file in "$arguments" "$expect"; do
    [ -z "$file" ] || [ -r "$file" ] || bad_usage "cannot read '$file'"
done
[ -x "$1" ] || bad_usage "'$1' is not a program"
SAMPLES_PTXRUN=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
# Status 2 is also what ptxrun says to a wrong option: that must not look like a waived program.
# shellcheck disable=SC2086
"$SAMPLES_PTXRUN" $SAMPLES_OPTIONS -- true || bad_usage "'$SAMPLES_PTXRUN$SAMPLES_OPTIONS' does not work"
for directory in "$@"; do
    [ -d "$directory" ] || bad_usage "'$directory' is not a directory"
done

SAMPLES_WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$SAMPLES_WORK"' EXIT
trap 'exit 130' INT TERM
export SAMPLES_TIMEOUT SAMPLES_OPTIONS SAMPLES_PTXRUN SAMPLES_WORK
# What wants a window is to stop at once, the same way on every machine.
unset DISPLAY WAYLAND_DISPLAY

# Programs: executable files that begin as ELF files do, but no libraries, nor what CMake tried out.
is_elf() {
    [ "$(head -c 4 "$1" | od -An -c | tr -d ' \n')" = '177ELF' ]
}
find "$@" -type d -name CMakeFiles -prune -o -type f -perm -u+x ! -name '*.so' ! -name '*.so.*' \
    ! -name '*.cubin' ! -name '*.o' -print | LC_ALL=C sort >"$SAMPLES_WORK/files"
while IFS= read -r file; do
    is_elf "$file" || continue
    printf '%s\t%s\n' "$(basename "$file")" "$file"
done <"$SAMPLES_WORK/files" | awk -F '\t' -v only="$only" '$1 ~ only' >"$SAMPLES_WORK/programs"

# One line for each run: what the table calls it, the program, its arguments.
awk -v arguments="$arguments" '
    BEGIN {
        FS = "\t"
        while (arguments != "" && (getline line <arguments) > 0) {
            if (line ~ /^[ \t]*(#|$)/)
                continue
            words = split(line, word, /[ \t]+/)
            rest = ""
            for (i = 2; i <= words; i++)
                rest = rest (i > 2 ? " " : "") word[i]
            given[word[1], ++runs[word[1]]] = rest
        }
    }
    !($1 in runs) { print $1 "\t" $2 "\t" }
    {
        for (i = 1; i <= runs[$1]; i++)
            print $1 (runs[$1] > 1 ? "/" i : "") "\t" $2 "\t" given[$1, i]
    }' "$SAMPLES_WORK/programs" >"$SAMPLES_WORK/runs"

count=$(awk 'END { print NR }' "$SAMPLES_WORK/runs")
[ "$count" -gt 0 ] || { echo "run.sh: no programs found" >&2; exit 1; }
awk '{ print NR }' "$SAMPLES_WORK/runs" | xargs -P "$jobs" -n 1 sh "$here/one.sh"

run=0
while [ $run -lt "$count" ]; do
    run=$((run + 1))
    if [ -s "$SAMPLES_WORK/$run.result" ]; then
        cat "$SAMPLES_WORK/$run.result"
    else
        printf '%s\tfail\t0.000\tcould not be started\n' \
            "$(sed -n "${run}p" "$SAMPLES_WORK/runs" | cut -f 1)"
    fi
    if [ -n "$logs" ] && [ -f "$SAMPLES_WORK/$run.log" ]; then
        mkdir -p "$logs" && cp "$SAMPLES_WORK/$run.log" \
            "$logs/$(sed -n "${run}p" "$SAMPLES_WORK/runs" | cut -f 1 | tr / .).txt"
    fi
done >"$SAMPLES_WORK/table"

[ -z "$json" ] || awk -f "$here/json.awk" "$SAMPLES_WORK/table" >"$json"
[ -z "$junit" ] || awk -f "$here/junit.awk" "$SAMPLES_WORK/table" >"$junit"
awk -v expect="$expect" -f "$here/table.awk" "$SAMPLES_WORK/table"
