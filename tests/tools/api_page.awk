# SPDX-License-Identifier: Apache-2.0
# For api_page.sh: from lines "proved|called FUNCTION SUITE TEST" and "works|missing API FUNCTION" to the page. reasons: a
# file of lines "EXPRESSION<tab>WHY", of which the first that a missing function matches is told.

BEGIN {
    while ((getline line < reasons) > 0) {
        expression[++kinds] = substr(line, 1, index(line, "\t") - 1)
        why[kinds] = substr(line, index(line, "\t") + 1)
    }
}

$1 == "proved" || $1 == "called" {
    verb[$2] = $1
    test[$2] = $3 ": " $4
    next
}

{
    state[++count] = $1
    api[count] = $2
    name[count] = $3
    total[$2]++
    if ($1 == "works") {
        working[$2]++
        proved[$2] += verb[$3] == "proved"
    }
}

# The kinds of what is missing, each with its functions; forms of one function once.
function tell_missing(    i, kind, base, told) {
    print "## What is not supported, and why"
    print ""
    print "| why | functions |"
    print "|---|---|"
    for (i = 1; i <= count; i++) {
        if (state[i] == "works")
            continue
        for (kind = 1; kind <= kinds && name[i] !~ expression[kind]; kind++)
            ;
        if (kind > kinds) {
            print "no reason for " name[i] > "/dev/stderr"
            failed = 1
        }
        base = name[i]
        sub(/_(ptsz|ptds|v[0-9])$/, "", base)
        if (!told[base]++)
            list[kind] = list[kind] (list[kind] ? ", " : "") "`" base "`"
    }
    for (kind = 1; kind <= kinds; kind++)
        if (list[kind])
            print "| " why[kind] " | " list[kind] " |"
    print ""
}

function cell(i, which) {
    return verb[name[i]] == which ? " " test[name[i]] " |" : " |"
}

function rows(which,    i) {
    print "| function | answer | proved by | called by |"
    print "|---|---|---|---|"
    for (i = 1; i <= count; i++)
        if (api[i] == which)
            print "| `" name[i] "` | " (state[i] == "works" ? "works" : "not supported") " |" cell(i, "proved") cell(i, "called")
    print ""
}

function library(which, title) {
    printf "| %s | %d | %d | %d | %d |\n", title, total[which], working[which], proved[which],
           total[which] - working[which]
}

END {
    print "# The CUDA API, function by function"
    print ""
    print "Made by `sh tests/tools/api_page.sh build` from the tables of exported functions and from running the tests of"
    print "`tests/unit/cudart` (suite: test); a test tries a share of the rows again."
    print ""
    print "* *Works*: implemented. *Not supported*: the function exists, says once that it is not implemented, and returns"
    print "  `CUDA_ERROR_NOT_SUPPORTED` or `cudaErrorNotSupported`. Forms such as `_v2` and `_ptsz` are functions of their own."
    print "* *Proved by*: the test fails when the function, called by this name, does nothing and returns success. Calls of"
    print "  which the test expects an error are left as they are: that a function refuses something does not prove it."
    print "* *Called by*: no test fails so, this one calls the function: it sees at most that it returns what it should, or"
    print "  the function has no effect here that could be seen."
    print ""
    print "| library | functions | work | of these proved | not supported |"
    print "|---|---|---|---|---|"
    library("driver", "driver, `libcuda.so.1`")
    library("runtime", "runtime, `libcudart.so.13`")
    print ""
    tell_missing()
    print "## Driver"
    print ""
    rows("driver")
    print "## Runtime"
    print ""
    rows("runtime")
    exit failed
}
