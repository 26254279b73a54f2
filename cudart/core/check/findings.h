/* SPDX-License-Identifier: Apache-2.0
 *
 * What --check has found: each place in a kernel or of the program once, with a count. It is told
 * at once on standard error, and at exit in a report for programs (--check-report), if one is asked
 * for; the program's exit code then says so, too. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_FINDINGS_H
#define PTXRUN_CUDART_CORE_CHECK_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum crt_finding_kind {
#define FINDING(ID, rule, title, help) CRT_FINDING_##ID,
#include "cudart/core/check/findings.def"
#undef FINDING
    CRT_FINDING_KINDS
};

struct crt_finding_info {
    const char *rule;
    const char *title;
    const char *help;
};
extern const struct crt_finding_info crt_finding_table[CRT_FINDING_KINDS];

/* One occurrence. Texts are the caller's; NULL: not known. */
struct crt_finding {
    enum crt_finding_kind kind;
    const char *kernel;   /* as the program has it; NULL: the host has done it */
    const char *call;     /* then: functions of the host that have led there, a line each */
    const char *function; /* and the API function, a literal or a text of a library's */
    const char *access;   /* "write of 4 bytes to global memory" */
    const char *where;    /* what the address is, as a sentence without its dot */
    const char
        *frames;     /* functions of the host that have made the object, or freed it, a line each */
    const char *ptx; /* the name of the PTX */
    const char *file; /* of the source, if the PTX names it */
    uint32_t ptx_line;
    uint32_t line; /* of the source */
    uint32_t block[3];
    uint32_t thread[3];
    /* For programs; literals, and numbers that are 0 where they mean nothing. */
    const char *verb;  /* "read", "write", "atomic" */
    const char *space; /* "global", "shared" */
    uint64_t address;
    uint64_t bytes;
    uint64_t block_base; /* of the allocation that is meant */
    uint64_t block_bytes;
    bool is_refused; /* the API function has returned CUDA_ERROR_INVALID_VALUE */
};

/* Whether --check asks for anything; for what. */
bool crt_check_is_on(void);
bool crt_checks_memory(void);
bool crt_checks_races(void);
bool crt_checks_meetings(void);
bool crt_checks_written(void);
bool crt_checks_numbers(void);
bool crt_checks_api(void);
bool crt_checks_device(void);

/* Counts the occurrence if its place is known, by kind, kernel, PTX and line, or calls: then
 * nothing else of it is needed. */
bool crt_finding_again(const struct crt_finding *finding);

/* Counts the occurrence; if it is the first at its place in the kernel, keeps and prints it. */
void crt_finding_add(const struct crt_finding *finding);

/* ---- for reports ---- */

/* A place, with its first occurrence. */
struct crt_found {
    struct crt_finding first;
    char *readable; /* the name of the kernel as its source has it; NULL: not known, or no kernel */
    uint64_t count;
    uint64_t bytes; /* in sum */
    bool is_hidden; /* it does not count: of no interest, or suppressed */
    bool is_suppressed;
};

/* The places that count, in the order in which they were found. Nothing is found any more. */
const struct crt_found *crt_findings(size_t *count);

/* Occurrences that are suppressed. */
uint64_t crt_findings_suppressed(void);

#endif
