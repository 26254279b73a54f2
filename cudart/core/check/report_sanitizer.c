/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings in the form in which compute-sanitizer prints them, for programs and eyes that know it.
 * It names the machine instruction; here the offset is the line of the PTX.
 */
#include <inttypes.h>
#include <string.h>

#include "cudart/core/check/reports.h"
#include "util/options.h"

static const char *prefix(void)
{
    return pxr_options_get()->check_prefix;
}

/* "1,024" */
static const char *with_commas(uint64_t number, char text[32])
{
    char digits[24];
    char *to = text;
    int len = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

static void write_kernel(FILE *file, const struct crt_found *found)
{
    enum pxr_check_demangle demangle = (enum pxr_check_demangle)pxr_options_get()->check_demangle;
    const char *name = found->readable ? found->readable : found->first.kernel;
    if (demangle == PXR_CHECK_DEMANGLE_NO)
        name = found->first.kernel;
    size_t len = demangle == PXR_CHECK_DEMANGLE_SIMPLE ? strcspn(name, "(") : strlen(name);
    fwrite(name, 1, len, file);
}

static void write_frames(FILE *file, const char *when, const char *frames)
{
    if (!frames || pxr_options_get()->check_backtrace == PXR_CHECK_BACKTRACE_NO)
        return;
    fprintf(file, "%s     Saved host backtrace up to driver entry point at %s\n", prefix(), when);
    for (const char *at = frames; *at;) {
        size_t len = strcspn(at, "\n");
        fprintf(file, "%s         Host Frame: %.*s\n", prefix(), (int)len, at);
        at += len + (at[len] == '\n');
    }
}

/* How the access lies to the allocation that was meant. */
static void write_nearest(FILE *file, const struct crt_finding *finding)
{
    char size[32];
    char distance[32] = "";
    const char *relation = "inside";
    uint64_t end = finding->block_base + finding->block_bytes;
    if (finding->block_base == 0)
        return;
    if (finding->address < finding->block_base) {
        relation = " bytes before";
        with_commas(finding->block_base - finding->address, distance);
    } else if (finding->address >= end) {
        relation = " bytes after"; /* the last one */
        with_commas(finding->address - end + 1, distance);
    }
    fprintf(file, "%s     and is %s%s the nearest allocation at 0x%" PRIx64 " of size %s bytes\n",
            prefix(), distance, relation, finding->block_base,
            with_commas(finding->block_bytes, size));
}

/* A right address, at a wrong time. */
static bool is_race(const struct crt_finding *finding)
{
    return finding->kind == CRT_FINDING_SHARED_RACE || finding->kind == CRT_FINDING_GLOBAL_RACE;
}

/* A right address, of which nobody knows the contents. */
static bool is_uninitialized(const struct crt_finding *finding)
{
    return finding->kind == CRT_FINDING_UNINITIALIZED ||
           finding->kind == CRT_FINDING_SHARED_UNINITIALIZED ||
           finding->kind == CRT_FINDING_LOCAL_UNINITIALIZED;
}

static void write_title(FILE *file, const struct crt_finding *finding, bool is_access)
{
    if (is_uninitialized(finding))
        fprintf(file, "%s Uninitialized __%s__ memory %s of size %" PRIu64 " bytes\n", prefix(),
                finding->space, finding->verb, finding->bytes);
    else if (is_access)
        fprintf(file, "%s Invalid __%s__ %s of size %" PRIu64 " bytes\n", prefix(), finding->space,
                finding->verb, finding->bytes);
    else
        fprintf(file, "%s Error: %s %s\n", prefix(), finding->access,
                crt_finding_table[finding->kind].title);
}

static void write_access(FILE *file, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    bool is_access = finding->space && finding->verb && !is_race(finding);
    write_title(file, finding, is_access);
    fprintf(file, "%s     at ", prefix());
    write_kernel(file, found);
    fprintf(file, "+0x%" PRIx32, finding->ptx_line);
    if (finding->file)
        fprintf(file, " in %s:%" PRIu32, finding->file, finding->line);
    fprintf(file, "\n%s     by thread (%u,%u,%u) in block (%u,%u,%u)\n", prefix(),
            finding->thread[0], finding->thread[1], finding->thread[2], finding->block[0],
            finding->block[1], finding->block[2]);
    if (is_uninitialized(finding))
        fprintf(file, "%s     Address 0x%" PRIx64 "\n", prefix(), finding->address);
    else if (is_access)
        fprintf(file, "%s     Access to 0x%" PRIx64 " is out of bounds\n", prefix(),
                finding->address);
    write_nearest(file, finding);
    if (finding->kind != CRT_FINDING_OUT_OF_BOUNDS && finding->kind != CRT_FINDING_UNINITIALIZED)
        fprintf(file, "%s     %s\n", prefix(), finding->where);
    write_frames(file, crt_report_when(finding), finding->frames);
}

/* The runtime's functions have errors of their own. */
static void write_call(FILE *file, const struct crt_finding *finding)
{
    bool is_runtime = strncmp(finding->function, "cuda", 4) == 0;
    if (finding->is_refused)
        fprintf(file,
                "%s Program hit %s (error 1) due to \"invalid argument\" on CUDA API call to %s.\n",
                prefix(), is_runtime ? "cudaErrorInvalidValue" : "CUDA_ERROR_INVALID_VALUE",
                finding->function);
    else if (finding->kind == CRT_FINDING_API_UNINITIALIZED)
        fprintf(file,
                "%s Host API memory access error at host access to 0x%" PRIx64 " of size %" PRIu64
                " bytes\n%s     Uninitialized access at 0x%" PRIx64 " on access by %s source\n",
                prefix(), finding->address, finding->bytes, prefix(), finding->address,
                finding->function);
    else
        fprintf(file, "%s Invalid host API %s of size %" PRIu64 " bytes by %s\n", prefix(),
                finding->verb, finding->bytes, finding->function);
    fprintf(file, "%s     %s %s\n", prefix(), finding->access,
            crt_finding_table[finding->kind].title);
    fprintf(file, "%s     %s\n", prefix(), finding->where);
    write_frames(file, "error", finding->call);
}

static void write_leak(FILE *file, const struct crt_finding *finding)
{
    char size[32];
    fprintf(file, "%s Leaked %s bytes at 0x%" PRIx64 "\n", prefix(),
            with_commas(finding->bytes, size), finding->address);
    write_frames(file, "allocation time", finding->call);
}

static void write_unused(FILE *file, const struct crt_finding *finding)
{
    char size[32];
    char bytes[32];
    uint64_t offset = finding->address - finding->block_base;
    fprintf(file, "%s Unused memory in allocation 0x%" PRIx64 " of size %s bytes\n", prefix(),
            finding->block_base, with_commas(finding->block_bytes, size));
    if (finding->bytes == finding->block_bytes)
        fprintf(file, "%s     Not written any memory.\n", prefix());
    else
        fprintf(file, "%s     Not written %s bytes, the first at offset 0x%" PRIx64 "\n", prefix(),
                with_commas(finding->bytes, bytes), offset);
    fprintf(file, "%s     %" PRIu64 "%% of allocation were unused.\n", prefix(),
            100 * finding->bytes / finding->block_bytes);
    write_frames(file, "allocation time", finding->call);
}

void crt_write_sanitizer_finding(FILE *file, const struct crt_found *found)
{
    if (found->first.kernel)
        write_access(file, found);
    else if (found->first.kind == CRT_FINDING_LEAK)
        write_leak(file, &found->first);
    else if (found->first.kind == CRT_FINDING_UNUSED_MEMORY)
        write_unused(file, &found->first);
    else
        write_call(file, &found->first);
    fprintf(file, "%s\n", prefix());
}

void crt_write_sanitizer_end(FILE *file, const struct crt_found *found, size_t count,
                             size_t printed)
{
    char text[32];
    uint64_t errors = 0;
    uint64_t leaks = 0;
    uint64_t leaked = 0;
    for (size_t i = 0; i < count; i++) {
        errors += found[i].count;
        leaks += found[i].first.kind == CRT_FINDING_LEAK ? found[i].count : 0;
        leaked += found[i].first.kind == CRT_FINDING_LEAK ? found[i].bytes : 0;
    }
    if (pxr_options_get()->leak_check)
        fprintf(file, "%s LEAK SUMMARY: %s bytes leaked in %" PRIu64 " allocations\n", prefix(),
                with_commas(leaked, text), leaks);
    fprintf(file, "%s ERROR SUMMARY: %" PRIu64 " error%s\n", prefix(), errors,
            errors == 1 ? "" : "s");
    if (errors > printed)
        fprintf(file,
                "%s ERROR SUMMARY: %" PRIu64
                " errors were not printed. Use --print-limit option to "
                "adjust the number of printed errors\n",
                prefix(), errors - printed);
}
