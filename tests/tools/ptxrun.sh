#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Promises of the ptxrun command: exit statuses, which driver library a program gets, variables,
# diagnostics. Usage: ptxrun.sh PTXRUN DIRECTORY-WITH-TARGETS
set -u
targets=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An installation with a driver that tells who it is, in a path that needs quoting.
root="$work/it's"
mkdir -p "$root/bin" "$root/lib/ptxrun/cudart"
cp "$1" "$root/bin/ptxrun"
cp "$targets/ours/libcuda.so.1" "$root/lib/ptxrun/"
: >"$root/lib/ptxrun/cudart/libcudart.so.99"
ptxrun="$root/bin/ptxrun"
unset LD_LIBRARY_PATH LD_PRELOAD
# Preloaded sanitizer libraries and the like would complain about LD_PRELOAD.
export LC_ALL=C

failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# check NAME STATUS PATTERN COMMAND...: exit status, and a pattern in stdout and stderr together
check() {
    name=$1 status=$2 pattern=$3
    shift 3
    output=$("$@" 2>&1)
    code=$?
    [ "$code" -eq "$status" ] || fail "$name: status $code, expected $status: $output"
    case $output in
    *$pattern*) ;;
    *) fail "$name: no '$pattern' in: $output" ;;
    esac
}

check "program finds our driver, status is its own" 3 ours "$ptxrun" "$targets/target_plain"
check "status passes through the shell" 42 "" "$ptxrun" sh -c 'exit 42'
check "death by signal is the program's" 137 "" sh -c '"$0" sh -c "kill -9 \$\$"; exit $?' "$ptxrun"
check "DT_RUNPATH does not win" 3 ours "$ptxrun" "$targets/target_runpath"
check "DT_RPATH does not win" 3 ours "$ptxrun" "$targets/target_rpath"
check "DT_RPATH is mentioned" 3 "DT_RPATH" "$ptxrun" "$targets/target_rpath"
cp -r "$root" "$work/with blank"
check "DT_RPATH and a path with a blank" 126 "no blank" \
    "$work/with blank/bin/ptxrun" "$targets/target_rpath"
check "path with a blank" 3 ours "$work/with blank/bin/ptxrun" "$targets/target_plain"
check "static program is warned about" 0 "statically linked" "$ptxrun" "$targets/target_static"
check "static program runs" 0 hello "$ptxrun" "$targets/target_static"

cat >"$work/script" <<END
#!/bin/sh
cd /
"$targets/target_plain" "\$@"
exit 5
END
chmod +x "$work/script"
check "script starts programs elsewhere" 5 ours "$ptxrun" "$work/script"
(cd "$work" && check "relative name" 5 ours "$ptxrun" ./script) || failures=$((failures + 1))
check "program found in PATH" 5 ours env "PATH=$work:$PATH" "$ptxrun" script
check "script inside ptxrun inside ptxrun" 5 ours "$ptxrun" "$ptxrun" "$work/script"
check "arguments after -- are the program's" 0 "--help x" "$ptxrun" -- echo --help x
check "arguments of the program are not ours" 0 "--threads" "$ptxrun" echo --threads

check "not found" 127 "not in PATH" "$ptxrun" no-such-program
check "not found with a slash" 127 "cannot find" "$ptxrun" ./no-such-program
: >"$work/data"
check "not executable" 126 "cannot execute" "$ptxrun" "$work/data"
check "directory" 126 "is a directory" "$ptxrun" "$work"
printf '#!%s\n' "$work/no-interpreter" >"$work/orphan"
chmod +x "$work/orphan"
check "missing interpreter" 126 "no-interpreter', which does not exist" "$ptxrun" "$work/orphan"
cp "$targets/target_plain" "$work/foreign"
printf '\050\000' | dd of="$work/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null
check "program for another machine" 126 "32-bit ARM" "$ptxrun" "$work/foreign"
for bytes in 20 64 300 2500; do
    head -c $bytes "$targets/target_plain" >"$work/truncated"
    chmod +x "$work/truncated"
    check "program cut off after $bytes bytes" 126 "is truncated" "$ptxrun" "$work/truncated"
done
if [ "$(id -u)" -eq 0 ]; then
    cp "$targets/target_plain" "$work/privileged"
    chown 12345 "$work/privileged"
    chmod 4755 "$work/privileged"
    check "set-user-ID program" 126 "set-user-ID" "$ptxrun" "$work/privileged"
fi

show='echo "$PTXRUN_THREADS/$PTXRUN_MODE/$PTXRUN_STATS"'
check "options become variables" 0 "3/jit/1" \
    "$ptxrun" --threads 3 --mode=jit --stats sh -c "$show"
check "option beats variable" 0 "5/" env PTXRUN_THREADS=4 "$ptxrun" --threads=5 sh -c "$show"
check "unknown option" 2 "unknown option '--nonsense'" "$ptxrun" --nonsense true
check "single-dash option" 2 "unknown option '-t'" "$ptxrun" -t true
check "illegal value" 2 "--mode" "$ptxrun" --mode=fast true
check "illegal width" 2 "--width" "$ptxrun" --width 3 true
check "illegal number" 2 "--threads" "$ptxrun" --threads many true
check "illegal size" 2 "--device-memory" "$ptxrun" --device-memory 8X true
check "illegal word in a list" 2 "not 'foo'" "$ptxrun" --dump=ptx,foo true
check "a word that the level does not have" 2 "one of 0|1|full" "$ptxrun" --explain=all true
check "missing value" 2 "needs a value" "$ptxrun" --threads
check "no program" 2 "no program" "$ptxrun" --stats
check "help" 0 "--threads N" "$ptxrun" --help
check "version" 0 "ptxrun " "$ptxrun" --version

check "printed environment works" 3 ours \
    sh -c 'eval "$("$0" --print-env)" && "$1"' "$ptxrun" "$targets/target_plain"
check "printed environment has options" 0 "export PTXRUN_THREADS='7'" \
    "$ptxrun" --print-env --threads 7
check "a level alone is 1" 0 "export PTXRUN_EXPLAIN='1'" "$ptxrun" --explain --print-env
check "a level with its word" 0 "export PTXRUN_EXPLAIN='full'" "$ptxrun" --explain=full --print-env
check "a level takes no word that follows" 0 "full" "$ptxrun" --explain echo full
mkdir "$root/lib/ptxrun/bin"
for line in "TRITON_PTXAS_PATH='$root/lib/ptxrun/bin/ptxas'" \
    "TRITON_LIBCUDA_PATH='$root/lib/ptxrun'" "NUMBA_CUDA_DRIVER='$root/lib/ptxrun/libcuda.so.1'"; do
    line=$(printf '%s' "$line" | sed "s|it's|it'\\\\\\\\''s|")
    check "variables of other people's compilers" 0 "export $line" "$ptxrun" --print-env
done
check "a variable that is set stays" 0 "mine" \
    env TRITON_PTXAS_PATH=mine "$ptxrun" sh -c 'echo "$TRITON_PTXAS_PATH"'
rmdir "$root/lib/ptxrun/bin"
path=$("$ptxrun" sh -c 'echo "$LD_LIBRARY_PATH"')
[ "$path" = "$root/lib/ptxrun:$root/lib/ptxrun/cudart" ] || fail "library path alone: $path"
path=$(LD_LIBRARY_PATH=/a:/b "$ptxrun" "$ptxrun" sh -c 'echo "$LD_LIBRARY_PATH"')
[ "$path" = "$root/lib/ptxrun:/a:/b:$root/lib/ptxrun/cudart" ] || fail "library path: $path"

rm "$root/lib/ptxrun/libcuda.so.1"
check "incomplete installation" 125 "installation is incomplete" "$ptxrun" true

[ "$failures" -eq 0 ] && echo "all passed"
