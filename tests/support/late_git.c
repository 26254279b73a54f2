/* SPDX-License-Identifier: Apache-2.0
 *
 * In the place of libgit2, with which Criterion prints the difference of two long texts: loads it
 * when it has to. Only three of its functions are called.
 */
#include <dlfcn.h>
#include <stddef.h>

struct git_diff_options;
typedef int callback(void);

int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(const void *old_buffer, size_t old_len, const char *old_path,
                     const void *new_buffer, size_t new_len, const char *new_path,
                     const struct git_diff_options *options, callback *on_file, callback *on_binary,
                     callback *on_hunk, callback *on_line, void *payload);

int git_libgit2_init(void)
{
    return 1;
}

int git_libgit2_shutdown(void)
{
    return 0;
}

int git_diff_buffers(const void *old_buffer, size_t old_len, const char *old_path,
                     const void *new_buffer, size_t new_len, const char *new_path,
                     const struct git_diff_options *options, callback *on_file, callback *on_binary,
                     callback *on_hunk, callback *on_line, void *payload)
{
    /* By its path: by its name it would be this library. */
    void *library = dlopen(LIBGIT2, RTLD_NOW | RTLD_LOCAL);
    int (*init)(void) = library ? (int (*)(void))dlsym(library, "git_libgit2_init") : NULL;
    __typeof__(&git_diff_buffers) diff =
        library ? (__typeof__(&git_diff_buffers))dlsym(library, "git_diff_buffers") : NULL;
    if (!init || !diff || init() < 0)
        return -1;
    return diff(old_buffer, old_len, old_path, new_buffer, new_len, new_path, options, on_file,
                on_binary, on_hunk, on_line, payload);
}
