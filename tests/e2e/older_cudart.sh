#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of toolkit 12 or 11 that finds no libcudart gets ours; one that finds another keeps it.
# So does a plugin, unless a package of Python has brought one.
# Usage: older_cudart.sh PTXRUN PROGRAM SONAME FOLDER-OF-STUB PLUGIN-HOST PLUGIN
set -u
ptxrun=$1 program=$2 soname=$3 stub=$4 host=$5 plugin=$6
unset LD_LIBRARY_PATH

fail() {
    echo "FAILED: $1"
    exit 1
}

# The libcudart that the program finds under ptxrun.
used() {
    (
        eval "$("$ptxrun" --print-env "$program")"
        LD_TRACE_LOADED_OBJECTS=1 "$program" | grep -F "$soname"
    )
}

if LD_TRACE_LOADED_OBJECTS=1 "$program" | grep -q "$soname => /"; then
    echo "skipped: this machine has a $soname"
    exit 77
fi
"$ptxrun" "$program" || fail "exit status $?"
case $(used) in
    *"/cudart/older/"*"/$soname "*) ;;
    *) fail "it uses $(used)" ;;
esac
"$ptxrun" "$host" "$plugin" || fail "a plugin: exit status $?"
"$host" "$plugin" 2>/dev/null && fail "without ptxrun the plugin works, too: this test shows nothing"

package=$(mktemp -d)
trap 'rm -r "$package"' EXIT
mkdir -p "$package/lib/python3.9/site-packages/nvidia/cuda_runtime/lib"
touch "$package/lib/python3.9/site-packages/nvidia/cuda_runtime/lib/$soname"
case $(VIRTUAL_ENV=$package "$ptxrun" --print-env "$host") in
    *"/cudart/older/${soname#libcudart.so.}"*) fail "it hides the library of a package" ;;
esac

LD_LIBRARY_PATH=$stub
export LD_LIBRARY_PATH
case $(used) in
    *"$stub/$soname "*) ;;
    *) fail "with another libcudart in its path it uses $(used)" ;;
esac
