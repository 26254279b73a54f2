/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/check/report_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "cudart/core/check/reports.h"
#include "util/log.h"
#include "util/options.h"

/* Each of so many places writes all of them again; later only every so-many-th. */
#define PLACES_BETWEEN 64

void crt_report_write_file(const char *name, const char *mode, crt_report_writer writer,
                           const struct crt_found *found, size_t count)
{
    FILE *file = fopen(name, mode);
    if (file)
        writer(file, found, count);
    if (!file || fclose(file) != 0)
        pxr_log(PXR_LOG_ERROR, "check: '%s' cannot be written: %s", name, strerror(errno));
}

void crt_report_write(const struct crt_found *found, size_t count)
{
    static const crt_report_writer writers[] = {crt_write_text_report, crt_write_json_report,
                                                crt_write_sarif_report, crt_write_junit_report,
                                                crt_write_sanitizer_xml};
    const struct pxr_options *options = pxr_options_get();
    if (*options->check_report)
        crt_report_write_file(options->check_report, "we", writers[options->check_format], found,
                              count);
}

/* Whether it can be written again and again: a file, or nothing yet in a folder that is there. */
static bool is_file(const char *name)
{
    struct stat status;
    if (stat(name, &status) == 0)
        return S_ISREG(status.st_mode);
    FILE *file = fopen(name, "ae");
    return file != NULL && fclose(file) == 0;
}

void crt_report_write_so_far(const struct crt_found *found, size_t count)
{
    bool is_due = count <= PLACES_BETWEEN || count % PLACES_BETWEEN == 0;
    const char *name = pxr_options_get()->check_report;
    if (is_due && *name && is_file(name))
        crt_report_write(found, count);
}
