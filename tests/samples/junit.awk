# SPDX-License-Identifier: Apache-2.0
# The table of run.sh as JUnit XML. Reasons hold printable characters only.
function quoted(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/"/, "\\&quot;", text)
    return "\"" text "\""
}

BEGIN { FS = "\t" }

{
    body = ""
    if ($2 == "fail")
        body = "<failure message=" quoted($4) "/>"
    else if ($2 == "skip")
        body = "<skipped message=" quoted($4) "/>"
    cases = cases "  <testcase classname=\"samples\" name=" quoted($1) " time=\"" $3 "\">" body \
        "</testcase>\n"
    total[$2]++
}

END {
    print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    printf "<testsuite name=\"samples\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n%s", NR,
        total["fail"], total["skip"], cases
    print "</testsuite>"
}
