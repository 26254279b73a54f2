/* SPDX-License-Identifier: Apache-2.0
 *
 * --stats says why a kernel was compiled in a cheaper way.
 */
#include <stdlib.h>
#include <string.h>

#include "driver_fixture.h"
#include "peer_process.h"
#include "tests/support/big_kernels.h"

/* More functions than the budget has room for. --stats is printed at exit. */
static void run_many_functions(int socket)
{
    (void)socket;
    CUmodule module;
    CUfunction function;
    CUdeviceptr words;
    setenv("PTXRUN_STATS", "1", 1);
    make_context();
    char *text = big_kernel_text(big_family_find("tree"), 700);
    PEER_OK(cuModuleLoadData(&module, text));
    PEER_OK(cuModuleGetFunction(&function, module, "big"));
    PEER_OK(cuMemAlloc_v2(&words, BIG_WORDS * sizeof(uint32_t)));
    void *params[] = {&words};
    PEER_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    PEER_OK(cuCtxSynchronize());
    free(text);
    exit(0);
}

Test(stats, names_the_limit_that_a_kernel_has_passed)
{
    FILE *printed = tmpfile();
    int errors = dup(STDERR_FILENO);
    cr_assert_not_null(printed);
    dup2(fileno(printed), STDERR_FILENO);
    struct peer peer = start_peer(run_many_functions);
    expect_peer_succeeds(&peer);
    dup2(errors, STDERR_FILENO);
    char line[512];
    bool is_said = false;
    rewind(printed);
    while (fgets(line, sizeof line, printed))
        is_said |= strstr(line, "kernel 'big': each thread of a block runs on a stack of its own "
                                "(precise) with none of the compiler's optimisations, because "
                                "compiling anything else would take too long (301 functions, at "
                                "most 300).") != NULL;
    fclose(printed);
    cr_expect(is_said);
}
