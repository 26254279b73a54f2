/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

#include "util/log.h"

static int heard;
static char last[100];

static void hear(enum pxr_log_level level, const char *text)
{
    heard += level == PXR_LOG_WARNING ? 100 : 1;
    snprintf(last, sizeof last, "%s", text);
}

Test(log, an_observer_hears_errors_and_warnings_whatever_is_printed, .init = cr_redirect_stderr)
{
    static const char key[] = "key";
    pxr_log_set_level(PXR_LOG_ERROR);
    pxr_log_observe(hear);
    pxr_log(PXR_LOG_WARNING, "a warning of %d", 5);
    cr_expect_eq(heard, 100);
    cr_expect_str_eq(last, "a warning of 5");
    pxr_log(PXR_LOG_ERROR, "an error");
    cr_expect_eq(heard, 101);
    pxr_log(PXR_LOG_INFO, "not for it");
    cr_expect_eq(heard, 101);
    pxr_log_once(key, "once");
    pxr_log_once(key, "once");
    cr_expect_eq(heard, 201);
    pxr_log_observe(NULL);
    pxr_log(PXR_LOG_ERROR, "alone");
    cr_expect_eq(heard, 201);
}
