/* SPDX-License-Identifier: Apache-2.0
 *
 * See nvjitlink.h. A line for which there is no memory is left out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cudart/nvjitlink/nvjitlink.h"

void nvjitlink_log_add(struct nvjitlink_log *log, const char *format, ...)
{
    va_list list;
    char *line = NULL;
    va_start(list, format);
    int len = vasprintf(&line, format, list);
    va_end(list);
    if (len < 0)
        return;
    char *longer = realloc(log->text, log->len + (size_t)len + 1);
    if (longer) {
        memcpy(longer + log->len, line, (size_t)len + 1);
        log->text = longer;
        log->len += (size_t)len;
    }
    free(line);
}
