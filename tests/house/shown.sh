#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the headers that the build has compiled alone: they come first in a source, and that is compiled with no other
# definitions and folders than FLAGS has.
# Usage: shown.sh ROOT FLAGS COMMANDS
# COMMANDS: CMake's compile_commands.json; nothing is printed without it.
set -eu
[ -f "$3" ] || exit 0
awk -v root="$1/" '
    # The path in ROOT of what the line includes between quotes.
    function included(line, source, name, beside, exists, unused) {
        if (line !~ /^#include "/)
            return ""
        split(line, name, "\"")
        beside = source
        sub(/[^\/]*$/, "", beside)
        beside = beside name[2]
        while (sub(/[^\/]+\/\.\.\//, "", beside)) {
        }
        exists = (getline unused <(root beside)) >= 0
        close(root beside)
        return exists ? beside : name[2]
    }
    # How the source begins, comments aside.
    function first_directive(source, line) {
        while ((getline line <(root source)) > 0)
            if (line ~ /^[ \t]*#/)
                break
        close(root source)
        return line
    }
    { gsub(/["\\]/, "") }
    NR == FNR {
        known[$0]
        next
    }
    $1 == "command:" {
        for (i = 2; i <= NF; i++) {
            flag = $i ~ /^-(isystem|include|I|D)$/ ? $i $(++i) : $i
            if (flag ~ /^-(D|U|I|i)/ && flag != "-DNDEBUG" && !(flag in known))
                next
        }
        source = $NF
        sub(/,$/, "", source)
        if (index(source, root) != 1)
            next
        source = substr(source, length(root) + 1)
        header = included(first_directive(source), source)
        if (header ~ /\.h$/)
            print header
    }' "$2" "$3" | LC_ALL=C sort -u
