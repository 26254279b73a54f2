/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX text for a batch of cases; see kernel_text.h.
 */
#include "tests/conformance/kernel_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_ALIGN 256
#define HEADER_BYTES 256
#define LOWEST_PTX   78
#define LOWEST_SM    75

unsigned conf_out_bytes(const struct conf_case *made, unsigned output)
{
    unsigned bits = made->out_bits[output];
    return bits < 8 ? 1 : bits / 8;
}

static size_t align_up(size_t value)
{
    return (value + COLUMN_ALIGN - 1) & ~(size_t)(COLUMN_ALIGN - 1);
}

void conf_layout_make(struct conf_layout *layout, const struct conf_case *cases, unsigned count,
                      size_t samples)
{
    size_t offset = HEADER_BYTES;
    for (unsigned i = 0; i < cases[0].in_count; i++) {
        layout->in_offsets[i] = offset;
        offset = align_up(offset + samples * conf_type_bytes(cases[0].in_types[i]));
    }
    layout->in_bytes = offset;
    offset = 0;
    for (unsigned c = 0; c < count; c++) {
        for (unsigned i = 0; i < cases[c].out_count; i++) {
            layout->out_offsets[c][i] = offset;
            offset = align_up(offset + samples * conf_out_bytes(&cases[c], i));
        }
    }
    layout->out_bytes = offset;
}

static void put_header(FILE *file, const struct conf_case *cases, unsigned count)
{
    unsigned ptx = LOWEST_PTX;
    unsigned sm = LOWEST_SM;
    bool needs_arch = false;
    for (unsigned i = 0; i < count; i++) {
        ptx = cases[i].ptx > ptx ? cases[i].ptx : ptx;
        sm = cases[i].sm > sm ? cases[i].sm : sm;
        needs_arch = needs_arch || cases[i].needs_arch;
    }
    fprintf(file, ".version %u.%u\n.target sm_%u%s\n.address_size 64\n", ptx / 10, ptx % 10, sm,
            needs_arch ? "a" : "");
}

static void put_inputs(FILE *file, const struct conf_case *made)
{
    for (unsigned i = 0; i < made->in_count; i++) {
        if (made->in_types[i] == PTX_TYPE_PRED)
            fprintf(file, ".reg .pred %%i%u;\n", i);
        else
            fprintf(file, ".reg .b%u %%i%u;\n", made->in_bits[i], i);
    }
}

static void put_outputs(FILE *file, const struct conf_case *made)
{
    for (unsigned i = 0; i < made->out_count; i++) {
        if (made->out_bits[i] == 1)
            fprintf(file, ".reg .pred %%o%u;\n", i);
        else
            fprintf(file, ".reg .b%u %%o%u;\n", made->out_bits[i], i);
    }
}

static unsigned count_lines(const char *text)
{
    unsigned count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

char *conf_bare_text(const struct conf_case *cases, unsigned count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    put_header(file, cases, count);
    for (unsigned i = 0; i < count; i++) {
        fprintf(file, ".visible .entry case%u()\n{\n", i);
        put_inputs(file, &cases[i]);
        put_outputs(file, &cases[i]);
        fprintf(file, "%s}\n", cases[i].body);
    }
    fclose(file);
    return text;
}

static void put_loads(FILE *file, const struct conf_case *made, const struct conf_layout *layout)
{
    for (unsigned i = 0; i < made->in_count; i++) {
        unsigned bytes = conf_type_bytes(made->in_types[i]);
        fprintf(file, "mad.wide.u32 %%address, %%index, %u, %%in;\n", bytes);
        size_t offset = layout->in_offsets[i];
        if (made->in_types[i] == PTX_TYPE_PRED)
            fprintf(file, "ld.global.u8 %%byte, [%%address+%zu];\nsetp.ne.u16 %%i%u, %%byte, 0;\n",
                    offset, i);
        else if (bytes == 1)
            fprintf(file, "ld.global.b8 %%i%u, [%%address+%zu];\n", i, offset);
        else
            fprintf(file, "ld.global.b%u %%i%u, [%%address+%zu];\n", 8 * bytes, i, offset);
    }
}

static void put_constants(FILE *file, const struct conf_inputs *inputs,
                          const struct conf_case *made, size_t sample)
{
    for (unsigned i = 0; i < inputs->in_count; i++) {
        unsigned bytes = conf_type_bytes(inputs->types[i]);
        unsigned __int128 value = conf_load(inputs->columns[i] + sample * bytes, bytes);
        unsigned long long low = (unsigned long long)value;
        if (inputs->types[i] == PTX_TYPE_PRED)
            fprintf(file, "setp.ne.u32 %%i%u, %u, 0;\n", i, (unsigned)low);
        else if (made->in_bits[i] == 8)
            fprintf(file, "cvt.u8.u32 %%i%u, 0x%llx;\n", i, low);
        else if (made->in_bits[i] == 128)
            fprintf(file, "mov.b128 %%i%u, {0x%llx, 0x%llx};\n", i, low,
                    (unsigned long long)(value >> 64));
        else
            fprintf(file, "mov.b%u %%i%u, 0x%llx;\n", made->in_bits[i], i, low);
    }
}

static void put_stores(FILE *file, const struct conf_case *made, const size_t *offsets)
{
    for (unsigned i = 0; i < made->out_count; i++) {
        unsigned bytes = conf_out_bytes(made, i);
        fprintf(file, "mad.wide.u32 %%address, %%index, %u, %%out;\n", bytes);
        if (made->out_bits[i] == 1)
            fprintf(file, "selp.u16 %%byte, 1, 0, %%o%u;\nst.global.u8 [%%address+%zu], %%byte;\n",
                    i, offsets[i]);
        else
            fprintf(file, "st.global.b%u [%%address+%zu], %%o%u;\n", 8 * bytes, offsets[i], i);
    }
}

/* A case: registers for its results, and then instructions and stores. */
static void put_begin(FILE *file, const struct conf_case *made)
{
    fputs("{\n", file);
    put_outputs(file, made);
}

static void put_end(FILE *file, const struct conf_case *made, const size_t *offsets)
{
    fputs(made->body, file);
    put_stores(file, made, offsets);
    fputs("}\n", file);
}

static const char entry[] = ".visible .entry " CONF_KERNEL "(.param .u64 p_in, .param .u64 p_out)\n"
                            "{\n"
                            ".reg .b64 %in, %out, %address;\n"
                            ".reg .b32 %index, %count, %step;\n"
                            ".reg .b16 %byte;\n"
                            ".reg .pred %done;\n"
                            "ld.param.u64 %in, [p_in];\n"
                            "ld.param.u64 %out, [p_out];\n";

static const char prologue[] = "mov.u32 %index, %ctaid.x;\n"
                               "mov.u32 %step, %ntid.x;\n"
                               "mov.u32 %count, %tid.x;\n"
                               "mad.lo.u32 %index, %index, %step, %count;\n"
                               "mov.u32 %count, %nctaid.x;\n"
                               "mul.lo.u32 %step, %step, %count;\n"
                               "ld.global.u32 %count, [%in];\n"
                               "NEXT:\n"
                               "setp.ge.u32 %done, %index, %count;\n"
                               "@%done bra END;\n";

static const char epilogue[] = "add.u32 %index, %index, %step;\n"
                               "bra NEXT;\n"
                               "END:\n"
                               "ret;\n"
                               "}\n";

static void begin_kernel(FILE *file, const struct conf_case *cases, unsigned count)
{
    put_header(file, cases, count);
    fputs(entry, file);
    put_inputs(file, &cases[0]);
}

char *conf_kernel_text(const struct conf_case *cases, unsigned count,
                       const struct conf_layout *layout, int lines[][2], uint64_t serial)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    begin_kernel(file, cases, count);
    fputs(prologue, file);
    put_loads(file, &cases[0], layout);
    for (unsigned i = 0; i < count; i++) {
        put_begin(file, &cases[i]);
        fflush(file);
        if (lines != NULL) {
            lines[i][0] = (int)count_lines(text) + 1;
            lines[i][1] = lines[i][0] + (int)count_lines(cases[i].body) - 1;
        }
        put_end(file, &cases[i], layout->out_offsets[i]);
    }
    fputs(epilogue, file);
    if (serial != 0)
        fprintf(file, "// %llu\n", (unsigned long long)serial);
    fclose(file);
    return text;
}

char *conf_known_text(const struct conf_case *cases, unsigned count,
                      const struct conf_layout *layout, const struct conf_inputs *inputs)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    begin_kernel(file, cases, count);
    for (size_t n = 0; n < inputs->count; n++) {
        fprintf(file, "mov.u32 %%index, %zu;\n", n);
        put_constants(file, inputs, &cases[0], n);
        for (unsigned i = 0; i < count; i++) {
            put_begin(file, &cases[i]);
            put_end(file, &cases[i], layout->out_offsets[i]);
        }
    }
    fputs("ret;\n}\n", file);
    fclose(file);
    return text;
}
