/* SPDX-License-Identifier: Apache-2.0
 *
 * Running commands, and what is read of them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tools/bench/command.h"
#include "tools/bench/explanations.h"
#include "tools/bench/outputs.h"
#include "tools/bench/stats_file.h"

static struct process_outcome run_shell(const char *text, struct process_wish wish)
{
    char *command[] = {"sh", "-c", (char *)text, NULL};
    struct process_outcome outcome;
    wish.command = command;
    process_run(&wish, &outcome);
    return outcome;
}

static void expect_text(const struct process_outcome *outcome, const char *expected)
{
    char text[PROCESS_TEXT_BYTES];
    process_end_text(outcome, text);
    cr_expect_str_eq(text, expected);
}

Test(process, how_commands_end)
{
    struct process_outcome outcome = run_shell("exit 3", (struct process_wish){.limit_s = 60});
    expect_text(&outcome, "exit status 3");
    outcome = run_shell("kill -SEGV $$", (struct process_wish){.limit_s = 60});
    expect_text(&outcome, "ended by signal 11 (Segmentation fault)");
    cr_expect_eq(outcome.code, SIGSEGV);
}

/* R, S and so on; X: it is gone. */
static char state_of(int process)
{
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d %*s %c", &state) != 1)
        state = 'X';
    if (file)
        fclose(file);
    return state;
}

Test(process, the_limit_ends_a_command_and_what_it_started)
{
    char path[] = "/tmp/test_process-XXXXXX";
    close(mkstemp(path));
    // Neither may be deaf to it.
    struct process_outcome outcome =
        run_shell("trap '' TERM ALRM; sleep 1000 & echo $!; sleep 1000",
                  (struct process_wish){.limit_s = 1, .out_file = path});
    expect_text(&outcome, "ended by the time limit");
    cr_expect_geq(outcome.wall_ms, 1000);
    struct output said = output_read(path);
    int child = 0;
    cr_assert(said.size > 0 && said.size < 20);
    said.text[said.size - 1] = '\0';
    cr_assert_eq(sscanf(said.text, "%d", &child), 1);
    // It is gone, or nobody has asked for its status yet, once it has had a CPU to end on.
    for (int i = 0; i < 1000 && !strchr("XZ", state_of(child)); i++)
        usleep(10000);
    cr_expect(strchr("XZ", state_of(child)), "the child is %c", state_of(child));
    output_free(&said);
    unlink(path);
}

Test(process, folder_variables_and_streams)
{
    char path[] = "/tmp/test_process-XXXXXX";
    close(mkstemp(path));
    char *variables[] = {"ONE=1", "TWO=two words", NULL};
    run_shell("cat; pwd; echo \"$ONE $TWO\"; echo error >&2",
              (struct process_wish){
                  .limit_s = 60, .folder = "/", .variables = variables, .out_file = path});
    struct output said = output_read(path);
    cr_expect_eq(said.size, strlen("/\n1 two words\n"));
    cr_expect_str_eq(said.text, "/\n1 two words\n");
    output_free(&said);
    unlink(path);
}

Test(process, no_output_is_empty)
{
    struct output said = output_read("/no/such/file");
    cr_expect_eq(said.size, 0);
    cr_expect_str_eq(said.text, "");
    output_free(&said);
}

Test(stats_file, fields_of_a_line)
{
    struct stats_line read;
    char line[] = "3\t1500\t400\t700\t90000\tvector 16x4\t_Z5scalePfi\n";
    cr_assert(stats_line_read(line, &read));
    cr_expect(read.calls == 3 && read.total_ns == 1500 && read.shortest_ns == 400);
    cr_expect_eq(read.compile_ns, 90000);
    cr_expect_str_eq(read.collapse, "vector 16x4");
    cr_expect_str_eq(read.name, "_Z5scalePfi");
    char empty[] = "0\t0\t0\t0\t0\t\tscale\n";
    cr_assert(stats_line_read(empty, &read));
    cr_expect_str_eq(read.collapse, "");
    cr_expect_str_eq(read.name, "scale");
    char wrong[] = "3\t1500\n";
    cr_expect_not(stats_line_read(wrong, &read));
}

Test(explanations, each_kernel_has_its_own_lines)
{
    static const char text[] = "the program's own\n"
                               "ptxrun: kernel 'f(int)': loops.\n"
                               "ptxrun:   compiled in 3 ms\n"
                               "more of the program\n"
                               "ptxrun: kernel 'f(int, int)': warp by warp\n"
                               "ptxrun:   lines 3-4\n"
                               "ptxrun: warning\n"
                               "ptxrun:   of it\n"
                               "ptxrun: kernel 'f(int)':\n"
                               "ptxrun:   again";
    char *one = explanation_of(text, "f(int)");
    cr_expect_str_eq(one,
                     "kernel 'f(int)': loops.\n  compiled in 3 ms\nkernel 'f(int)':\n  again\n");
    cr_expect_not(explanation_has_warps(one));
    free(one);
    char *other = explanation_of(text, "f(int, int)");
    cr_expect_str_eq(other, "kernel 'f(int, int)': warp by warp\n  lines 3-4\n");
    cr_expect(explanation_has_warps(other));
    free(other);
    char *none = explanation_of(text, "f");
    cr_expect_str_eq(none, "");
    free(none);
}
