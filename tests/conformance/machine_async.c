/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates for mbarriers, and for copies that complete on them. Each thread has an object of its
 * own in its 32 bytes of shared memory, or all of the block have one together.
 */
#include <string.h>

#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

static bool has_word(const struct piece *piece, const char *word)
{
    return machine_has_word(piece->form, word);
}

static bool is_generic(const struct piece *piece)
{
    return strstr(piece->form->text, ".shared") == NULL;
}

static void declare(struct piece *piece)
{
    fputs(".reg .b64 %object, %state, %other;\n.reg .b32 %few, %count, %r;\n.reg .pred %p, %q;\n"
          "and.b32 %few, %lane, 3;\nmov.b64 %object, %shared;\n",
          piece->body);
}

/* The address of the instruction under test. */
static void put_place(struct piece *piece)
{
    fputs(".reg .b64 %a;\nmov.b64 %a, %object;\n", piece->body);
    if (is_generic(piece))
        fputs("cvta.shared.u64 %a, %a;\n", piece->body);
    if (piece->number % 2 == 1)
        fputs("sub.s64 %a, %a, 512;\n", piece->body);
}

static const char *place_text(const struct piece *piece)
{
    return piece->number % 2 == 1 ? "[%a+512]" : "[%a]";
}

static void put_init(struct piece *piece, unsigned base)
{
    fprintf(piece->body,
            "add.u32 %%count, %%few, %u;\nmbarrier.init.shared.b64 [%%object], "
            "%%count;\n",
            base);
}

/* Which phase has been completed: bit n is test_wait.parity n. */
static void put_phase(struct piece *piece, unsigned at)
{
    for (unsigned parity = 0; parity < 2; parity++)
        fprintf(piece->body,
                "mbarrier.test_wait.parity.shared.b64 %%q, [%%object], %u;\n"
                "selp.b32 %%r, 1, 0, %%q;\nst.global.b8 [%%out+%u], %%r;\n",
                parity, at + parity);
}

/* What a state says, of the object as it is now. */
static void put_state(struct piece *piece, unsigned at)
{
    fprintf(piece->body,
            "mbarrier.pending_count.b64 %%r, %%state;\nst.global.b32 [%%out+%u], %%r;\n"
            "mbarrier.test_wait.shared.b64 %%q, [%%object], %%state;\nselp.b32 %%r, 1, 0, %%q;\n"
            "st.global.b32 [%%out+%u], %%r;\n",
            at, at + 4);
}

/* What can be learnt of an object that waits for an arrival. */
static void put_probe(struct piece *piece, unsigned at)
{
    put_phase(piece, at);
    fputs("mbarrier.arrive.shared.b64 %state, [%object];\n", piece->body);
    put_state(piece, at + 4);
    put_phase(piece, at + 12);
}

/* An instruction that is an error: nothing behind it runs. */
static void put_fault(struct piece *piece, const char *label)
{
    piece->label = label;
    piece->is_fault = true;
    piece->is_alone = true;
}

/* ---- init, inval, transactions ---- */

static bool make_init(struct piece *piece)
{
    static const char *const counts[] = {"%count", "1", "0", "0x100000"};
    static const char *const labels[] = {NULL, "constant", "no arrivals", "too many arrivals"};
    if (piece->n > 4)
        return false;
    declare(piece);
    put_place(piece);
    fputs("add.u32 %count, %few, 2;\n", piece->body);
    if (piece->n == 4) {
        put_fault(piece, "misaligned");
        fprintf(piece->body, "add.s64 %%a, %%a, 4;\n%s %s, 1;\n", piece->form->text,
                place_text(piece));
        return true;
    }
    if (piece->n > 1)
        put_fault(piece, labels[piece->n]);
    piece->label = labels[piece->n];
    fprintf(piece->body, "%s %s, %s;\n", piece->form->text, place_text(piece), counts[piece->n]);
    put_probe(piece, 0);
    put_probe(piece, 16);
    return true;
}

static bool make_inval(struct piece *piece)
{
    if (piece->n > 1)
        return false;
    declare(piece);
    put_place(piece);
    put_init(piece, 5);
    fprintf(piece->body, "%s %s;\n", piece->form->text, place_text(piece));
    if (piece->n == 1)
        put_fault(piece, "used behind it");
    else
        put_init(piece, 2);
    put_probe(piece, 0);
    return true;
}

/* The count goes up and down before the last arrival, and decides behind it. */
static bool make_transactions(struct piece *piece)
{
    bool expects = has_word(piece, "expect_tx");
    static const char *const labels[] = {NULL, "constant", "out of range"};
    if (piece->n > 2)
        return false;
    piece->label = labels[piece->n];
    declare(piece);
    put_place(piece);
    put_init(piece, expects ? 1 : 2);
    fputs("add.u32 %count, %few, 31;\n", piece->body);
    if (piece->n == 2) {
        put_fault(piece, labels[piece->n]);
        fputs("mov.b32 %count, 0x100000;\n", piece->body);
    }
    fprintf(piece->body, "%s %s, %s;\n", piece->form->text, place_text(piece),
            piece->n == 1 ? "32" : "%count");
    put_phase(piece, 0);
    fputs("add.u32 %r, %few, 1;\nmbarrier.arrive.shared::cta.b64 %state, [%object], %r;\n",
          piece->body);
    put_state(piece, 4);
    put_phase(piece, 12);
    fprintf(piece->body, "mbarrier.%s.shared::cta.b64 %s[%%object], %s;\n",
            expects ? "complete_tx" : "arrive.expect_tx", expects ? "" : "%state, ",
            piece->n == 1 ? "32" : "%count");
    put_state(piece, 16);
    put_probe(piece, 24);
    return true;
}

/* ---- arrive, arrive_drop ---- */

/* All threads of the block come, and then see what the others have stored. */
static void put_meeting(struct piece *piece, const char *arrive, const char *wait)
{
    fprintf(piece->decls, ".shared .align 8 .b64 together%u;\n", piece->number);
    fprintf(piece->body,
            "mov.u64 %%object, together%u;\nsetp.eq.u32 %%p, %%thread, 0;\n"
            "@%%p mbarrier.init.shared.b64 [%%object], %u;\n",
            piece->number, MACHINE_THREADS);
    piece_put_pattern(piece->body, ".shared", "%shared");
    fputs("bar.sync 0;\n", piece->body);
    put_place(piece);
    fprintf(piece->body, "%sWAIT:\n%s@!%%q bra WAIT;\n", arrive, wait);
    fputs("xor.b64 %other, %offset, 1024;\nadd.s64 %other, %shared, %other;\n"
          "sub.s64 %other, %other, %offset;\n",
          piece->body);
    piece_put_dump(piece->body, ".shared", "%other", 0);
    fputs("bar.sync 0;\n@%p mbarrier.inval.shared.b64 [%object];\n", piece->body);
}

static const char *state_text(const struct piece *piece)
{
    return strstr(piece->form->text, "shared::cluster") != NULL ? "_" : "%state";
}

static void make_arrive_together(struct piece *piece)
{
    char arrive[256];
    bool has_tx = has_word(piece, "expect_tx");
    snprintf(arrive, sizeof arrive, "%s %s, %s%s;\n%s", piece->form->text, state_text(piece),
             place_text(piece), has_tx ? ", 0" : "", "");
    put_meeting(piece, arrive, "mbarrier.test_wait.parity.shared.b64 %q, [%object], 0;\n");
}

/* The phase ends, which shows what the next one waits for. */
static void put_rest(struct piece *piece, unsigned base, const char *arrived)
{
    fprintf(piece->body,
            "add.u32 %%r, %%few, %u;\nsub.u32 %%r, %%r, %s;\n"
            "mbarrier.arrive.noComplete.shared.b64 %%state, [%%object], 1;\n"
            "sub.u32 %%r, %%r, 1;\nmbarrier.arrive.shared::cta.b64 %%other, [%%object], %%r;\n",
            base, arrived);
    put_state(piece, 16);
    put_probe(piece, 24);
}

struct arrival {
    const char *label;
    const char *operand;    /* with its comma */
    const char *tx_operand; /* of forms with .expect_tx */
    bool is_fault;
};

static const struct arrival arrivals[] = {
    {NULL, "", ", %count", false},
    {"count in a register", ", %count", ", 48", false},
    {"state not wanted", ", 2", ", 0", false},
    {"no arrivals", ", 0", NULL, true},
    {"too many", ", 9", ", 0x100000", true},
};
#define ARRIVALS (sizeof arrivals / sizeof arrivals[0])

static bool make_arrive(struct piece *piece)
{
    bool has_tx = has_word(piece, "expect_tx");
    bool never_completes = has_word(piece, "noComplete");
    bool drops = has_word(piece, "arrive_drop");
    bool has_state = state_text(piece)[0] != '_';
    unsigned base = never_completes || drops ? 4 : has_tx ? 1 : 2;
    declare(piece);
    if (piece->n == ARRIVALS && !never_completes) {
        piece->label = "together";
        make_arrive_together(piece);
        return true;
    }
    if (piece->n == ARRIVALS) {
        put_fault(piece, "completes");
        put_place(piece);
        fprintf(piece->body, "mbarrier.init.shared.b64 [%%object], 1;\n%s %%state, %s, 1;\n",
                piece->form->text, place_text(piece));
        return true;
    }
    if (piece->n >= ARRIVALS)
        return false;
    const struct arrival *arrival = &arrivals[piece->n];
    const char *operand = has_tx ? arrival->tx_operand : arrival->operand;
    if (operand == NULL || (operand[0] == '\0' && never_completes))
        operand = ", 1";
    put_place(piece);
    put_init(piece, base);
    if (arrival->is_fault)
        put_fault(piece, arrival->label);
    piece->label = arrival->label;
    fprintf(piece->body, "add.u32 %%count, %%few, 1;\nmin.u32 %%count, %%count, 2;\n%s %s, %s%s;\n",
            piece->form->text, piece->n == 2 ? "_" : state_text(piece), place_text(piece), operand);
    if (has_state && piece->n != 2)
        put_state(piece, 0);
    put_phase(piece, 8);
    if (has_tx)
        fprintf(piece->body, "mbarrier.complete_tx.shared.b64 [%%object]%s;\n", operand);
    put_phase(piece, 10);
    if (base == 4)
        put_rest(piece, base, has_tx || operand[0] == '\0' ? "1" : operand + 2);
    else
        put_probe(piece, 16);
    return true;
}

/* ---- test_wait, try_wait, pending_count ---- */

static const char *time_text(const struct piece *piece)
{
    return has_word(piece, "try_wait") && piece->n == 1 ? ", 100" : "";
}

static bool make_wait(struct piece *piece)
{
    bool has_parity = has_word(piece, "parity");
    static const char *const labels[] = {NULL, "of the second phase", "together"};
    char text[256];
    if (piece->n > 2)
        return false;
    piece->label = labels[piece->n];
    declare(piece);
    if (piece->n == 2) {
        const char *address = place_text(piece);
        snprintf(text, sizeof text, "%s %%q, %s, %s;\n", piece->form->text, address,
                 has_parity ? "0" : "%state");
        put_meeting(piece, "mbarrier.arrive.shared.b64 %state, [%object];\n", text);
        return true;
    }
    put_place(piece);
    fputs("mov.b32 %r, 2;\nmbarrier.init.shared.b64 [%object], %r;\n"
          "and.b32 %count, %lane, 1;\nsetp.eq.u32 %p, %few, 3;\n",
          piece->body);
    for (unsigned i = 0; i < 2 * piece->n; i++)
        fputs("mbarrier.arrive.shared.b64 %state, [%object];\n", piece->body);
    fputs("mbarrier.arrive.shared.b64 %state, [%object];\n"
          "@%p mbarrier.arrive.shared.b64 %other, [%object];\n",
          piece->body);
    if (piece->n == 1)
        fputs("mbarrier.arrive.shared.b64 %other, [%object];\n", piece->body);
    fprintf(piece->body,
            "%s %%q, %s, %s%s;\nselp.b32 %%r, 1, 0, %%q;\nst.global.b32 [%%out], "
            "%%r;\n",
            piece->form->text, place_text(piece), has_parity ? "%count" : "%state",
            time_text(piece));
    put_phase(piece, 4);
    return true;
}

static bool make_pending_count(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    declare(piece);
    put_init(piece, 100000);
    fprintf(piece->body,
            "mbarrier.arrive.shared.b64 %%state, [%%object];\n%s %%r, %%state;\n"
            "st.global.b32 [%%out], %%r;\nmbarrier.arrive.shared.b64 %%state, [%%object];\n"
            "%s %%r, %%state;\nst.global.b32 [%%out+4], %%r;\n",
            piece->form->text, piece->form->text);
    return true;
}

static bool make_mbarrier(struct piece *piece)
{
    if (has_word(piece, "init"))
        return make_init(piece);
    if (has_word(piece, "inval"))
        return make_inval(piece);
    if (has_word(piece, "arrive") || has_word(piece, "arrive_drop"))
        return make_arrive(piece);
    if (has_word(piece, "test_wait") || has_word(piece, "try_wait"))
        return make_wait(piece);
    if (has_word(piece, "pending_count"))
        return make_pending_count(piece);
    return make_transactions(piece);
}

/* ---- cp.async.mbarrier.arrive ---- */

static bool make_copy_arrives(struct piece *piece)
{
    static const char *const labels[] = {NULL, "the last arrival"};
    if (piece->n > 1)
        return false;
    piece->label = labels[piece->n];
    declare(piece);
    put_place(piece);
    fprintf(piece->body, "mov.b32 %%r, %u;\nmbarrier.init.shared.b64 [%%object], %%r;\n",
            2 - piece->n);
    fprintf(piece->body, "cp.async.ca.shared.global [%%shared+16], [%%in], 16;\n%s %s;\n",
            piece->form->text, place_text(piece));
    put_phase(piece, 0);
    fputs("cp.async.wait_all;\n", piece->body);
    put_probe(piece, 4);
    put_probe(piece, 20);
    fputs("ld.shared.b64 %other, [%shared+16];\nst.global.b64 [%out+40], %other;\n"
          "ld.shared.b64 %other, [%shared+24];\nst.global.b64 [%out+48], %other;\n",
          piece->body);
    return true;
}

/* ---- bulk copies of up to 32 bytes, each thread with an object of its own ---- */

/* %to: where the bytes go, 32 bytes of shared or global memory that hold a pattern; %a: the source,
 * with other bytes. */
static void put_places(struct piece *piece, bool is_to_shared, bool is_from_shared)
{
    fputs(".reg .b64 %to, %a, %b<4>;\n", piece->body);
    if (is_to_shared && is_from_shared)
        fprintf(piece->decls, ".shared .align 32 .b8 copies%u[2048];\n", piece->number);
    if (is_to_shared && is_from_shared)
        fprintf(piece->body, "mov.u64 %%to, copies%u;\nadd.s64 %%to, %%to, %%offset;\n",
                piece->number);
    else
        fputs(is_to_shared ? "mov.b64 %to, %shared;\n" : "add.s64 %to, %out, 32;\n", piece->body);
    piece_put_pattern(piece->body, is_to_shared ? ".shared" : ".global", "%to");
    fputs("add.s64 %a, %in, 32;\n", piece->body);
    if (!is_from_shared)
        return;
    for (unsigned i = 0; i < 4; i++)
        fprintf(piece->body,
                "ld.global.b64 %%b%u, [%%a+%u];\nst.shared.b64 [%%shared+%u], %%b%u;\n", i, 8 * i,
                8 * i, i);
    fputs("mov.b64 %a, %shared;\n", piece->body);
}

/* %object waits for one arrival. */
static void put_object(struct piece *piece)
{
    fprintf(piece->decls, ".shared .align 8 .b64 objects%u[%u];\n", piece->number, MACHINE_THREADS);
    fprintf(piece->body,
            ".reg .b64 %%eighth;\nshr.u64 %%eighth, %%offset, 2;\nmov.u64 %%object, objects%u;\n"
            "add.s64 %%object, %%object, %%eighth;\nmbarrier.init.shared.b64 [%%object], 1;\n",
            piece->number);
}

struct bulk_case {
    const char *label;
    const char *bytes;
    unsigned shift; /* of both addresses */
    bool is_fault;
};

static const struct bulk_case bulk_cases[] = {
    {NULL, "32", 0, false},        {"size in a register", "%few", 0, false},
    {"nothing", "0", 0, false},    {"odd size", "8", 0, true},
    {"misaligned", "16", 8, true}, {"other blocks", "16", 0, true},
};
#define BULK_CASES   (sizeof bulk_cases / sizeof bulk_cases[0])
#define OTHER_BLOCKS (BULK_CASES - 1)

/* .multicast: every other pair of lanes copies; .cp_mask: any bytes. */
static void put_mask(struct piece *piece)
{
    bool is_multicast = has_word(piece, "multicast::cluster");
    fputs(".reg .b16 %mask;\n.reg .b64 %policy;\nmov.b64 %policy, 0x1000000000000000;\n"
          "mul.lo.u32 %r, %lane, 8009;\n",
          piece->body);
    if (is_multicast && piece->n != OTHER_BLOCKS)
        fputs("shr.u32 %r, %lane, 1;\nand.b32 %r, %r, 1;\n", piece->body);
    fputs("cvt.u16.u32 %mask, %r;\n", piece->body);
}

/* The object expects what will come. */
static void put_expectation(struct piece *piece, const char *bytes)
{
    fprintf(piece->body, "mov.b32 %%count, %s;\n", bytes);
    if (has_word(piece, "multicast::cluster"))
        fputs("setp.ne.u32 %p, %r, 0;\nselp.b32 %count, %count, 0, %p;\n", piece->body);
    fputs("mbarrier.arrive.expect_tx.shared.b64 %state, [%object], %count;\n", piece->body);
}

static void put_bulk(struct piece *piece, const struct bulk_case *made, bool has_object)
{
    fprintf(piece->body, "%s [%%to+%u], [%%a+%u], %s", piece->form->text, made->shift, made->shift,
            made->bytes);
    fputs(has_object ? ", [%object]" : "", piece->body);
    fputs(has_word(piece, "multicast::cluster") ? ", %mask" : "", piece->body);
    fputs(has_word(piece, "L2::cache_hint") ? ", %policy" : "", piece->body);
    fputs(has_word(piece, "cp_mask") ? ", %mask;\n" : ";\n", piece->body);
}

static bool make_bulk(struct piece *piece)
{
    bool has_object = has_word(piece, "mbarrier::complete_tx::bytes");
    bool is_from_shared = !has_object || !has_word(piece, "global");
    bool is_multicast = has_word(piece, "multicast::cluster");
    if (piece->n >= BULK_CASES || (piece->n == OTHER_BLOCKS && !is_multicast))
        return false;
    const struct bulk_case *made = &bulk_cases[piece->n];
    piece->label = made->label;
    if (made->is_fault)
        put_fault(piece, made->label);
    if (piece->form->type_count > 0)
        piece->value_type = piece->form->types[0];
    declare(piece);
    put_object(piece);
    put_places(piece, has_object, is_from_shared);
    put_mask(piece);
    fputs("and.b32 %few, %lane, 1;\nshl.b32 %few, %few, 4;\n", piece->body);
    if (has_object)
        put_expectation(piece, made->bytes);
    put_bulk(piece, made, has_object);
    if (!has_object)
        fputs("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", piece->body);
    put_phase(piece, 0);
    if (has_object)
        piece_put_dump(piece->body, ".shared", "%to", 32);
    return true;
}

/* Nothing waits for them but the program's own end. */
static bool make_bulk_passing(struct piece *piece)
{
    bool has_number = has_word(piece, "wait_group");
    bool prefetches = has_word(piece, "prefetch");
    if (piece->n > 0)
        return false;
    fprintf(piece->body, "%s%s%s;\nst.global.b64 [%%out], %%d0;\n", piece->form->text,
            prefetches   ? " [%in], 32"
            : has_number ? " 1"
                         : "",
            has_word(piece, "L2::cache_hint") ? ", %d0" : "");
    return true;
}

static bool make_bulk_copy(struct piece *piece)
{
    if (has_word(piece, "commit_group") || has_word(piece, "wait_group") ||
        has_word(piece, "prefetch"))
        return make_bulk_passing(piece);
    return make_bulk(piece);
}

/* ---- st.async, red.async: one element, or a vector; to global memory without an object ---- */

static bool make_element(struct piece *piece)
{
    enum ptx_type type = piece->form->types[0];
    unsigned bits = ptx_type_bits(type);
    unsigned count = has_word(piece, "v4") ? 4 : has_word(piece, "v2") ? 2 : 1;
    bool is_global = has_word(piece, "gpu") || has_word(piece, "sys");
    bool is_generic_place = !is_global && is_generic(piece);
    if (piece->n > 0)
        return false;
    piece->value_type = type;
    declare(piece);
    put_object(piece);
    put_places(piece, !is_global, false);
    fprintf(piece->body,
            ".reg .b%u %%v<4>;\nmov.b32 %%count, %u;\n"
            "mbarrier.arrive.expect_tx.shared.b64 %%state, [%%object], %%count;\n",
            bits, count * bits / 8);
    for (unsigned i = 0; i < count; i++)
        fprintf(piece->body, "ld.global.b%u %%v%u, [%%a+%u];\n", bits, i, i * bits / 8);
    if (is_generic_place)
        fputs("cvta.shared.u64 %to, %to;\ncvta.shared.u64 %object, %object;\n", piece->body);
    fprintf(piece->body, "%s [%%to], %s%s;\n", piece->form->text,
            count == 4   ? "{%v0, %v1, %v2, %v3}"
            : count == 2 ? "{%v0, %v1}"
                         : "%v0",
            is_global ? "" : ", [%object]");
    if (is_generic_place)
        fputs("cvta.to.shared.u64 %to, %to;\ncvta.to.shared.u64 %object, %object;\n", piece->body);
    put_phase(piece, 0);
    if (!is_global)
        piece_put_dump(piece->body, ".shared", "%to", 32);
    return true;
}

/* ---- st.bulk ---- */

static bool make_fill(struct piece *piece)
{
    static const char *const sizes[] = {"%eighth", "24", "12"};
    static const char *const labels[] = {NULL, "constant", "odd size"};
    if (piece->n > 2)
        return false;
    if (piece->n == 2)
        put_fault(piece, labels[piece->n]);
    piece->label = labels[piece->n];
    declare(piece);
    put_place(piece);
    piece_put_pattern(piece->body, ".shared", "%shared");
    fprintf(piece->body, ".reg .b64 %%eighth;\nmul.wide.u32 %%eighth, %%few, 8;\n%s %s, %s, 0;\n",
            piece->form->text, place_text(piece), sizes[piece->n]);
    piece_put_dump(piece->body, ".shared", "%shared", 0);
    return true;
}

/* ---- the table ---- */

const struct template async_templates[] = {
    {"mbarrier", make_mbarrier},
    {"cp.async.mbarrier", make_copy_arrives},
    {"cp.async.bulk", make_bulk_copy},
    {"cp.reduce", make_bulk},
    {"st.async", make_element},
    {"red.async", make_element},
    {"st.bulk", make_fill},
    {NULL, NULL},
};
