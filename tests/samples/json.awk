# SPDX-License-Identifier: Apache-2.0
# The table of run.sh as JSON. Reasons hold printable characters only.
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

BEGIN {
    FS = "\t"
    printf "["
}

{
    printf "%s\n  {\"name\": %s, \"result\": \"%s\", \"seconds\": %s, \"reason\": %s}",
        (NR > 1 ? "," : ""), quoted($1), $2, $3, quoted($4)
}

END { print "\n]" }
