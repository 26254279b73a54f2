/* SPDX-License-Identifier: Apache-2.0
 *
 * nvrtc_compile SOURCE OUTPUT ARCHITECTURE: for build.sh only, needs a CUDA toolkit.
 */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>

static void check(nvrtcResult result)
{
    if (result == NVRTC_SUCCESS)
        return;
    fprintf(stderr, "nvrtc_compile: %s\n", nvrtcGetErrorString(result));
    exit(1);
}

int main(int argc, char **argv)
{
    static char source[1 << 16];
    char architecture[64];
    const char *options[] = {architecture};
    FILE *file = argc == 4 ? fopen(argv[1], "r") : NULL;
    nvrtcProgram program;
    size_t len;
    char *text;

    if (!file || fread(source, 1, sizeof source - 1, file) == 0)
        return 2;
    fclose(file);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s", argv[3]);
    check(nvrtcCreateProgram(&program, source, argv[1], 0, NULL, NULL));
    check(nvrtcCompileProgram(program, 1, options));
    check(nvrtcGetPTXSize(program, &len));
    text = malloc(len);
    file = fopen(argv[2], "w");
    if (!text || !file)
        return 1;
    check(nvrtcGetPTX(program, text));
    fwrite(text, 1, len - 1, file);
    fclose(file);
    free(text);
    return 0;
}
