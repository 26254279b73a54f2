# SPDX-License-Identifier: Apache-2.0
# Read by ctest before it runs tests, for all of them: see no_cache.c.
if(NOT DEFINED ENV{PTXRUN_CACHE})
    set(ENV{PTXRUN_CACHE} off)
endif()
if(NOT DEFINED ENV{PTXRUN_TIER})
    set(ENV{PTXRUN_TIER} best)
endif()
if(NOT DEFINED ENV{PTXRUN_CHOOSE})
    set(ENV{PTXRUN_CHOOSE} estimate)
endif()
