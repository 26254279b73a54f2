# SPDX-License-Identifier: Apache-2.0
# Sourced by tests that run prebuilt programs; $ptxrun is set. Skips them on other machines, and lets
# programs find our libcudart, even where a CUDA toolkit is installed and its own would be found.
if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: the programs are built for x86_64"
    exit 77
fi
libraries=$(cd "$(dirname "$ptxrun")/../lib/ptxrun/cudart" && pwd) || exit 1
LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
