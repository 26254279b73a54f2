#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one program for run.sh and judges it. Started with the settings SAMPLES_* of run.sh in the
# environment. Usage: one.sh RUN, a number: line RUN of $SAMPLES_WORK/runs is what to run. Writes
# $SAMPLES_WORK/RUN.result: name, verdict, seconds, reason, between tabs.
set -u
run=$1
line=$(sed -n "${run}p" "$SAMPLES_WORK/runs")
tab=$(printf '\t')
name=${line%%"$tab"*}
rest=${line#*"$tab"}
program=${rest%%"$tab"*}
arguments=${rest#*"$tab"}
output=$SAMPLES_WORK/$run.log

# What a program prints that says, in one way or another, that it did not succeed.
failed_line='(^|[^A-Za-z0-9])(FAILED|FAILURE|FAIL|MISMATCH)([^A-Za-z0-9]|$)|[Tt]est failed'
succeeded_line='(^|[^0-9])0 +(FAILED|FAILURE)|(FAILED|FAILURES?) *[:=] *0([^0-9]|$)'
window='libGL|libGLU|libOpenGL|libEGL|libGLESv2|libglut|libglfw|libX11|libvulkan'
vendor='libcublas|libcublasLt|libcudnn|libcufft|libcufftw|libcurand|libcusolver|libcusparse'
vendor="$vendor|libnvjpeg|libnpp[a-z]*|libnvrtc|libnvJitLink|libnvvm|libcudla|libnvscibuf"

# needs LIBRARIES: the first of these shared libraries that the program names
needs() {
    LC_ALL=C grep -aoE "($1)\.so[.0-9]*" "$program" | head -n 1
}

# first_line PATTERN: the first line of the output that matches
first_line() {
    LC_ALL=C grep -aE -m 1 "$1" "$output"
}

# A line fit for a table: printable, without tabs, not too long.
tidy() {
    LC_ALL=C tr '\t' ' ' | LC_ALL=C tr -cd ' -~\n' | sed 's/^ *//; s/ *$//' | cut -c 1-"${1:-160}" |
        head -n 1
}

# died STATUS: what an exit status above 128 says
died() {
    signal=$(kill -l "$1" 2>/dev/null)
    echo "killed by signal ${signal:-$(($1 - 128))}"
}

# why STATUS: the reason of a failure, most telling first
why() {
    if [ "$timed_out" = yes ]; then
        echo "no end after $SAMPLES_TIMEOUT s"
        return
    fi
    reason=$(first_line '^ptxrun: ' | tidy)
    [ -n "$reason" ] || reason=$(first_line "error while loading|CUDA error|$failed_line" | tidy)
    [ -n "$reason" ] || reason=$(first_line '[Ee]rror|[Ff]ailed|[Cc]annot|terminate called' | tidy)
    [ -n "$reason" ] || reason=$(grep -av '^[[:space:]]*$' "$output" | tail -n 1 | tidy)
    if [ "$1" -gt 128 ]; then
        echo "$(died "$1")${reason:+: $reason}"
    else
        echo "status $1${reason:+: $reason}"
    fi
}

# excuse STATUS: why this failure says nothing about ptxrun; empty if there is no excuse
excuse() {
    if [ "$1" -eq 2 ]; then
        reason=$(first_line '[Ww]aiv|not support|[Rr]equire|need|at least|[Ss]kip' | tidy 120)
        echo "waived itself${reason:+: $reason}"
        return
    fi
    library=$(first_line 'error while loading shared libraries: ' |
        sed 's/.*shared libraries: \([^:]*\):.*/\1/' | tidy)
    case $library in
    '') ;;
    libcuda.* | libcudart.* | libnvidia-ml.*) return ;;
    *)
        echo "needs $library, which is not installed"
        return
        ;;
    esac
    library=$(needs "$window")
    if [ -n "$library" ]; then
        echo "needs a window: $library"
        return
    fi
    library=$(needs "$vendor")
    if [ -n "$library" ]; then
        echo "needs $library"
        return
    fi
    first_line '^ptxrun: .*(is not supported|is not served)' | tidy
}

program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
cd "$(dirname "$program")" || exit 1
started=$(date +%s%N)
# The arguments are words of a line in a file, the options those of the caller.
# shellcheck disable=SC2086
timeout -k 5 "$SAMPLES_TIMEOUT" "$SAMPLES_PTXRUN" $SAMPLES_OPTIONS -- "$program" $arguments \
    >"$output" 2>&1 </dev/null &
child=$!
# timeout makes a group of its own, which an interrupt from the terminal does not reach.
trap 'kill $child; exit 130' INT TERM
wait $child
status=$?
milliseconds=$((($(date +%s%N) - started) / 1000000))
timed_out=no
if [ $milliseconds -ge $((SAMPLES_TIMEOUT * 1000)) ]; then
    case $status in 124 | 137) timed_out=yes ;; esac
fi

verdict=pass
reason=
if [ $status -eq 0 ]; then
    complaint=$(LC_ALL=C grep -aE "$failed_line" "$output" |
        LC_ALL=C grep -avE "$succeeded_line" | tidy)
    if [ -n "$complaint" ]; then
        verdict=fail
        reason="it says: $complaint"
    fi
else
    verdict=fail
    reason=
    [ $timed_out = yes ] || reason=$(excuse $status)
    if [ -n "$reason" ]; then
        verdict=skip
    else
        reason=$(why $status)
    fi
fi
printf '%s\t%s\t%d.%03d\t%s\n' "$name" "$verdict" $((milliseconds / 1000)) \
    $((milliseconds % 1000)) "$reason" >"$SAMPLES_WORK/$run.result"
