# SPDX-License-Identifier: Apache-2.0
# For api_page.sh: "call NAME place" for every function of the CUDA API named in a CUDA program, or
# in the rows of a table of misuses (place=misuse: the row's group and name). Comments and strings
# do not count. A launch with <<<>>> stands for what the compiler makes of it.

function tell(name) {
    if (!(name in told)) {
        told[name] = 1
        print "call " name " " where
    }
}

BEGIN {
    launch = "__cudaRegisterFatBinary __cudaRegisterFatBinaryEnd __cudaUnregisterFatBinary " \
             "__cudaRegisterFunction __cudaPushCallConfiguration __cudaPopCallConfiguration " \
             "__cudaGetKernel __cudaLaunchKernel cudaLaunchKernel"
    where = place
}

{
    line = $0
    gsub(/"[^"]*"/, "\"\"", line)
    gsub(/\/\*.*\*\//, "", line)
    sub(/\/\/.*/, "", line)
    if (line ~ /^ \*/ || line ~ /^\/\*/) next
    if (place == "misuse" && match(line, /^MISUSE\([A-Za-z0-9_]+, *[A-Za-z0-9_]+/)) {
        where = substr(line, RSTART + 7, RLENGTH - 7)
        sub(/, */, ": ", where)
        where = "misuse " where
    }
    if (index(line, "<<<")) {
        n = split(launch, made, " ")
        for (i = 1; i <= n; i++) tell(made[i])
    }
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (word ~ /^(cu|cuda|__cuda)[A-Z][A-Za-z0-9_]*$/) tell(word)
    }
}
