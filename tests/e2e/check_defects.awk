# SPDX-License-Identifier: Apache-2.0
# Judges what check_defects.sh has run: awk -v check=CHECK -v finds_more=0|1 -v dir=DIR -f check_defects.awk SOURCE
# DIR/codes. DIR has CASE.TWIN.report and CASE.TWIN.err of each run, codes its exit status. A finding is "RULE LINE".

# What is behind the last text before in a line of a report, up to the text after.
function between(line, before, after,    parts, count)
{
    count = split(line, parts, before)
    return count < 2 ? "" : substr(parts[count], 1, index(parts[count], after) - 1)
}

# Sets found[] to what a report says.
function read_report(file,    line, rule)
{
    split("", found)
    while ((getline line < file) > 0) {
        rule = between(line, "\"rule\": \"", "\"")
        if (rule != "")
            found[rule " " between(line, "\"line\": ", ",")] = 1
    }
    close(file)
}

function has_line(file, wanted,    line, has)
{
    while ((getline line < file) > 0)
        has = has || line == wanted
    close(file)
    return has
}

function content(file,    line, text)
{
    while ((getline line < file) > 0)
        text = text line "\n"
    close(file)
    return text
}

function list(findings,    finding, text)
{
    for (finding in findings)
        text = text finding ";"
    return text
}

function fail(message)
{
    print "FAILED: " message
    failures++
}

# Whether found[] is what is expected of a case.
function is_right(name,    finding, places, missing, others)
{
    for (finding in found)
        if (!((name, finding) in expected))
            others++
        else
            places++
    if (finds_more)
        others = 0
    missing = expected_count[name] - places
    return others == 0 && places > 0 && (missing == 0 || (check != "memory" && check != "init"))
}

function judge_wrong(name, code,    wanted, key, parts)
{
    split("", wanted)
    for (key in expected) {
        split(key, parts, SUBSEP)
        if (parts[1] == name)
            wanted[parts[2]] = 1
    }
    if (!is_right(name))
        fail(name ": found " list(found) " expected " list(wanted))
    if (code != 1)
        fail(name ": ended with " code ", not 1")
}

function judge_right(name, code,    err)
{
    err = dir "/" name ".right.err"
    if (list(found) != "")
        fail(name ", right: found " list(found))
    if (code != 0)
        fail(name ", right: ended with " code)
    if (!has_line(err, "ptxrun: check: no errors"))
        fail(name ", right: " content(err))
}

# SOURCE: a line with a defect ends with its case and its rule.
NR == FNR {
    if (match($0, /; \/\/ [a-z_]+ [a-z-]+$/)) {
        name = $(NF - 1)
        if (!((name, $NF " " FNR) in expected))
            expected_count[name]++
        expected[name, $NF " " FNR] = 1
    }
    next
}

# DIR/codes
{
    read_report(dir "/" $1 "." $2 ".report")
    if ($2 == "wrong") {
        cases++
        judge_wrong($1, $3)
    } else {
        judge_right($1, $3)
    }
}

END {
    print cases + 0 " cases, " failures + 0 " failures"
    exit failures > 0 || cases == 0
}
