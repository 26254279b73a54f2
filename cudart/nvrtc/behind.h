/* SPDX-License-Identifier: Apache-2.0
 *
 * The library that is installed and has the name of one of ours, so that it has to be opened by its
 * path.
 */
#ifndef PTXRUN_CUDART_NVRTC_BEHIND_H
#define PTXRUN_CUDART_NVRTC_BEHIND_H

#include <pthread.h>
#include <stdbool.h>

struct behind {
    const char *const *names; /* the one that the program asked for, others, NULL */
    const char *missing;      /* the line that says that there is none */
    pthread_mutex_t lock;     /* guards what follows */
    void *opened;
    bool was_searched;
};

/* The function of this name in it; NULL if there is none, or no such library: then one line says
 * so. caller: an address in whoever calls, whose own search path is looked at too. */
void *behind_find(struct behind *behind, const char *function, const void *caller);

#endif
