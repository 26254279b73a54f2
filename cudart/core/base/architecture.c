/* SPDX-License-Identifier: Apache-2.0
 *
 * Which architecture the devices have: what --compute-capability says, or what the program needs.
 * That is the lowest capability, from 8.0 on, at which a driver finds PTX for every fat binary of
 * the executable and of the libraries it is linked with: programs ask a device for the capability
 * they were built for before they use it. Libraries that are opened later do not count.
 */
#include <link.h>
#include <pthread.h>
#include <stddef.h>

#include "cudart/core/base/device.h"
#include "ptx/file.h"
#include "util/options.h"

#define LEAST_CAPABILITY 80

static const struct crt_architecture architectures[] = {
#define ARCHITECTURE(...) {__VA_ARGS__},
#include "cudart/core/base/architectures.def"
#undef ARCHITECTURE
};

#define ARCHITECTURE_COUNT (sizeof architectures / sizeof *architectures)

static struct {
    pthread_once_t once;
    const struct crt_architecture *choice;
} chosen = {.once = PTHREAD_ONCE_INIT};

/* 0: no PTX. */
static unsigned lowest_ptx(const struct ptx_fatbin *fatbin)
{
    unsigned lowest = 0;
    for (uint32_t i = 0; i < fatbin->entry_count; i++) {
        const struct ptx_fatbin_entry *entry = &fatbin->entries[i];
        if (entry->kind == PTX_FATBIN_PTX && (lowest == 0 || entry->arch < lowest))
            lowest = entry->arch;
    }
    return lowest;
}

static int add_needs(struct dl_phdr_info *object, size_t size, void *needed)
{
    (void)size;
    unsigned *capability = needed;
    const char *path = *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
    struct ptx_file *file;
    if (ptx_file_open(path, &file, NULL) != PXR_OK)
        return 0;
    for (uint32_t i = 0; i < file->container_count; i++) {
        unsigned lowest = lowest_ptx(&file->containers[i].fatbin);
        if (lowest > *capability)
            *capability = lowest;
    }
    ptx_file_close(file);
    return 0;
}

static const struct crt_architecture *architecture_of_program(void)
{
    unsigned needed = LEAST_CAPABILITY;
    dl_iterate_phdr(add_needs, &needed);
    size_t i = 0;
    while (i + 1 < ARCHITECTURE_COUNT && (unsigned)architectures[i].capability < needed)
        i++;
    return &architectures[i];
}

/* The option's first choice is "auto", then come those of architectures.def. */
static void choose(void)
{
    unsigned choice = pxr_options_get()->compute_capability;
    chosen.choice = choice == 0 || choice > ARCHITECTURE_COUNT ? architecture_of_program()
                                                               : &architectures[choice - 1];
}

const struct crt_architecture *crt_architecture_get(void)
{
    pthread_once(&chosen.once, choose);
    return chosen.choice;
}

const struct crt_architecture *crt_architecture_checked(void)
{
    int choice = pxr_option_checked_device();
    return choice < 1 ? crt_architecture_get() : &architectures[choice - 1];
}
