# SPDX-License-Identifier: Apache-2.0
# Writes the list of the functions that headers declare between CRT_API_BEGIN and CRT_API_END:
#   cmake -D HEADERS=a.h,b.h -D LIST=out.def -P names.cmake

cmake_minimum_required(VERSION 3.25)

set(names)
string(REPLACE "," ";" headers "${HEADERS}")
foreach(header ${headers})
    file(READ ${header} text)
    string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
    string(FIND "${text}" "CRT_API_BEGIN" begin)
    while(begin GREATER_EQUAL 0)
        string(SUBSTRING "${text}" ${begin} -1 text)
        string(FIND "${text}" "CRT_API_END" end)
        string(SUBSTRING "${text}" 0 ${end} block)
        string(REGEX MATCHALL "crt_[a-z0-9_]+\\(" calls "${block}")
        list(APPEND names ${calls})
        string(SUBSTRING "${text}" ${end} -1 text)
        string(FIND "${text}" "CRT_API_BEGIN" begin)
    endwhile()
endforeach()
list(TRANSFORM names REPLACE "\\($" "")

include(${CMAKE_CURRENT_LIST_DIR}/list.cmake)
ptxrun_bridge_list(${LIST} ${names})
