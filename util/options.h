/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of ptxrun and the PTXRUN_* variables, both made from options.def.
 * Precedence: command line (which the wrapper turns into variables), PTXRUN_*, default.
 */
#ifndef PTXRUN_UTIL_OPTIONS_H
#define PTXRUN_UTIL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum pxr_option_type {
    PXR_OPTION_FLAG,
    PXR_OPTION_UINT,
    PXR_OPTION_SIZE,
    PXR_OPTION_TEXT,
    PXR_OPTION_CHOICE,
    PXR_OPTION_LIST,
    PXR_OPTION_LEVEL,
    PXR_OPTION_SET
};

enum pxr_option_id {
#define OPTION(ID, name, type, field, default_text, metavar, help) PXR_OPTION_##ID,
#include "util/options.def"
#undef OPTION
    PXR_OPTION_COUNT
};

struct pxr_option_info {
    const char *name;     /* "threads": the command line says --threads */
    const char *variable; /* "PTXRUN_THREADS" */
    enum pxr_option_type type;
    const char *default_text;
    const char
        *metavar; /* for CHOICE, LIST, LEVEL and SET: the '|'-separated choices; for UINT: "N",
                     or the '|'-separated numbers and ranges LOW-HIGH that are allowed */
    const char *help;
};

extern const struct pxr_option_info pxr_option_table[PXR_OPTION_COUNT];

#define PXR_OPTION_FIELD_FLAG   bool
#define PXR_OPTION_FIELD_UINT   unsigned
#define PXR_OPTION_FIELD_SIZE   size_t
#define PXR_OPTION_FIELD_TEXT   const char *
#define PXR_OPTION_FIELD_CHOICE unsigned
#define PXR_OPTION_FIELD_LIST   const char *
#define PXR_OPTION_FIELD_LEVEL  unsigned
#define PXR_OPTION_FIELD_SET    unsigned

/* Values of all options. TEXT and LIST fields point into the environment or at literals. */
struct pxr_options {
#define OPTION(ID, name, type, field, default_text, metavar, help) PXR_OPTION_FIELD_##type field;
#include "util/options.def"
#undef OPTION
};

enum pxr_collapse {
    PXR_COLLAPSE_AUTO,
    PXR_COLLAPSE_PRECISE,
    PXR_COLLAPSE_FLAT,
    PXR_COLLAPSE_HIERARCHICAL,
    PXR_COLLAPSE_VECTOR, /* flat or hierarchical, with loops over vectors of threads */
    PXR_COLLAPSE_COUNT
};
enum pxr_cache { PXR_CACHE_AUTO, PXR_CACHE_ON, PXR_CACHE_OFF };
enum pxr_mode { PXR_MODE_AUTO, PXR_MODE_JIT, PXR_MODE_NORMAL };
enum pxr_tier { PXR_TIER_AUTO, PXR_TIER_QUICK, PXR_TIER_BEST };
enum pxr_matrix { PXR_MATRIX_EXACT, PXR_MATRIX_FAST };
enum pxr_choose { PXR_CHOOSE_MEASURE, PXR_CHOOSE_ESTIMATE };
enum pxr_check {
    PXR_CHECK_MEMORY,
    PXR_CHECK_RACE,
    PXR_CHECK_SYNC,
    PXR_CHECK_INIT,
    PXR_CHECK_NUMBERS,
    PXR_CHECK_API,
    PXR_CHECK_DEVICE,
    PXR_CHECK_DEVICE_NAMED,
    PXR_CHECK_ALL
};
enum pxr_numa { PXR_NUMA_FIRST_TOUCH, PXR_NUMA_INTERLEAVE };
enum pxr_loader { PXR_LOADER_AUTO, PXR_LOADER_ORC, PXR_LOADER_OWN };
enum pxr_debug { PXR_DEBUG_NONE, PXR_DEBUG_GDB, PXR_DEBUG_GDB_PTX };
enum pxr_profile { PXR_PROFILE_NONE, PXR_PROFILE_PERF };
enum pxr_check_style { PXR_CHECK_STYLE_PTXRUN, PXR_CHECK_STYLE_SANITIZER };
enum pxr_check_demangle {
    PXR_CHECK_DEMANGLE_FULL,
    PXR_CHECK_DEMANGLE_SIMPLE,
    PXR_CHECK_DEMANGLE_NO
};
enum pxr_check_backtrace { PXR_CHECK_BACKTRACE_YES, PXR_CHECK_BACKTRACE_NO };
enum pxr_explain { PXR_EXPLAIN_NOTHING, PXR_EXPLAIN_SHORT, PXR_EXPLAIN_FULL };

/* "flat", as --collapse has it. */
const char *pxr_collapse_name(enum pxr_collapse collapse);

/* Whether threads become loops, of which a block is one call. */
bool pxr_collapse_is_fused(enum pxr_collapse collapse);

/* The outcome for a kernel, for people: "flat"; "vector 16x4" for vectors of 16 threads, four side
 * by side. */
#define PXR_COLLAPSE_TEXT_BYTES 32
void pxr_collapse_text(enum pxr_collapse collapse, uint32_t width, uint32_t jam,
                       char text[PXR_COLLAPSE_TEXT_BYTES]);

/* Whether the command line may give the option without a value, which then is "1". */
bool pxr_option_is_switch(enum pxr_option_id id);

/* Whether text is a legal value for the option; says why not in *err. */
enum pxr_status pxr_option_check(enum pxr_option_id id, const char *text, struct pxr_error *err);

/* The option with this command-line name (len bytes, without the dashes), or PXR_OPTION_COUNT. */
enum pxr_option_id pxr_option_find(const char *name, size_t len);

/* The process's options, read from the environment at the first call and constant from then on.
 * An illegal value is logged and replaced by the default. Thread-safe. */
const struct pxr_options *pxr_options_get(void);

/* Reads one option of type TEXT only, for a library that needs no other and leaves messages about
 * values to libptxrun.so. */
const char *pxr_option_text(enum pxr_option_id id);

/* Whether --check asks for it. */
bool pxr_option_checks(enum pxr_check what);

/* Which choice of --compute-capability --check=device:sm_… means, never 0 (auto); -1: it names
 * none. */
int pxr_option_checked_device(void);

/* The CPU that code is made for; "": the machine's own, also if it was asked for as "native". */
const char *pxr_option_cpu(void);

/* Whether a comma-separated list (such as the dump option) contains word. */
bool pxr_list_contains(const char *list, const char *word);

#endif
