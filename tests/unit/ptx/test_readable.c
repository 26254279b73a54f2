/* SPDX-License-Identifier: Apache-2.0
 *
 * How far memory without a length can be read.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptx/readable.h"

#define PAGE    4096u
#define PAGES   600u
#define READERS 2
#define FORKS   300

static char *map_pages(unsigned count)
{
    char *pages =
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    return pages;
}

/* As it is now. */
static size_t readable_bytes(const void *at)
{
    struct ptx_mappings mappings = {0};
    size_t bytes = ptx_readable_bytes(&mappings, at);
    ptx_mappings_forget(&mappings);
    return bytes;
}

Test(readable, ends_where_memory_cannot_be_read)
{
    char *pages = map_pages(3);
    mprotect(pages, PAGE, PROT_READ); /* a mapping of its own, without a gap */
    mprotect(pages + 2 * PAGE, PAGE, PROT_NONE);
    cr_expect_eq(readable_bytes(pages), 2 * PAGE);
    cr_expect_eq(readable_bytes(pages + 2 * PAGE - 1), 1);
    cr_expect_eq(readable_bytes(pages + 2 * PAGE), 0);
    munmap(pages, 3 * PAGE);
    cr_expect_eq(readable_bytes(pages), 0);
}

static atomic_bool is_over;
static atomic_uint wrong;

/* The stack is the last of the mappings that programs make. */
static void *read_again_and_again(void *on_stack)
{
    while (!atomic_load(&is_over))
        atomic_fetch_add(&wrong, readable_bytes(on_stack) == 0);
    return NULL;
}

Test(readable, children_that_end_do_not_disturb_who_reads, .timeout = 120)
{
    char on_stack = 0;
    char *pages = map_pages(PAGES);
    pthread_t readers[READERS];
    for (unsigned i = 0; i < PAGES; i += 2)
        mprotect(pages + i * PAGE, PAGE, PROT_READ); /* a table of many lines */
    for (int i = 0; i < READERS; i++)
        cr_assert_eq(pthread_create(&readers[i], NULL, read_again_and_again, &on_stack), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            fcloseall(); /* as exit() does */
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    cr_expect_eq(wrong, 0);
    munmap(pages, PAGES * PAGE);
}
