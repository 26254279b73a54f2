/* SPDX-License-Identifier: Apache-2.0
 *
 * In the place of an installed nvJitLink: knows sm_75 and sm_90, and has one PTX, whatever it is
 * given. Its log says what it was asked for.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char said[1000];

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .func (.param .b32 r) helper (.param .b32 a)\n{\n"
                          ".reg .b32 %r<3>;\n"
                          "ld.param.b32 %r1, [a]; add.u32 %r2, %r1, 1;\n"
                          "st.param.b32 [r], %r2; ret;\n}\n";

int nvJitLinkCreate(void **link, uint32_t count, const char **options)
{
    char *at = said;
    *link = said;
    for (uint32_t i = 0; i < count; i++) {
        at += snprintf(at, (size_t)(said + sizeof said - at), "option %s\n", options[i]);
        if (strncmp(options[i], "-arch=", 6) == 0 && !strstr(options[i], "_75") &&
            !strstr(options[i], "_90"))
            return 17;
    }
    return 0;
}

int nvJitLinkDestroy(void **link)
{
    *link = NULL;
    return 0;
}

int nvJitLinkAddData(void *link, int type, const void *data, size_t bytes)
{
    printf("%sinput of type %d\n", (char *)link, type);
    return memchr(data, '!', bytes) ? 5 : 0;
}

int nvJitLinkComplete(void *link)
{
    return link == said ? 0 : 6;
}

int nvJitLinkGetLinkedPtxSize(void *link, size_t *bytes)
{
    *bytes = sizeof ptx;
    return link == said ? 0 : 6;
}

int nvJitLinkGetLinkedPtx(void *link, char *text)
{
    memcpy(text, ptx, sizeof ptx);
    return link == said ? 0 : 6;
}

int nvJitLinkGetErrorLogSize(void *link, size_t *bytes)
{
    *bytes = link == said ? sizeof "bad code\n" : 0;
    return 0;
}

int nvJitLinkGetErrorLog(void *link, char *text)
{
    strcpy(text, link == said ? "bad code\n" : "");
    return 0;
}
