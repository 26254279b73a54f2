#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Excuses are of one place each: for another place, for one that there is not, for another case or kind, or for a
# place twice, the program fails and says which.
# Usage: excuses.sh WIDEN CASES LIST
set -eu
widen=$1 cases=$2 list=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS TEXT [OPTION...]: with the list on standard input, of the one case that the lists below are for.
expect() {
    wanted=$1 text=$2
    shift 2
    cat >"$work/list"
    status=0
    "$widen" --defects --excuses "$work/list" "$@" "$cases/if_row.ll" >"$work/said" 2>&1 || status=$?
    if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" "$work/said"; then
        echo "status $status instead of $wanted, or not said: $text"
        cat "$work/list" "$work/said"
        exit 1
    fi
}

grep '^if_row ' "$list" >"$work/right"
grep -qx 'if_row mask 4: .*' "$work/right"
expect 0 "1 excused, 0 missed" <"$work/right"

# Other places than those that nothing shows.
grep -v '^if_row mask' "$work/right" | expect 1 "missed: if_row, width 4 jam 2 poisoned mask:4"
sed 's/mask 4:/mask 3:/' "$work/right" | expect 1 "excused for nothing: if_row, width 4 jam 2 poisoned mask:3"
sed 's/mask 4:/mask 3:/' "$work/right" | expect 1 "missed: if_row, width 4 jam 2 poisoned mask:4"
sed 's/mask 4:/mask 4-5:/' "$work/right" | expect 1 "excused for nothing: if_row, width 4 jam 2 poisoned mask:5"
sed 's/mask 4:/mask 4,900:/' "$work/right" | expect 1 "excused for nothing: if_row mask has"
sed 's/mask 4:/stride 4:/' "$work/right" | expect 1 "excused for nothing: if_row, width 4 jam 2 poisoned stride:4"

# A share has the excuses of its places: 0, 2, 4 and on.
expect 0 "1 excused, 0 missed" --share 2 <"$work/right"
sed 's/mask 4:/mask 3:/' "$work/right" | expect 1 "missed: if_row, width 4 jam 2 poisoned mask:4" --share 2
sed 's/mask 4:/mask 4,5:/' "$work/right" | expect 0 "1 excused, 0 missed" --share 2

# Lists that are not well formed.
for line in 'if_row mask 4' 'if_row mask: why' 'if_row mask 4-: why' 'if_row mask 4-3: why' 'if_row mask 4x: why' \
    'if_row mask 4: ?' 'if_row mask -4: why'; do
    echo "$line" | expect 2 "no excuse of the form"
done
printf 'if_row mask 2-5: why\nif_row mask 4: why\n' | expect 2 "list:2: no excuse of the form KEY ORDINALS: WHY, or a second one"
echo 'no_such_case mask 4: why' | expect 2 "there is no case or kind 'no_such_case mask'"
echo 'if_row no_such_kind 4: why' | expect 2 "there is no case or kind 'if_row no_such_kind'"

# With other settings places have other ordinals.
expect 2 "usage" --width 8 <"$work/right"
expect 2 "usage" --known-size <"$work/right"

# What the program lists is a list that excuses just that.
: | expect 1 "if_row mask 4: ?" --list
expect 0 "$(grep mask "$work/right")" --list <"$work/right"
