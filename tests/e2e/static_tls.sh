#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The driver can be opened after other libraries have taken what the loader sets aside for
# initial-exec variables of libraries that come late: most of it; under ptxrun, all of it.
# Usage: static_tls.sh PTXRUN LIBRARIES PROGRAM TAKES-MOST TAKES-ALL
set -u
ptxrun=$1 libraries=$2 program=$3 most=$4 all=$5
unset GLIBC_TUNABLES
"$program" "$most" || {
    echo "skipped: this loader sets less aside"
    exit 77
}
LD_LIBRARY_PATH=$libraries "$program" "$most" libcuda.so.1 || {
    echo "FAILED: behind a library that takes most"
    exit 1
}
"$ptxrun" "$program" "$all" libcuda.so.1 || {
    echo "FAILED: behind a library that takes all, under ptxrun"
    exit 1
}
GLIBC_TUNABLES=glibc.malloc.arena_max=2 "$ptxrun" sh -c \
    'case $GLIBC_TUNABLES in glibc.malloc.arena_max=2:*) ;; *) exit 1 ;; esac' || {
    echo "FAILED: other tunables are kept"
    exit 1
}
mine=glibc.rtld.optional_static_tls=9000
[ "$(GLIBC_TUNABLES=$mine "$ptxrun" sh -c 'echo $GLIBC_TUNABLES')" = $mine ] || {
    echo "FAILED: a size that is set stays"
    exit 1
}
