/* SPDX-License-Identifier: Apache-2.0
 *
 * Examination of the program to start: damaged files, and the list for LD_LIBRARY_PATH.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/launch_env.h"
#include "tools/target_program.h"

static struct pxr_error err;
static struct target target;

static void expect_path(const char *first, const char *old, const char *last, const char *expected)
{
    char *path = launch_library_path(first, old, last);
    cr_expect_str_eq(path, expected);
    free(path);
}

Test(launch, library_path_has_first_old_last)
{
    expect_path("/p", NULL, NULL, "/p");
    expect_path("/p", "", "/c", "/p:/c");
    expect_path("/p", "/a:/b", NULL, "/p:/a:/b");
    expect_path("/p", "/a:/b", "/c", "/p:/a:/b:/c");
}

Test(launch, library_path_does_not_grow_when_nested)
{
    expect_path("/p", "/p:/a:/c", "/c", "/p:/a:/c");
    expect_path("/p", "/p", "/c", "/p:/c");
}

Test(launch, library_path_keeps_similar_directories_and_empty_items)
{
    expect_path("/p", "/pp:/p/x:/P", NULL, "/p:/pp:/p/x:/P");
    expect_path("/p", ":/a:", NULL, "/p::/a:");
}

Test(target, names_without_slash_are_searched_in_path)
{
    char *path;
    cr_assert_eq(target_find("sh", &path, &err), PXR_OK, "%s", err.message);
    cr_expect_neq(path[0], 0);
    free(path);
    cr_expect_eq(target_find("no such program", &path, &err), PXR_NOT_FOUND);
    cr_expect_eq(target_find("", &path, &err), PXR_NOT_FOUND);
    setenv("PATH", "", 1);
    cr_expect_eq(target_find("sh", &path, &err), PXR_NOT_FOUND);
}

/* The bytes of an executable, in a file that can be cut and changed. */
static char copy_path[64];

static size_t copy_executable(const char *path, int *fd)
{
    FILE *source = fopen(path, "rb");
    cr_assert_not_null(source);
    *fd = memfd_create("target", MFD_CLOEXEC);
    snprintf(copy_path, sizeof copy_path, "/proc/self/fd/%d", *fd);
    char buffer[4096];
    size_t total = 0;
    for (size_t len; (len = fread(buffer, 1, sizeof buffer, source)) > 0; total += len)
        cr_assert_eq(write(*fd, buffer, len), (ssize_t)len);
    fclose(source);
    cr_assert_eq(fchmod(*fd, 0700), 0);
    return total;
}

static void inspect_copy(void)
{
    if (target_inspect(copy_path, FIXTURES, &target, &err) != PXR_OK)
        cr_expect_neq(err.message[0], 0);
    target_fini(&target);
}

Test(target, damaged_programs_never_crash, .timeout = 60)
{
    int fd;
    size_t len = copy_executable(FIXTURES "/sm_80.exe", &fd);
    inspect_copy();
    for (size_t at = 0; at < len; at += 3) {
        unsigned char byte;
        cr_assert_eq(pread(fd, &byte, 1, (off_t)at), 1);
        unsigned char flipped = (unsigned char)(byte ^ (1u << (at % 8)));
        cr_assert_eq(pwrite(fd, &flipped, 1, (off_t)at), 1);
        inspect_copy();
        cr_assert_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
    }
    for (size_t at = len; at > 8; at -= 8) {
        cr_assert_eq(ftruncate(fd, (off_t)at), 0);
        inspect_copy();
    }
    close(fd);
}

Test(target, shared_cudart_that_is_nowhere_is_noticed)
{
    int fd;
    size_t len = copy_executable(FIXTURES "/sm_80.exe", &fd);
    char *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(bytes, MAP_FAILED);
    char *needed = memmem(bytes, len, "libcudart.so.13", 15);
    cr_assert_not_null(needed);
    memcpy(needed, "libcudart.so.99", 15); // which no machine has
    cr_assert_eq(target_inspect(copy_path, NULL, &target, &err), PXR_OK, "%s", err.message);
    cr_expect(target.lacks_cudart);
    cr_assert_not_null(target.warning);
    cr_expect_not_null(strstr(target.warning, "libcudart.so.99"), "%s", target.warning);
    target_fini(&target);
    memcpy(needed, "libcudart.so.12", 15); // which comes with ptxrun
    cr_assert_eq(target_inspect(copy_path, NULL, &target, &err), PXR_OK, "%s", err.message);
    cr_expect_null(target.warning);
    target_fini(&target);
    munmap(bytes, len);
    close(fd);
}

Test(target, libcudart_of_an_older_toolkit_is_noticed_by_its_name)
{
    int fd;
    size_t len = copy_executable(FIXTURES "/sm_80.exe", &fd);
    char *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(bytes, MAP_FAILED);
    char *needed = memmem(bytes, len, "libcudart.so.13", 15);
    cr_assert_not_null(needed);
    cr_assert_eq(target_inspect(copy_path, NULL, &target, &err), PXR_OK, "%s", err.message);
    cr_expect_not(target.lacks_older[0]); // it names another one
    target_fini(&target);
    memcpy(needed, "libcudart.so.12", 15);
    cr_assert_eq(target_inspect(copy_path, NULL, &target, &err), PXR_OK, "%s", err.message);
    cr_expect_eq(target.lacks_older[0], target.lacks_cudart); // the machine may have one
    cr_expect_not(target.lacks_older[1]);
    target_fini(&target);
    munmap(bytes, len);
    close(fd);
}

Test(target, scripts_are_followed_to_their_interpreter)
{
    int fd = memfd_create("script", 0);
    snprintf(copy_path, sizeof copy_path, "/proc/self/fd/%d", fd);
    dprintf(fd, "#! /no/such/interpreter -x\n");
    fchmod(fd, 0700);
    cr_expect_eq(target_inspect(copy_path, NULL, &target, &err), PXR_IO);
    cr_expect_not_null(strstr(err.message, "'/no/such/interpreter'"), "%s", err.message);
    target_fini(&target);
    close(fd);
}
