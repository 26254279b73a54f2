#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All 2^32 inputs of every form with one source of 32 bits, on the translator of this build, judged
# by the oracle. Writes sweep.txt beside this file.
#
#   sh tests/conformance/sweep.sh BUILD_DIR [options of conformance: --row NAME --stride N --jobs N]
#
#   --stride 4096   one input in about 4096, spread evenly: all forms in a minute
#   without         all inputs: 30 to 120 ns each, some five minutes of one CPU for a form, so a day
#                   for all of them; the important ones come first
#
# It may be stopped at any time, also by timeout(1): what was judged is noted, and not judged again as long as the
# fingerprint (of the translation and of the oracle's answers) is the same.
set -eu
build=${1:?"usage: sweep.sh BUILD_DIR [options]"}
shift
summary=$(cd "$(dirname "$0")" && pwd)/sweep.txt
cmake --build "$build" --target conformance
program=$build/tests/conformance/conformance
case " $* " in
*" --row "*) exec "$program" --sweep "$summary" "$@" ;;
esac
result=0
for row in rcp sqrt rsqrt ex2 lg2 sin cos tanh cvt ''; do
    "$program" --sweep "$summary" ${row:+--row "$row"} "$@" || result=$?
    [ "$result" -le 1 ] || break
done
exit "$result"
