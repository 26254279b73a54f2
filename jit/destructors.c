/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked into libptxrun-compile.so only: LLVM's static objects are never destroyed. The library is
 * never closed, and at the end of a process other threads may still be compiling; the objects they
 * use must stay until the process is gone.
 */

/* As the C++ ABI has it; this definition is the one that everything inside the library calls. */
int __cxa_atexit(void (*destroy)(void *), void *object, void *library);

int __cxa_atexit(void (*destroy)(void *), void *object, void *library)
{
    (void)destroy;
    (void)object;
    (void)library;
    return 0;
}
