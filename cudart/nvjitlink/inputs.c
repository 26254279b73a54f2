/* SPDX-License-Identifier: Apache-2.0
 *
 * The inputs of a link: what each is, and whether its PTX is right. What has only code for
 * link-time optimisation is the toolkit's library's.
 */
#include "cudart/nvjitlink/nvjitlink.h"
#include "ptx/elf.h"
#include "ptx/image.h"
#include "ptx/source.h"
#include "ptx/text.h"

#define LINK_TIME_MAGIC UINT32_C(0x7f4e43ed)

static enum nvjitlink_input_type recognise(struct ptx_span input)
{
    uint32_t magic = 0;
    memcpy(&magic, input.ptr, input.len < sizeof magic ? input.len : sizeof magic);
    if (magic == LINK_TIME_MAGIC)
        return NVJITLINK_INPUT_LTOIR;
    if (magic == PTX_FATBIN_MAGIC)
        return NVJITLINK_INPUT_FATBIN;
    if (ptx_cubin_arch(input) != 0)
        return NVJITLINK_INPUT_CUBIN;
    enum ptx_elf_type elf = ptx_elf_type(input);
    if (elf != PTX_ELF_NONE)
        return elf == PTX_ELF_ARCHIVE ? NVJITLINK_INPUT_LIBRARY : NVJITLINK_INPUT_OBJECT;
    if (ptx_text_read_header((struct pxr_str){(const char *)input.ptr, input.len}).is_ptx)
        return NVJITLINK_INPUT_PTX;
    return NVJITLINK_INPUT_NONE;
}

/* What the caller says of an input, against what it is. Text that is said to be PTX may be anything
 * else: the parser tells what is wrong with it. */
static enum nvjitlink_result check_type(enum nvjitlink_input_type type,
                                        enum nvjitlink_input_type found, const char *name,
                                        struct nvjitlink_log *log)
{
    static const char *const NAMES[] = {"NONE",   "CUBIN",  "PTX",     "LTOIR",
                                        "FATBIN", "OBJECT", "LIBRARY", "INDEX"};
    if (type == NVJITLINK_INPUT_ANY && found == NVJITLINK_INPUT_NONE) {
        nvjitlink_log_add(log, "unrecognized input type: %s\n", name);
        return NVJITLINK_UNRECOGNIZED_INPUT;
    }
    if (type == NVJITLINK_INPUT_ANY || type == found ||
        (type == NVJITLINK_INPUT_PTX && found == NVJITLINK_INPUT_NONE))
        return NVJITLINK_SUCCESS;
    if (type <= NVJITLINK_INPUT_NONE || type > NVJITLINK_INPUT_INDEX)
        nvjitlink_log_add(log, "unsupported input type: %s\n", name);
    else
        nvjitlink_log_add(log, "ERROR: bad input: %s does not match type NVJITLINK_INPUT_%s\n",
                          name, NAMES[type]);
    return NVJITLINK_INCORRECT_INPUT_TYPE;
}

struct check {
    const struct ptx_architecture *arch;
    const char *name; /* of a text that is the whole input */
};

/* What it calls may be in an input that comes later. */
static enum pxr_status check_text(void *user, struct pxr_str text, const char *label,
                                  struct pxr_error *err)
{
    const struct check *check = user;
    struct ptx_module *module = NULL;
    enum pxr_status status = ptx_parse(text, check->name ? check->name : label, &module, err);
    if (status == PXR_OK)
        status = ptx_architecture_check(module, check->arch, err);
    ptx_module_destroy(module);
    return status;
}

static enum pxr_status check_ptx(const struct nvjitlink *link, const struct ptx_joined *image,
                                 const char *name, bool is_text, struct pxr_error *err)
{
    struct ptx_source *source;
    struct check check = {.arch = &link->options.arch, .name = is_text ? name : NULL};
    enum pxr_status status =
        ptx_source_open(image->bytes, image->len, check.arch->number, name, &source, err);
    if (status != PXR_OK)
        return status;
    if (ptx_source_has_ptx(source))
        status = ptx_source_visit(source, check_text, &check, err);
    else
        status = pxr_fail(err, PXR_NO_PTX,
                          "%s: only machine code, which cannot be run; link the PTX", name);
    ptx_source_close(source);
    return status;
}

/* Whether an image has nothing but code for link-time optimisation. */
static bool is_link_time(const struct ptx_joined *image, const char *name)
{
    struct ptx_image_summary summary;
    return ptx_image_query(image->bytes, image->len, name, &summary, NULL) == PXR_OK &&
           summary.ptx_count == 0 && summary.lto_count > 0;
}

static enum nvjitlink_result fail(struct nvjitlink *link, enum nvjitlink_input_type type,
                                  const char *name, const struct pxr_error *err)
{
    nvjitlink_log_add(&link->errors, "error   : %s\n", err->message);
    if (type != NVJITLINK_INPUT_PTX)
        return NVJITLINK_INVALID_INPUT;
    nvjitlink_log_add(&link->errors, "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (%s)\n", name);
    return NVJITLINK_PTX_COMPILE;
}

enum nvjitlink_result nvjitlink_add(struct nvjitlink *link, enum nvjitlink_input_type type,
                                    struct ptx_span input, const char *name)
{
    enum nvjitlink_input_type found = recognise(input);
    enum nvjitlink_result result = check_type(type, found, name, &link->errors);
    if (result != NVJITLINK_SUCCESS)
        return result;
    if (found == NVJITLINK_INPUT_LTOIR)
        return nvjitlink_add_link_time(link, type, input, name);
    struct ptx_joined alone = {0};
    struct pxr_error err = {0};
    enum pxr_status status = ptx_joined_add(&alone, input, name, &err);
    bool is_for_behind = status == PXR_OK && is_link_time(&alone, name);
    if (status == PXR_OK && !is_for_behind)
        status = check_ptx(link, &alone, name, found == NVJITLINK_INPUT_PTX, &err);
    ptx_joined_fini(&alone);
    if (is_for_behind)
        return nvjitlink_add_link_time(link, type, input, name);
    if (status == PXR_OK)
        status = ptx_joined_add(&link->inputs, input, name, &err);
    return status == PXR_OK ? NVJITLINK_SUCCESS
                            : fail(link, type == NVJITLINK_INPUT_PTX ? type : found, name, &err);
}
