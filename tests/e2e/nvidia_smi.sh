#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nvidia-smi's stand-in, as scripts use it: it is on the PATH of what ptxrun starts, and its output
# has the form that they parse. Usage: nvidia_smi.sh PTXRUN
set -u
ptxrun=$1
unset CUDA_VISIBLE_DEVICES PTXRUN_DEVICES PTXRUN_DEVICE_MEMORY PTXRUN_COMPUTE_CAPABILITY
failures=0

# expect NAME STATUS OUTPUT ARGUMENT...: what ptxrun prints and returns.
expect() {
    name=$1 status=$2 output=$3
    shift 3
    got=$("$ptxrun" "$@" 2>/dev/null)
    got_status=$?
    if [ "$got" != "$output" ] || [ "$got_status" != "$status" ]; then
        printf 'FAILED: %s\n--- status %s, not %s; wanted:\n%s\n--- got:\n%s\n' \
            "$name" "$got_status" "$status" "$output" "$got"
        failures=$((failures + 1))
    fi
}

uuid=GPU-70747872-756e-4350-552d-736d3735000

expect "the list has a line for each device" 0 \
    "GPU 0: ptxrun CPU (UUID: ${uuid}1)
GPU 1: ptxrun CPU (UUID: ${uuid}2)" \
    --devices 2 nvidia-smi -L
expect "all devices are listed, whatever programs see" 0 \
    "GPU 0: ptxrun CPU (UUID: ${uuid}1)
GPU 1: ptxrun CPU (UUID: ${uuid}2)" \
    --devices 2 env CUDA_VISIBLE_DEVICES=1 nvidia-smi --list-gpus
expect "a query has a header and units" 0 \
    "index, name, memory.total [MiB], utilization.gpu [%], temperature.gpu
0, ptxrun CPU, 512 MiB, 0 %, [N/A]" \
    --device-memory 512M nvidia-smi \
    --query-gpu=index,name,memory.total,utilization.gpu,temperature.gpu --format=csv
expect "a query without header and units" 0 \
    "0, 512, 0, 512, 8.0, 00000000:01:00.0
1, 512, 0, 512, 8.0, 00000000:02:00.0" \
    --devices 2 --device-memory 512M nvidia-smi \
    --query-gpu=index,memory.total,memory.used,memory.free,compute_cap,pci.bus_id \
    --format=csv,noheader,nounits
expect "one device by its number" 0 "1, 2" --devices 2 nvidia-smi -i 1 \
    --query-gpu=index,count --format=csv,noheader
expect "devices by uuid and bus id" 0 "2
0" --devices 3 nvidia-smi --id="${uuid}3,00000000:01:00.0" --query-gpu=index --format=csv,noheader
expect "other names of fields stay in the header" 0 "gpu_uuid, gpu_name
${uuid}1, ptxrun CPU" nvidia-smi --query-gpu=gpu_uuid,gpu_name --format=csv
expect "the compute capability is what ptxrun was told" 0 "9.0" --compute-capability 9.0 \
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader
expect "a field that does not exist" 2 'Field "color" is not a valid field to query.' \
    nvidia-smi --query-gpu=name,color --format=csv
expect "a device that does not exist" 6 "No devices were found" nvidia-smi -i 7 -L
expect "an option that does not exist" 2 \
    "ERROR: Option --paint is not recognized. Please run 'nvidia-smi -h'." nvidia-smi --paint
expect "processes are never listed" 0 "pid, used_gpu_memory [MiB]" nvidia-smi \
    --query-compute-apps=pid,used_gpu_memory --format=csv
expect "a script finds it too" 0 "1" sh -c 'nvidia-smi -L | wc -l'

"$ptxrun" nvidia-smi | grep -q 'CUDA Version: [0-9]' || {
    echo "FAILED: the table does not say the CUDA version"
    failures=$((failures + 1))
}
for field in $("$ptxrun" nvidia-smi --help-query-gpu | sed -n 's/^"\([^"]*\)".*/\1/p'); do
    "$ptxrun" nvidia-smi --query-gpu="$field" --format=csv,noheader >/dev/null || {
        echo "FAILED: field $field is in the help but cannot be queried"
        failures=$((failures + 1))
    }
done
[ "$failures" = 0 ] && echo "all passed"
exit "$failures"
