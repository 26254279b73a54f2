# SPDX-License-Identifier: Apache-2.0
# Compiler settings, as one interface target that every target of the project links.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

add_library(ptxrun_settings INTERFACE)
target_include_directories(ptxrun_settings INTERFACE
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(ptxrun_settings INTERFACE
    _GNU_SOURCE PTXRUN_VERSION="${PROJECT_VERSION}")
target_compile_options(ptxrun_settings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wconversion -Wno-sign-conversion>)

# Programs, most of them tests, are linked in a tenth of the time. Libraries keep the system's linker, as they are what is
# installed.
find_program(PTXRUN_LLD ld.lld-22)
if(PTXRUN_LLD)
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fuse-ld=lld>)
endif()

# Shared libraries call their own functions, whatever a program defines under the same names, and
# leave nothing undefined, except what a sanitizer's runtime brings.
set(PTXRUN_LINK_SHARED -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,-z,defs)
if(PTXRUN_SANITIZE)
    list(REMOVE_ITEM PTXRUN_LINK_SHARED -Wl,-z,defs)
    # Reports name functions and lines. What else debuggers are told takes a fifth of the time of compiling.
    target_compile_options(ptxrun_settings INTERFACE
        -fsanitize=${PTXRUN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -gline-tables-only)
    target_link_options(ptxrun_settings INTERFACE -fsanitize=${PTXRUN_SANITIZE})
endif()

# Other people's libraries become part of ours: a program may have its own copy of a shared one, in
# another version, and its functions would come first.
find_library(PTXRUN_ZSTD libzstd.a REQUIRED)
find_library(PTXRUN_LZ4 liblz4.a REQUIRED)
find_library(PTXRUN_ZLIB libz.a REQUIRED)
set(PTXRUN_ZSTD_TRACE ${PROJECT_SOURCE_DIR}/util/zstd_trace.c)

find_program(PTXRUN_LLVM_CONFIG NAMES llvm-config-22 llvm-config REQUIRED)

# What the machine at hand says of its own LLVM is where the other machine's is, too.
function(ptxrun_llvm_config variable)
    execute_process(COMMAND ${PTXRUN_LLVM_CONFIG} --link-static ${ARGN}
        OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(output UNIX_COMMAND "${output}")
    list(TRANSFORM output REPLACE "^/" "${CMAKE_SYSROOT}/")
    set(${variable} ${output} PARENT_SCOPE)
endfunction()

# LLVM's component for the processor that code is made for; and what commands tell clang that call it
# themselves.
set(PTXRUN_LLVM_NATIVE native)
set(PTXRUN_CLANG_TARGET)
if(CMAKE_CROSSCOMPILING)
    set(PTXRUN_LLVM_NATIVE ${CMAKE_SYSTEM_PROCESSOR})
    set(PTXRUN_CLANG_TARGET --target=${CMAKE_C_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT})
endif()

# ptxrun_library(NAME SOURCES...): a static library of one folder.
function(ptxrun_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC ptxrun_settings)
endfunction()

# How long a test may take. An emulated processor takes ten times as long and more.
set(PTXRUN_TEST_SECONDS 900)
set(PTXRUN_LONG_TEST_SECONDS 1500)
if(CMAKE_CROSSCOMPILING)
    set(PTXRUN_TEST_SECONDS 14400)
    set(PTXRUN_LONG_TEST_SECONDS 28800)
endif()

# ptxrun_tested_programs(LABEL... PROGRAMS targets...): what tests with these labels run. The presets of sanitizers build
# what theirs run, ptxrun_tests_unit and ptxrun_tests_threads, and nothing else.
function(ptxrun_tested_programs)
    cmake_parse_arguments(ARG "" "" "PROGRAMS" ${ARGN})
    foreach(label IN LISTS ARG_UNPARSED_ARGUMENTS)
        if(NOT TARGET ptxrun_tests_${label})
            add_custom_target(ptxrun_tests_${label})
        endif()
        add_dependencies(ptxrun_tests_${label} ${ARG_PROGRAMS})
    endforeach()
endfunction()

# ptxrun_unit_test(NAME [THREADS] [BUSY] LIBRARIES... SOURCES tests...): one Criterion program, label
# "unit"; with THREADS also label "threads": it is worth running, and building, under the thread sanitizer. Its own
# sources, not the libraries it tests, are compiled without optimising: each runs once, and Criterion's assertions are
# long, so the compiler would take two to three times as long. BUSY: it has loops of its own in which it spends more
# than that.
function(ptxrun_unit_test name)
    cmake_parse_arguments(ARG "THREADS;BUSY" "" "SOURCES;LIBRARIES" ${ARGN})
    set(level -O0)
    if(ARG_BUSY)
        set(level -O1)
    endif()
    add_executable(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:ptxrun_unit_main>)
    target_link_libraries(${name} PRIVATE ptxrun_settings ${ARG_LIBRARIES} ptxrun_criterion)
    target_compile_options(${name} PRIVATE -Wno-missing-prototypes -Wno-conversion ${level})
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} -j2)
    set(labels unit)
    if(ARG_THREADS)
        list(APPEND labels threads)
    endif()
    ptxrun_tested_programs(${labels} PROGRAMS ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${PTXRUN_TEST_SECONDS})
    if(PTXRUN_SANITIZE MATCHES "address")
        set_tests_properties(${name} PROPERTIES ENVIRONMENT
            "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0")
    endif()
endfunction()
