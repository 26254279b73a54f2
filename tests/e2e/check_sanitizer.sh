#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_sanitizer.sh PTXRUN-SANITIZER MEMORY_DEFECTS HOST_DEFECTS INIT_DEFECTS UNUSED_DEFECTS: compute-sanitizer's
# command line, text and XML.
set -u
SANITIZER=$1
KERNELS=$2
HOST=$3
UNWRITTEN=$4
UNUSED=$5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PTXRUN_CACHE_DIR="$dir/cache"
failures=0

fail() # MESSAGE
{
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# run WANTED-CODE ARGUMENT...: what it prints is in $dir/out, the rest in $dir/err
run()
{
    wanted=$1
    shift
    what="$*"
    "$SANITIZER" "$@" > "$dir/out" 2> "$dir/err"
    code=$?
    [ $code -eq "$wanted" ] || fail "$what: ended with $code, not $wanted: $(cat "$dir/err")"
}

has() # LINE
{
    grep -qx -- "$1" "$dir/out" || fail "$what: no line '$1' in: $(cat "$dir/out")"
}

lacks() # TEXT
{
    grep -q -- "$1" "$dir/out" && fail "$what: there is '$1'"
}

says() # TEXT
{
    grep -qF -- "$1" "$dir/err" || fail "$what: no '$1' in: $(cat "$dir/err")"
}

run 0 "$KERNELS" stencil_border wrong
has '========= COMPUTE-SANITIZER'
has '========= Invalid __global__ read of size 4 bytes'
has '=========     at stencil_border(float const\*, float\*, int, int)+0x[0-9a-f]* in /tests/cuda/memory_defects.cu:134'
has '=========     by thread (232,0,0) in block (3,0,0)'
has '=========     Access to 0x[0-9a-f]* is out of bounds'
has '=========     and is 1 bytes after the nearest allocation at 0x[0-9a-f]* of size 4,004 bytes'
has '=========         Host Frame: cudaMalloc \[0x[0-9a-f]*\] in libcudart.so.*'
has '========= ERROR SUMMARY: 1 error'
run 7 --tool memcheck --error-exitcode 7 "$KERNELS" atomic_past_end wrong
has '========= Invalid __global__ atomic of size 4 bytes'
run 1 --error-exitcode=1 --demangle=no --prefix '##' --show-backtrace no "$KERNELS" shared_past_end wrong
has '##     at _Z15shared_past_endPfi+0x[0-9a-f]* in .*'
has '## Invalid __shared__ write of size 4 bytes'
lacks 'Host Frame'
run 0 --demangle simple "$KERNELS" stencil_border wrong
has '=========     at stencil_border+0x[0-9a-f]* in .*'
run 0 --error-exitcode 1 "$KERNELS" stencil_border right
has '========= ERROR SUMMARY: 0 errors'
run 0 "$KERNELS" use_after_free wrong
has '=========     Saved host backtrace up to driver entry point at free time'
run 2 "$KERNELS"
has '========= COMPUTE-SANITIZER'
run 0 --error-exitcode 1 --print-limit 0 "$KERNELS" unrolled_tail right

# Memory that nobody has written.
run 1 --tool initcheck --error-exitcode 1 "$UNWRITTEN" never_written wrong
has '========= Uninitialized __global__ memory read of size 4 bytes'
has '=========     at doubled(int\*, int const\*)+0x[0-9a-f]* in /tests/cuda/init_defects.cu:34'
has '=========     Address 0x[0-9a-f]*'
has '=========     and is inside the nearest allocation at 0x[0-9a-f]* of size 1,024 bytes'
has '========= ERROR SUMMARY: 256 errors'
run 1 --tool initcheck --error-exitcode 1 "$UNWRITTEN" border_of_tile wrong
has '========= Uninitialized __shared__ memory read of size 4 bytes'
run 1 --tool initcheck --error-exitcode 1 "$UNWRITTEN" to_host wrong
has '========= Host API memory access error at host access to 0x[0-9a-f]* of size 1024 bytes'
has '=========     Uninitialized access at 0x[0-9a-f]* on access by cudaMemcpy source'
run 0 --tool initcheck --error-exitcode 1 "$UNWRITTEN" never_written right
has '========= ERROR SUMMARY: 0 errors'

# Kernels, limits.
run 0 --error-exitcode 1 --kernel-regex kns=border,kne=nothing "$KERNELS" write_past_end wrong
has '========= ERROR SUMMARY: 0 errors'
run 1 --error-exitcode 1 --kernel-name kne=write_past_end "$KERNELS" write_past_end wrong
run 0 --error-exitcode 1 --kernel-name-exclude kns=past "$KERNELS" write_past_end wrong
run 1 --error-exitcode 1 --kernel-name-exclude kns=border "$KERNELS" write_past_end wrong
run 2 --kernel-regex border "$KERNELS" write_past_end wrong
run 0 --print-limit 1 "$KERNELS" unrolled_tail wrong
[ "$(grep -c Invalid "$dir/out")" -eq 1 ] || fail "$what: $(cat "$dir/out")"
has '========= ERROR SUMMARY: [0-9]* errors'
has '========= ERROR SUMMARY: [0-9]* errors were not printed. Use --print-limit option to adjust the number.*'

# The program's own calls.
run 1 --error-exitcode 1 "$HOST" copy_past_end wrong
has '========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.'
has '=========         Host Frame: main in /tests/cuda/host_defects.cu:79 \[0x[0-9a-f]*\] in host_defects'
run 0 --error-exitcode 1 --report-api-errors no "$HOST" copy_past_end wrong
has '========= ERROR SUMMARY: 0 errors'
run 0 --error-exitcode 1 --leak-check no "$HOST" leaked wrong
lacks 'LEAK SUMMARY'
run 1 --error-exitcode 1 --leak-check full "$HOST" leaked wrong
has '========= Leaked 400 bytes at 0x[0-9a-f]*'
has '========= LEAK SUMMARY: 400 bytes leaked in 1 allocations'
run 0 --error-exitcode 1 --leak-check full "$HOST" leaked_stream wrong
has '========= LEAK SUMMARY: 0 bytes leaked in 0 allocations'

# Memory that is never written.
run 0 --error-exitcode 1 --tool initcheck "$UNUSED" half_written wrong
run 1 --error-exitcode 1 --tool initcheck --track-unused-memory "$UNUSED" half_written wrong
has '========= Unused memory in allocation 0x[0-9a-f]* of size 4,000 bytes'
has '=========     Not written 2,000 bytes, the first at offset 0x7d0'
has '=========     50% of allocation were unused.'
run 1 --error-exitcode 1 --tool initcheck --track-unused-memory yes "$UNUSED" never_written wrong
has '=========     Not written any memory.'
run 0 --error-exitcode 1 --tool initcheck --track-unused-memory yes --unused-memory-threshold 60 "$UNUSED" \
    half_written wrong

# Files.
run 0 --log-file "$dir/log%p" "$KERNELS" stencil_border wrong
[ ! -s "$dir/out" ] || fail "$what: printed"
grep -qx '========= ERROR SUMMARY: 1 error' "$dir"/log[0-9]* || fail "$what: $(ls "$dir")"
run 0 --save "$dir/xml" --xml yes "$KERNELS" stencil_border wrong
for text in '<ComputeSanitizerOutput>' '<kind>Precise</kind>' '<threadIdx><x>232</x><y>0</y><z>0</z></threadIdx>' \
    '<space>__global__</space><direction>read</direction><size>4</size>' \
    '<path>/tests/cuda/memory_defects.cu</path><line>134</line>' '<module>libcudart.so.'; do
    grep -qF "$text" "$dir/xml" || fail "$what: no '$text' in: $(cat "$dir/xml")"
done
! command -v python3 > /dev/null || python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$dir/xml" ||
    fail "$what: no XML"

# What it cannot do.
run 0 --tool synccheck "$KERNELS" stencil_border wrong
has '========= ERROR SUMMARY: 0 errors'
run 2 --tool nothing "$KERNELS"
run 2 --launch-count 3 "$KERNELS" stencil_border wrong
says '--launch-count 3 is not supported'
run 2 --save "$dir/session" "$KERNELS" stencil_border wrong
says '--save needs --xml yes'
echo '<ComputeSanitizerOutput/>' > "$dir/suppressions"
run 2 --suppressions "$dir/suppressions" "$KERNELS" stencil_border wrong
says 'XML is not supported'
printf 'suppress *\n    kernel stencil_border\n' > "$dir/suppressions"
run 0 --error-exitcode 1 --suppressions "$dir/suppressions" "$KERNELS" stencil_border wrong
has '========= ERROR SUMMARY: 0 errors'
run 2 --nothing "$KERNELS" stencil_border wrong
says "unknown option '--nothing'"
run 2 --tool memcheck
says 'no program given'
run 2 --demangle maybe "$KERNELS" stencil_border wrong
run 1 --error-exitcode 1 --padding 512 --check-device-heap yes --nvtx true --target-processes all \
    --track-stream-ordered-races all --check-exit-code yes -t memcheck "$KERNELS" stencil_border wrong
says '--padding 512 has no effect here'
[ "$(wc -l < "$dir/err")" -eq 1 ] || fail "$what: says $(cat "$dir/err")"
run 0 --help
"$SANITIZER" --version | grep -q '^ptxrun-sanitizer ' || fail "no version"
echo "$failures failures"
[ $failures -eq 0 ]
