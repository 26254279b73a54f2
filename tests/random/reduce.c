/* SPDX-License-Identifier: Apache-2.0
 *
 * Delta debugging on lines. The oracle refuses candidates that are no program any more or have
 * races (its two schedules disagree), so candidates need not be sensible.
 */
#include "tests/random/reduce.h"

#include <ctype.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK_SECONDS 20
#define STATUS_KILLED 256

extern char **environ;

/* ---- checks ---- */

static int wait_for(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    int status;
    for (int turn = 0; turn < CHECK_SECONDS * 500; turn++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_KILLED + WTERMSIG(status);
        nanosleep(&pause, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return STATUS_KILLED;
}

int reducer_check(struct reducer *reducer, const char *bytes, size_t len)
{
    char check[] = "--check";
    char backend[] = "--backend";
    char *arguments[] = {(char *)reducer->program,   backend, (char *)reducer->backend, check,
                         (char *)reducer->candidate, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (reducer->judge) {
        reducer->checks++;
        return reducer->judge(bytes);
    }
    if (!text_write_file(bytes, len, reducer->candidate))
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int failed = posix_spawn(&child, reducer->program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    reducer->checks++;
    return failed ? -1 : wait_for(child);
}

/* Takes the candidate in place of *text if it still tells them apart. */
static bool accept(struct reducer *reducer, struct text *text, struct text *candidate)
{
    bool is_good = reducer->checks < reducer->max_checks &&
                   reducer_check(reducer, candidate->bytes, candidate->len) == reducer->wanted;
    if (is_good) {
        text_fini(text);
        *text = *candidate;
        *candidate = (struct text){0};
    }
    text_fini(candidate);
    return is_good;
}

/* ---- lines ---- */

struct line {
    const char *at;
    size_t len; /* with its end */
};

struct lines {
    struct line *items;
    size_t count;
};

static struct lines split(const struct text *text)
{
    struct lines lines = {0};
    size_t total = 1;
    for (size_t n = 0; n < text->len; n++)
        total += text->bytes[n] == '\n';
    lines.items = calloc(total, sizeof *lines.items);
    for (const char *at = text->bytes; lines.items && *at;) {
        size_t len = strcspn(at, "\n");
        len += at[len] == '\n';
        lines.items[lines.count++] = (struct line){at, len};
        at += len;
    }
    return lines;
}

static bool starts_with(struct line line, const char *start)
{
    return line.len >= strlen(start) && strncmp(line.at, start, strlen(start)) == 0;
}

/* Comments that describe the case must stay; those that mark constructs need not. */
static bool is_fixed(struct line line)
{
    return starts_with(line, "//") && !starts_with(line, "//<") && !starts_with(line, "//>");
}

/* Tries the text without lines first … last - 1. */
static bool try_without(struct reducer *reducer, struct text *text, const struct lines *lines,
                        size_t first, size_t last)
{
    struct text candidate = {0};
    bool is_smaller = false;
    for (size_t n = 0; n < lines->count; n++) {
        if (n < first || n >= last || is_fixed(lines->items[n]))
            text_add_bytes(&candidate, lines->items[n].at, lines->items[n].len);
        else
            is_smaller = true;
    }
    if (is_smaller)
        return accept(reducer, text, &candidate);
    text_fini(&candidate);
    return false;
}

/* ---- passes: each says whether it found something ---- */

/* The line behind the construct that begins at `first`. */
static size_t construct_end(const struct lines *lines, size_t first)
{
    bool is_function = starts_with(lines->items[first], ".func");
    size_t depth = 0;
    for (size_t n = first; n < lines->count; n++) {
        if (is_function && starts_with(lines->items[n], "}"))
            return n + 1;
        if (is_function)
            continue;
        depth += starts_with(lines->items[n], "//<");
        depth -= starts_with(lines->items[n], "//>");
        if (depth == 0)
            return n + 1;
    }
    return lines->count;
}

/* Whole functions and statements, the outer ones before those inside. */
static bool drop_constructs(struct reducer *reducer, struct text *text)
{
    bool found = false;
    for (size_t at = 0;;) {
        struct lines lines = split(text);
        while (at < lines.count && !starts_with(lines.items[at], "//<") &&
               !starts_with(lines.items[at], ".func"))
            at++;
        bool is_over = at >= lines.count;
        bool is_gone =
            !is_over && try_without(reducer, text, &lines, at, construct_end(&lines, at));
        free(lines.items);
        if (is_over)
            return found;
        found |= is_gone;
        at += !is_gone;
    }
}

static bool drop_lines(struct reducer *reducer, struct text *text)
{
    bool found = false;
    size_t size = 64;
    while (size) {
        for (size_t at = 0;;) {
            struct lines lines = split(text);
            bool is_over = at >= lines.count;
            bool is_gone = !is_over && try_without(reducer, text, &lines, at, at + size);
            free(lines.items);
            if (is_over)
                break;
            found |= is_gone;
            at += is_gone ? 0 : size;
        }
        size /= 2;
    }
    return found;
}

static bool replace(struct reducer *reducer, struct text *text, size_t at, size_t len,
                    const char *by)
{
    struct text candidate = {0};
    text_add_bytes(&candidate, text->bytes, at);
    text_add_bytes(&candidate, by, strlen(by));
    text_add_bytes(&candidate, text->bytes + at + len, text->len - at - len);
    return accept(reducer, text, &candidate);
}

/* The launch line's dimensions become 1, or else 32. */
static bool shrink_launch(struct reducer *reducer, struct text *text)
{
    bool found = false;
    const char *launch = strstr(text->bytes, "// launch:");
    size_t at = launch ? (size_t)(launch - text->bytes) : text->len;
    for (; at < text->len && text->bytes[at] != '\n'; at++) {
        size_t len = strspn(text->bytes + at, "0123456789");
        if (!len || (len == 1 && text->bytes[at] == '1'))
            continue;
        if (replace(reducer, text, at, len, "1") ||
            (strncmp(text->bytes + at, "32", len) != 0 && replace(reducer, text, at, len, "32")))
            found = true;
        at += strspn(text->bytes + at, "0123456789");
    }
    return found;
}

static bool is_number_at(const char *bytes, size_t at)
{
    char before = at ? bytes[at - 1] : ' ';
    return isdigit((unsigned char)bytes[at]) && (before == ' ' || before == '+' || before == '-');
}

/* Constants become 0 or 1, guards go. */
static bool simplify_operands(struct reducer *reducer, struct text *text)
{
    bool found = false;
    const char *body = strstr(text->bytes, "\n{\n");
    for (size_t at = body ? (size_t)(body - text->bytes) : text->len; at < text->len; at++) {
        const char *here = text->bytes + at;
        if (*here == '@') {
            size_t len = strcspn(here, " ") + 1;
            bool is_branch = strncmp(here + len, "bra", 3) == 0;
            found |= !is_branch && replace(reducer, text, at, len, "");
        } else if (is_number_at(text->bytes, at)) {
            size_t len = strspn(here, "0123456789abcdefxABCDEF");
            bool is_small = len == 1 && *here <= '1';
            if (!is_small &&
                (replace(reducer, text, at, len, "0") || replace(reducer, text, at, len, "1")))
                found = true;
            at += strspn(text->bytes + at, "0123456789abcdefxABCDEF");
        }
    }
    return found;
}

void reduce_text(struct reducer *reducer, struct text *text)
{
    bool found = true;
    while (found && reducer->checks < reducer->max_checks) {
        found = drop_constructs(reducer, text);
        found |= shrink_launch(reducer, text);
        found |= drop_lines(reducer, text);
        if (!found)
            found = simplify_operands(reducer, text);
    }
    remove(reducer->candidate);
}
