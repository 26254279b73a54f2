/* SPDX-License-Identifier: Apache-2.0
 *
 * The only place where the libraries print. Lines go to standard error as "ptxrun: …".
 */
#ifndef PTXRUN_UTIL_LOG_H
#define PTXRUN_UTIL_LOG_H

enum pxr_log_level { PXR_LOG_ERROR, PXR_LOG_WARNING, PXR_LOG_INFO, PXR_LOG_DEBUG };

/* Messages above the level are dropped; the default is PXR_LOG_WARNING. Thread-safe. */
void pxr_log_set_level(enum pxr_log_level level);

/* Hears every error and warning, also those that the level drops, in the thread that logs; text
 * has neither prefix nor newline. One observer for the process; NULL: none. */
typedef void (*pxr_log_observer)(enum pxr_log_level level, const char *text);
void pxr_log_observe(pxr_log_observer observer);

/* One line (a trailing newline is added), written with one write(2). Thread-safe. */
void pxr_log(enum pxr_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints at PXR_LOG_WARNING the first time this key (a pointer to static storage) is seen. */
void pxr_log_once(const void *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
