# SPDX-License-Identifier: Apache-2.0
# For api_page.sh: from its lines to the page (format=markdown), JSON (json), or the list of
# functions that work and that no test calls (unproved).

# One test calls all that are missing.
BEGIN {
    refusal["driver"] = "unsupported: every_missing_function_of_the_driver_says_so"
    refusal["runtime"] = "rt_unsupported: every_missing_function_of_the_runtime_says_so"
}

$1 == "call" {
    if (!($2 in proof)) {
        proof[$2] = $0
        sub(/^call [^ ]+ /, "", proof[$2])
    }
    next
}

{
    state[++count] = $1
    api[count] = $2
    name[count] = $3
    total[$2]++
    if ($1 == "works") working[$2]++
}

function rows(which,    i) {
    print "| function | answer | proved by |"
    print "|---|---|---|"
    for (i = 1; i <= count; i++)
        if (api[i] == which)
            printf "| `%s` | %s | %s |\n", name[i],
                   state[i] == "works" ? "works" : "not supported",
                   state[i] == "works" ? proof[name[i]] : refusal[which]
    print ""
}

function markdown() {
    print "# The CUDA API, function by function"
    print ""
    print "Made by `sh tests/tools/api_page.sh` from the tables of exported functions and from the tests; a test"
    print "compares it with them. *Works*: implemented, and the test named (suite: test of `tests/unit/cudart`, a"
    print "program of `tests/cuda`, or a row of the tables of misuses) calls it by this name. *Not supported*: the"
    print "function exists, says once that it is not implemented, and returns `CUDA_ERROR_NOT_SUPPORTED` or"
    print "`cudaErrorNotSupported`. Forms such as `_v2` and `_ptsz` are functions of their own."
    print ""
    printf "| library | functions | work | not supported |\n|---|---|---|---|\n"
    printf "| driver, `libcuda.so.1` | %d | %d | %d |\n", total["driver"], working["driver"],
           total["driver"] - working["driver"]
    printf "| runtime, `libcudart.so.13` | %d | %d | %d |\n\n", total["runtime"], working["runtime"],
           total["runtime"] - working["runtime"]
    print "## Driver"
    print ""
    rows("driver")
    print "## Runtime"
    print ""
    rows("runtime")
}

function json(    i) {
    print "["
    for (i = 1; i <= count; i++)
        printf "  {\"api\": \"%s\", \"function\": \"%s\", \"works\": %s, \"proved_by\": \"%s\"}%s\n",
               api[i], name[i], state[i] == "works" ? "true" : "false",
               state[i] == "works" ? proof[name[i]] : refusal[api[i]], i < count ? "," : ""
    print "]"
}

END {
    if (format == "markdown") markdown()
    else if (format == "json") json()
    else
        for (i = 1; i <= count; i++)
            if (state[i] == "works" && proof[name[i]] == "") print "  " name[i]
}
