/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "util/error.h"

Test(error, message_status_and_position_are_kept)
{
    struct pxr_error err;
    cr_assert_eq(pxr_fail_at(&err, PXR_BAD_PTX, 3, 7, "no '%s'", "x"), PXR_BAD_PTX);
    cr_assert_eq(err.status, PXR_BAD_PTX);
    cr_assert_eq(err.line, 3);
    cr_assert_eq(err.column, 7);
    pxr_error_prefix(&err, "file %d", 1);
    cr_assert_str_eq(err.message, "file 1: no 'x'");
    cr_assert_eq(err.line, 3);
}

Test(error, a_null_error_is_allowed)
{
    cr_assert_eq(pxr_fail(NULL, PXR_IO, "x"), PXR_IO);
    pxr_error_prefix(NULL, "x");
}

Test(error, long_messages_are_cut)
{
    struct pxr_error err;
    pxr_fail(&err, PXR_IO, "%*s", 5000, "x");
    cr_assert_eq(strlen(err.message), PXR_ERROR_MESSAGE_BYTES - 1);
    pxr_error_prefix(&err, "%*s", 5000, "y");
    cr_assert_eq(strlen(err.message), PXR_ERROR_MESSAGE_BYTES - 1);
}

Test(error, every_status_has_a_name)
{
    for (int status = 0; status < PXR_STATUS_COUNT; status++)
        cr_assert_not_null(pxr_status_name((enum pxr_status)status), "status %d", status);
    cr_assert_str_eq(pxr_status_name(PXR_STATUS_COUNT), "unknown status");
}
