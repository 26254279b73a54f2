# SPDX-License-Identifier: Apache-2.0
# Defects that can be put into a PTX text, each of which changes one line:
#   awk -f put_defects.awk FILE                    a line for each: LINE KIND
#   awk -v line=LINE -v kind=KIND -f put_defects.awk FILE    the text with this one
# index: the access is one element further; bound: a comparison is off by one (< becomes <=, >= becomes >); guard: threads
# behind the end of the data go on; barrier, fence, store: gone; size: a shared array is one word smaller.

# Bytes of one element of an access; 0: none is known.
function element_bytes(text,    opcode)
{
    opcode = text
    sub(/^[ \t]*(@!?%p[0-9]+[ \t]+)?/, "", opcode)
    sub(/[ \t].*/, "", opcode)
    return match(opcode, /[bfsu](8|16|32|64)$/) ? substr(opcode, RSTART + 1) / 8 : 0
}

function is_access(text)
{
    return text ~ /^[ \t]*(@!?%p[0-9]+[ \t]+)?(ld|st|atom|red)\./ && text !~ /\.param|\.local|\.const/ &&
           text ~ /\[%rd?[0-9]+(\+-?[0-9]+)?\]/ && element_bytes(text) > 0
}

function is_store(text)
{
    return text ~ /^[ \t]*(@!?%p[0-9]+[ \t]+)?st\./ && text !~ /\.param/
}

function is_barrier(text)
{
    return text ~ /^[ \t]*(@!?%p[0-9]+[ \t]+)?(bar\.sync|barrier\.sync|bar\.warp\.sync)/
}

function is_fence(text)
{
    return text ~ /^[ \t]*(membar|fence)\./
}

# A branch to where a thread ends.
function is_guard(text,    label)
{
    if (!match(text, /^[ \t]*@!?%p[0-9]+[ \t]+bra[ \t]+[$A-Za-z_0-9]+;/))
        return 0
    label = substr(text, RSTART, RLENGTH - 1)
    sub(/.*[ \t]/, "", label)
    return label in ends
}

function is_size(text)
{
    return text ~ /^[ \t]*\.shared .*\[[0-9]+\];/ && text !~ /\[[0-4]\];/
}

function is_bound(text)
{
    return text ~ /^[ \t]*setp\.(lt|ge)\.[su](32|64)[ \t]/
}

function has(text, which)
{
    if (which == "bound")
        return is_bound(text)
    if (which == "index")
        return is_access(text)
    if (which == "guard")
        return is_guard(text)
    if (which == "barrier")
        return is_barrier(text)
    if (which == "fence")
        return is_fence(text)
    return which == "store" ? is_store(text) : is_size(text)
}

# The access at the next element.
function move(text,    bytes, at, offset)
{
    bytes = element_bytes(text)
    match(text, /\[%rd?[0-9]+(\+-?[0-9]+)?\]/)
    at = substr(text, RSTART + 1, RLENGTH - 2)
    offset = index(at, "+") ? substr(at, index(at, "+") + 1) : 0
    sub(/\+.*/, "", at)
    return substr(text, 1, RSTART) at "+" (offset + bytes) substr(text, RSTART + RLENGTH - 1)
}

function loosen(text)
{
    if (text ~ /setp\.lt/)
        sub(/setp\.lt/, "setp.le", text)
    else
        sub(/setp\.ge/, "setp.gt", text)
    return text
}

function change(text)
{
    if (kind == "index")
        return move(text)
    if (kind == "bound")
        return loosen(text)
    return kind == "size" ? shrink(text) : "// " text
}

function shrink(text,    size)
{
    match(text, /\[[0-9]+\];/)
    size = substr(text, RSTART + 1, RLENGTH - 3)
    return substr(text, 1, RSTART) (size - (text ~ /\.b8/ ? 4 : 1)) "];"
}

{ lines[NR] = $0 }

/^\$[A-Za-z_0-9]+:/ { label = $0; sub(/:.*/, "", label); next }
/^[ \t]*(\.loc.*|\/\/.*)?$/ { next }
/^[ \t]*ret;/ && label != "" { ends[label] = 1 }
{ label = "" }

END {
    kinds = split("index bound guard barrier fence store size", names, " ")
    for (i = 1; i <= NR; i++) {
        for (k = 1; line == 0 && k <= kinds; k++)
            if (has(lines[i], names[k]))
                print i, names[k]
        if (line == 0)
            continue
        print i == line ? change(lines[i]) : lines[i]
    }
}
