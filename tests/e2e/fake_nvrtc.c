/* SPDX-License-Identifier: Apache-2.0
 *
 * In the place of an installed NVRTC: has one kernel, whatever the source, knows sm_75 and sm_90,
 * makes no machine code, and puts the options into the log.
 */
#include <stdio.h>
#include <string.h>

static char options_log[1000];
static const char *error_name = "NVRTC_SUCCESS";

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 data)\n{\n"
                          ".reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
                          "ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x;\n"
                          "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
                          "ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, %r2;\n"
                          "st.global.u32 [%rd3], %r2; ret;\n}\n";

const char *nvrtcGetErrorString(int result)
{
    return result ? error_name : "NVRTC_SUCCESS";
}

int nvrtcGetNumSupportedArchs(int *count)
{
    *count = 2;
    return 0;
}

int nvrtcGetSupportedArchs(int *archs)
{
    archs[0] = 75;
    archs[1] = 90;
    return 0;
}

int nvrtcCreateProgram(void **program, const char *source)
{
    *program = options_log;
    if (strstr(source, "__global__") == NULL)
        error_name = "NVRTC_ERROR_COMPILATION";
    return 0;
}

int nvrtcDestroyProgram(void **program)
{
    int is_ours = *program == options_log;
    *program = NULL;
    return is_ours ? 0 : 4;
}

int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    char *at = options_log;
    for (int i = 0; i < count; i++)
        at += snprintf(at, (size_t)(options_log + sizeof options_log - at), "option %s\n",
                       options[i]);
    return program == options_log && strcmp(error_name, "NVRTC_SUCCESS") == 0 ? 0 : 6;
}

int nvrtcGetProgramLogSize(void *program, size_t *bytes)
{
    *bytes = strlen(program) + 1;
    return 0;
}

int nvrtcGetProgramLog(void *program, char *log)
{
    strcpy(log, program);
    return 0;
}

int nvrtcGetPTXSize(void *program, size_t *bytes)
{
    *bytes = sizeof ptx;
    return program == options_log ? 0 : 4;
}

int nvrtcGetPTX(void *program, char *text)
{
    memcpy(text, ptx, sizeof ptx);
    return program == options_log ? 0 : 4;
}

int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
    *bytes = 0;
    return program == options_log ? 0 : 4;
}
