/* SPDX-License-Identifier: Apache-2.0
 *
 * A program linked with NVTX 2. Exit status 0: everything answered as without a profiler.
 */
#include <stddef.h>
#include <stdint.h>

struct attributes {
    uint16_t version;
    uint16_t size;
    uint32_t unused[5];
    uint64_t payload;
    int32_t message_type;
    const char *message;
};

void nvtxMarkA(const char *text);
int nvtxRangePushA(const char *text);
int nvtxRangePushEx(const struct attributes *attributes);
int nvtxRangePop(void);
uint64_t nvtxRangeStartA(const char *text);
void nvtxRangeEnd(uint64_t id);
void *nvtxDomainCreateA(const char *name);
void nvtxDomainMarkEx(void *domain, const struct attributes *attributes);
void nvtxNameOsThreadA(uint32_t thread, const char *name);

int main(void)
{
    struct attributes attributes = {.version = 2,
                                    .size = sizeof attributes,
                                    .message_type = 1,
                                    .message = "a range with attributes"};
    int failures = 0;
    nvtxNameOsThreadA(1, "main");
    nvtxMarkA("a mark");
    failures += nvtxRangePushA("a range") != -2;
    failures += nvtxRangePushEx(&attributes) != -2;
    failures += nvtxRangePop() != -2;
    failures += nvtxRangePop() != -2;
    nvtxRangeEnd(nvtxRangeStartA("another range"));
    void *domain = nvtxDomainCreateA("domain");
    attributes.message_type = 2; /* wide characters are not shown */
    nvtxDomainMarkEx(domain, &attributes);
    return failures;
}
