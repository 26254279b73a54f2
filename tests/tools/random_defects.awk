# SPDX-License-Identifier: Apache-2.0
# random_defects.awk: a random kernel with one defect, for random_defects.sh.
#   -v kind=access   one access goes to a place that is none of its variable's, or buffer's
#   -v kind=trap     the same kernel with a trap in front of that access
#   -v kind=store    one store to memory of the block or the thread is gone
#   -v kind=barrier  one barrier is gone
#   -v seed=N        which one
# Standard error gets the number of its line. Ends with 1 where there is none of its kind.

BEGIN {
    address = "\\[[%A-Za-z_][%A-Za-z0-9_]*(\\+-?[0-9]+)?\\]"
    access = "^ *(@!?%[a-z0-9]+ )?(ld|st|atom|red)\\.[a-z0-9_.:]*(shared|local|const|global)[a-z0-9_.:]* "
    store = "^ *st\\.[a-z0-9_.:]*(shared|local)"
    barrier = "^ *((bar|barrier)\\.(cta\\.)?sync|bar\\.warp)"
}

# What leads out of all that these kernels have, but for the thread's own memory: there a few arrays further.
function distance(line)
{
    match(line, /\.(shared|local|const|global)/)
    if (substr(line, RSTART, RLENGTH) == ".local")
        return 64
    return substr(line, RSTART, RLENGTH) == ".global" ? 1048576 : 4096
}

function move(line, by,    inside, offset, before, behind)
{
    match(line, address)
    before = substr(line, 1, RSTART)
    inside = substr(line, RSTART + 1, RLENGTH - 2)
    behind = substr(line, RSTART + RLENGTH - 1)
    offset = index(inside, "+") ? substr(inside, index(inside, "+") + 1) : 0
    sub(/\+.*/, "", inside)
    return before inside "+" (offset + by) behind
}

function guard_of(line)
{
    return match(line, /@!?%[a-z0-9]+ /) ? substr(line, RSTART, RLENGTH) : ""
}

function fits(line)
{
    if (kind == "store")
        return line ~ store
    return kind == "barrier" ? line ~ barrier : line ~ access && line ~ address
}

{
    lines[NR] = $0
    if (fits($0))
        places[++count] = NR
}

END {
    if (count == 0)
        exit 1
    srand(seed)
    chosen = places[1 + int(rand() * count)]
    if (kind == "access")
        lines[chosen] = move(lines[chosen], distance(lines[chosen]))
    else if (kind == "trap")
        lines[chosen] = guard_of(lines[chosen]) "trap;\n" lines[chosen]
    else
        lines[chosen] = ""
    for (i = 1; i <= NR; i++)
        print lines[i]
    print chosen > "/dev/stderr"
}
