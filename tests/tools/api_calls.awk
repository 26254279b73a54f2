# SPDX-License-Identifier: Apache-2.0
# For api_page.sh: "call NAME suite: test" for every function of the CUDA API that a test of a C file
# calls, itself or through functions, tables and macros of its file or of a header.
# It relies on the layout of the sources: what is at the top level begins and ends in column 1.

# Code without comments and string literals.
function clean(line,    out, i, c, rest) {
    out = ""
    for (i = 1; i <= length(line); i++) {
        rest = substr(line, i, 2)
        if (in_comment) {
            if (rest == "*/") { in_comment = 0; i++ }
            continue
        }
        if (rest == "/*") { in_comment = 1; i++; continue }
        if (rest == "//") break
        c = substr(line, i, 1)
        if (c == "\"") {
            for (i++; i <= length(line) && substr(line, i, 1) != "\""; i++)
                if (substr(line, i, 1) == "\\") i++
            out = out "\"\""
            continue
        }
        out = out c
    }
    return out
}

function first_word_before(text, mark,    at, part) {
    at = index(text, mark)
    if (!at) return ""
    part = substr(text, 1, at - 1)
    sub(/[ \t\n]*$/, "", part)
    if (!match(part, /[A-Za-z_][A-Za-z0-9_]*$/)) return ""
    return substr(part, RSTART, RLENGTH)
}

# Keeps the words of a block under its name; a test is remembered in order.
function keep(name, text,    key, word) {
    if (name == "") return
    key = (is_header ? "" : file) SUBSEP name
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (!((key, word) in has)) {
            has[key, word] = 1
            words[key] = words[key] " " word
        }
    }
    blocks[key] = 1
}

function end_block(    head, name, parts) {
    head = block
    if (match(head, /Test\([A-Za-z0-9_]+, *[A-Za-z0-9_]+/)) {
        name = substr(head, RSTART + 5, RLENGTH - 5)
        sub(/, */, ": ", name)
        tests[++test_count] = (is_header ? "" : file) SUBSEP name
        titles[test_count] = name
        keep(name, block)
    } else if (index(head, "{")) {
        head = substr(head, 1, index(head, "{") - 1)
        if (table != "") name = table
        else if (index(head, "=")) name = first_word_before(head, index(head, "[") ? "[" : "=")
        else name = first_word_before(head, "(")
        keep(name, block)
    }
    block = ""
    table = ""
}

FNR == 1 {
    file = FILENAME
    is_header = FILENAME ~ /\.h$/
    in_comment = 0
    block = ""
    table = ""
    macro = ""
}

{
    line = clean($0)
    if (macro == "" && line ~ /^#define [A-Za-z_]/) {
        split(line, parts, /[ (]/)
        macro = parts[2]
        text = ""
    }
    if (macro != "") {
        text = text line "\n"
        if (line !~ /\\$/) { keep(macro, text); macro = "" }
        next
    }
    if (line ~ /^#/) next
    block = block line "\n"
    if (line ~ /^} [A-Za-z_][A-Za-z0-9_]*\[.*\] = \{/) table = first_word_before(substr(line, 3), "[")
    if (line ~ /^};?$/ || (line ~ /^[^ \t{}].*;$/ && !index(block, "{"))) end_block()
    else if (line ~ /^[A-Za-z].*\{.*\};$/) end_block()
}

function reach(key, where,    list, n, i, next_key) {
    if ((where, key) in seen) return
    seen[where, key] = 1
    n = split(words[key], list, " ")
    for (i = 1; i <= n; i++) {
        if (list[i] ~ /^(cu|cuda|__cuda)[A-Z][A-Za-z0-9_]*$/ && !(list[i] in told)) {
            told[list[i]] = 1
            print "call " list[i] " " where
        }
    }
    for (i = 1; i <= n; i++) {
        next_key = current_file SUBSEP list[i]
        if (next_key in blocks) reach(next_key, where)
        next_key = "" SUBSEP list[i]
        if (next_key in blocks) reach(next_key, where)
    }
}

END {
    for (t = 1; t <= test_count; t++) {
        split(tests[t], pair, SUBSEP)
        current_file = pair[1]
        reach(tests[t], titles[t])
    }
}
