/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels as their source has them, for people.
 */
#ifndef PTXRUN_UTIL_READABLE_NAME_H
#define PTXRUN_UTIL_READABLE_NAME_H

/* "scale(float*, int)" of "_Z5scalePfi". A name that C++ did not make, or that cannot be read,
 * comes back as it is. malloc; NULL when out of memory. Thread-safe; may load libstdc++. */
char *pxr_readable_name(const char *name);

#endif
