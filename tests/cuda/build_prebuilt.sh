#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the checked-in programs in prebuilt/ anew. Needs the CUDA toolkit (nvcc); the tests do not.
#   shared/  all programs, -cudart shared (small)
#   static/  with the CUDA runtime inside, where that makes a difference to what is tested
set -eu
cd "$(dirname "$0")"
NVCC=${NVCC:-nvcc}
FLAGS="-O2 -Xcompiler -ffunction-sections,-fdata-sections -Xlinker --gc-sections"
STATIC="bad_address cubin_only too_many_threads symbols streams_events many_host_threads assert_fails
    plugin_host exit_while_running"
SHARED="$STATIC recursion_indirect barriers lock_between_lanes warp_in_step device_malloc deep_stack
    many_launches textures surfaces"
# Many kernels: PTX alone, and compressed.
CUB="-gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all"
MATRICES="-gencode arch=compute_80,code=compute_80"
WARPGROUPS="-gencode arch=compute_90a,code=compute_90a"
HOPPER="-gencode arch=compute_90,code=compute_90 -Xfatbin -compress-all"
# Its calls of the device runtime are left open: the toolkit's own would be most of the program.
CHILDREN="-rdc=true -cudadevrt none -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all"
CUBIN_ONLY="-gencode arch=compute_75,code=sm_75"
mkdir -p prebuilt/static prebuilt/shared

build() # KIND NAME SOURCES-AND-FLAGS...
{
    kind=$1
    name=$2
    shift 2
    # shellcheck disable=SC2086
    $NVCC $FLAGS -cudart "$kind" -o "prebuilt/$kind/$name" "$@"
    strip --strip-all -R .comment -R .note.ABI-tag "prebuilt/$kind/$name"
}

build_plain() # KIND NAME
{
    case $2 in
        # shellcheck disable=SC2086
        cubin_only) build "$1" "$2" "$2.cu" $CUBIN_ONLY ;;
        *) build "$1" "$2" "$2.cu" ;;
    esac
}

for name in $STATIC; do
    build_plain static "$name"
done
for name in $SHARED; do
    build_plain shared "$name"
done
for kind in static shared; do
    build $kind plugin.so -shared -Xcompiler -fPIC plugin.cu
    build $kind rdc_two_units -rdc=true rdc_two_units.cu rdc_unit.cu
    build $kind symbols_non_pie -Xcompiler -no-pie symbols.cu
done
# Defects are reported by lines of the source, whose name is not to be that of a folder of this machine.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for name in memory_defects race_defects schedule_defects cluster_defects copy_defects sync_defects number_defects \
    tensor_defects; do
    { echo "#line 1 \"/tests/cuda/$name.cu\""; cat "$name.cu"; } > "$dir/$name.cu"
    arch=compute_75
    [ $name = sync_defects ] && arch=compute_80 # has an mbarrier
    [ $name = copy_defects ] && arch=compute_80
    [ $name = cluster_defects ] && arch=compute_90
    [ $name = tensor_defects ] && arch=compute_90
    build shared "$name" -std=c++17 "$dir/$name.cu" -lineinfo -gencode arch=$arch,code=$arch -Xfatbin -compress-all
done
# With lines of the host's code, too.
build_for_host() # NAME FLAG...
{
    name=$1
    target=$PWD/prebuilt/shared/$name
    shift
    { echo "#line 1 \"/tests/cuda/$name.cu\""; cat "$name.cu"; } > "$dir/$name.cu"
    # shellcheck disable=SC2086
    (cd "$dir"
        $NVCC $FLAGS -cudart shared -Xcompiler -g1,-ffile-prefix-map="$dir=/tests/cuda" -o "$target" "$name.cu" "$@")
}
build_for_host host_defects
build_for_host stream_defects -lineinfo -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
build_for_host managed_defects -std=c++17 -lineinfo -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
build_for_host api_defects
build_for_host unused_defects -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
build_for_host device_defects -lineinfo -lcuda -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
# shellcheck disable=SC2086
build_for_host init_defects -std=c++17 -lineinfo $MATRICES -Xfatbin -compress-all
# shellcheck disable=SC2086
build shared matrix_products matrix_products.cu $MATRICES
# shellcheck disable=SC2086
build shared attention attention.cu $MATRICES -Xfatbin -compress-all
build shared fast_math fast_math.cu -use_fast_math -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
build shared long_blocks long_blocks.cu -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
build shared split_sums split_sums.cu -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
build shared flat_indices flat_indices.cu -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
build shared grid_sync grid_sync.cu -gencode arch=compute_75,code=compute_75 -Xfatbin -compress-all
for name in child_launches graphs_from_kernels; do
    # shellcheck disable=SC2086
    build shared "$name" "$name.cu" $CHILDREN
done
# shellcheck disable=SC2086
build shared warpgroup_products warpgroup_products.cu $WARPGROUPS
# shellcheck disable=SC2086
build shared cub_primitives cub_primitives.cu $CUB
for name in async_copies clusters tensor_copies; do
    # shellcheck disable=SC2086
    build shared "$name" -std=c++17 "$name.cu" $HOPPER
done
du -ch prebuilt/static/* prebuilt/shared/* | tail -n 1
