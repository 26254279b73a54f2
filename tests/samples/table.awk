# SPDX-License-Identifier: Apache-2.0
# Prints the table of run.sh and its totals, then checks what was expected to pass. Input: name,
# verdict, seconds, reason, between tabs. A program with several runs passes if each of them does.
BEGIN {
    FS = "\t"
    while (expect != "" && (getline line <expect) > 0) {
        sub(/#.*/, "", line)
        gsub(/[ \t]/, "", line)
        if (line != "")
            wanted[++wants] = line
    }
    printf "%-32s %-7s %9s  %s\n", "program", "result", "seconds", "reason"
}

{
    printf "%-32s %-7s %9.2f  %s\n", $1, $2, $3, $4
    total[$2]++
    program = $1
    sub(/\/[0-9]+$/, "", program)
    if (!(program in result) || $2 == "fail" || (result[program] == "pass" && $2 == "skip"))
        result[program] = $2
}

END {
    printf "\n%d passed, %d failed, %d skipped, of %d\n", total["pass"], total["fail"],
        total["skip"], NR
    bad = total["fail"] > 0
    for (i = 1; i <= wants; i++) {
        found = (wanted[i] in result) ? result[wanted[i]] : "not found"
        if (found != "pass") {
            printf "expected to pass: %s (%s)\n", wanted[i], found
            bad = 1
        }
    }
    exit bad
}
