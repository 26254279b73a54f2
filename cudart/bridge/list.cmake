# SPDX-License-Identifier: Apache-2.0

# ptxrun_bridge_list(FILE NAME...): the names as rows, and a number that two lists have in common only
# if they are the same. The file is left alone when nothing has changed.
function(ptxrun_bridge_list file)
    set(names ${ARGN})
    list(SORT names)
    list(REMOVE_DUPLICATES names)
    string(SHA256 number "${names}")
    string(SUBSTRING ${number} 0 16 number)
    list(TRANSFORM names REPLACE "(.+)" "BRIDGED(\\1)")
    list(JOIN names "\n" rows)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "#define BRIDGE_NUMBER 0x@number@\n@rows@\n")
endfunction()
