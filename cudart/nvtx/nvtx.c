/* SPDX-License-Identifier: Apache-2.0
 *
 * libnvToolsExt.so.1: the marks and ranges of NVTX 2, for programs linked with it. There is no
 * profiler to hear of them; with --log info their texts are written to standard error.
 */
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"
#include "util/options.h"

/* What functions that count nested ranges return when nothing is recorded. */
#define NO_TRACKING   (-2)

#define MESSAGE_ASCII 1

typedef void nothing;
typedef void *handle;

/* The event attributes, as the interface lays them out: 48 bytes. */
struct attributes {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
};

_Static_assert(offsetof(struct attributes, message_type) == 32, "as programs lay it out");
_Static_assert(offsetof(struct attributes, message) == 40, "as programs lay it out");
_Static_assert(sizeof(struct attributes) == 48, "as programs lay it out");

static void note(const char *what, const char *text)
{
    if ((enum pxr_log_level)pxr_options_get()->log >= PXR_LOG_INFO && text)
        pxr_log(PXR_LOG_INFO, "NVTX %s: %s", what, text);
}

static const char *text_of(const struct attributes *attributes)
{
    return attributes && attributes->message_type == MESSAGE_ASCII ? attributes->message : NULL;
}

#pragma GCC visibility push(default)

#define LOGGED(name)
#define NOTHING(type, name, value)                                                                 \
    type name(void);                                                                               \
    type name(void)                                                                                \
    {                                                                                              \
        return value;                                                                              \
    }
#include "cudart/nvtx/functions.def"
#undef NOTHING
#undef LOGGED

void nvtxMarkA(const char *text);
void nvtxMarkA(const char *text)
{
    note("mark", text);
}

void nvtxMarkEx(const struct attributes *attributes);
void nvtxMarkEx(const struct attributes *attributes)
{
    note("mark", text_of(attributes));
}

int nvtxRangePushA(const char *text);
int nvtxRangePushA(const char *text)
{
    note("range", text);
    return NO_TRACKING;
}

int nvtxRangePushEx(const struct attributes *attributes);
int nvtxRangePushEx(const struct attributes *attributes)
{
    note("range", text_of(attributes));
    return NO_TRACKING;
}

uint64_t nvtxRangeStartA(const char *text);
uint64_t nvtxRangeStartA(const char *text)
{
    note("range", text);
    return 0;
}

uint64_t nvtxRangeStartEx(const struct attributes *attributes);
uint64_t nvtxRangeStartEx(const struct attributes *attributes)
{
    note("range", text_of(attributes));
    return 0;
}

void nvtxDomainMarkEx(handle domain, const struct attributes *attributes);
void nvtxDomainMarkEx(handle domain, const struct attributes *attributes)
{
    (void)domain;
    note("mark", text_of(attributes));
}

int nvtxDomainRangePushEx(handle domain, const struct attributes *attributes);
int nvtxDomainRangePushEx(handle domain, const struct attributes *attributes)
{
    (void)domain;
    note("range", text_of(attributes));
    return NO_TRACKING;
}

uint64_t nvtxDomainRangeStartEx(handle domain, const struct attributes *attributes);
uint64_t nvtxDomainRangeStartEx(handle domain, const struct attributes *attributes)
{
    (void)domain;
    note("range", text_of(attributes));
    return 0;
}

#pragma GCC visibility pop
