/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of the source, of whoever called if it is code of the toolkit's.
 */
#include "cudart/core/code/finding_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"

/* Whether it is a header of the system's or of the toolkit's: people want to know who called it. */
static bool is_foreign(const struct ptx_place *place)
{
    static const char *const folders[] = {"/targets/", "/usr/include/", "/include/cccl/"};
    struct pxr_str path = place->folder.len > 0 ? place->folder : place->file;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (memmem(path.ptr, path.len, folders[i], strlen(folders[i])))
            return true;
    return false;
}

/* Compilers say of some code that it has no place (line 0): what they make of one operation, in
 * several branches. Its place is that of the code before it. */
#define LINES_WITHOUT_PLACE 16

static bool find_place(struct crt_kernel *kernel, uint32_t *ptx_line, struct ptx_place *place)
{
    for (uint32_t back = 0; back < LINES_WITHOUT_PLACE && back < *ptx_line; back++)
        if (crt_kernel_find_place(kernel, (int)(*ptx_line - back), place)) {
            *ptx_line -= back;
            return true;
        }
    return false;
}

/* False if the PTX does not tell. */
static bool find_source(struct crt_kernel *kernel, uint32_t ptx_line,
                        char file[PTX_PLACE_TEXT_BYTES], uint32_t *line)
{
    struct ptx_place place;
    struct ptx_place caller;
    if (!find_place(kernel, &ptx_line, &place))
        return false;
    unsigned depth = 1;
    while (is_foreign(&place) && crt_kernel_find_caller(kernel, (int)ptx_line, depth++, &caller))
        place = caller;
    snprintf(file, PTX_PLACE_TEXT_BYTES, "%.*s%s%.*s", PXR_STR_ARG(place.folder),
             place.folder.len > 0 ? "/" : "", PXR_STR_ARG(place.file));
    *line = place.line;
    return true;
}

void crt_name_place(struct crt_placed_finding *placed, const struct rt_thread *thread,
                    uint32_t ptx_line)
{
    const struct crt_kernel *kernel = crt_launch_of(thread->block->launch)->kernel;
    struct crt_finding *finding = &placed->finding;
    *finding = (struct crt_finding){
        .kernel = kernel->func->name, .ptx = placed->ptx, .ptx_line = ptx_line};
    snprintf(placed->ptx, sizeof placed->ptx, "%s%s", kernel->library->name,
             kernel->library->outline->source_suffix);
    for (int d = 0; d < 3; d++) {
        finding->block[d] = thread->block->ctaid[d];
        finding->thread[d] = thread->tid[d];
    }
}

void crt_find_place(struct crt_placed_finding *placed, const struct rt_thread *thread)
{
    struct crt_finding *finding = &placed->finding;
    if (find_source(crt_launch_of(thread->block->launch)->kernel, finding->ptx_line, placed->file,
                    &finding->line))
        finding->file = placed->file;
}

void crt_place_text(const struct rt_thread *thread, uint32_t ptx_line, char *text, size_t cap)
{
    crt_kernel_place_text(crt_launch_of(thread->block->launch)->kernel, ptx_line, text, cap);
}

void crt_kernel_place_text(struct crt_kernel *kernel, uint32_t ptx_line, char *text, size_t cap)
{
    char file[PTX_PLACE_TEXT_BYTES];
    uint32_t line;
    if (find_source(kernel, ptx_line, file, &line))
        snprintf(text, cap, "%s:%" PRIu32, file, line);
    else
        snprintf(text, cap, "PTX line %" PRIu32, ptx_line);
}
