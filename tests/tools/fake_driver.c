/* SPDX-License-Identifier: Apache-2.0
 *
 * A library with the name of the CUDA driver that only says which of several it is.
 */
const char *which_driver(void);

const char *which_driver(void)
{
    return WHICH;
}
