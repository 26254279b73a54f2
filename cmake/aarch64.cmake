# SPDX-License-Identifier: Apache-2.0
# Cross-building for AArch64 with clang, from packages that tools/aarch64_deps.sh has laid out
# (docs/aarch64.md).

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(PTXRUN_AARCH64_SYSROOT "$ENV{PTXRUN_AARCH64_SYSROOT}" CACHE PATH "What tools/aarch64_deps.sh made")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PTXRUN_AARCH64_SYSROOT)
if(NOT EXISTS "${PTXRUN_AARCH64_SYSROOT}/usr/include")
    message(FATAL_ERROR "PTXRUN_AARCH64_SYSROOT names no directory made by tools/aarch64_deps.sh")
endif()
set(CMAKE_SYSROOT ${PTXRUN_AARCH64_SYSROOT})

set(CMAKE_C_COMPILER clang-22)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_ASM_COMPILER clang-22)
set(CMAKE_ASM_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_AR llvm-ar-22 CACHE FILEPATH "")
set(CMAKE_RANLIB llvm-ranlib-22 CACHE FILEPATH "")
set(CMAKE_STRIP llvm-strip-22 CACHE FILEPATH "")
foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
