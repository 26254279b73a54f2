/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates for what depends on other blocks of the cluster: they store their records, meet, and
 * then each looks at the next one's, by rank.
 */
#include <string.h>

#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

void piece_put_cluster_meeting(FILE *file)
{
    fputs("barrier.cluster.arrive;\nbarrier.cluster.wait;\n", file);
}

void piece_put_next_rank(struct piece *piece)
{
    fputs(".reg .b32 %rank, %ranks;\nmov.u32 %rank, %cluster_ctarank;\n"
          "mov.u32 %ranks, %cluster_nctarank;\nadd.u32 %rank, %rank, 1;\n"
          "rem.u32 %rank, %rank, %ranks;\n",
          piece->body);
}

/* The address of the next block's memory in %far. */
static void put_next_block(struct piece *piece)
{
    piece_put_next_rank(piece);
    fputs(".reg .b64 %far, %there;\nmapa.shared::cluster.u64 %far, %shared, %rank;\n", piece->body);
}

static void put_look(struct piece *piece)
{
    for (unsigned i = 0; i < 32; i += 8)
        fprintf(piece->body,
                "ld.shared::cluster.b64 %%there, [%%far+%u];\nst.global.b64 [%%out+%u], %%there;\n",
                i, i);
}

/* The form in the place of the other arrive or wait. Cases: all threads together; some arrive
 * before others do something; some have left; one arrives twice. */
static bool make_cluster_barrier(struct piece *piece)
{
    static const char *const labels[] = {NULL, "threads apart", "some have exited", "twice"};
    const char *text = piece->form->text;
    bool arrives = machine_has_word(piece->form, "arrive");
    bool is_aligned = machine_has_word(piece->form, "aligned");
    const char *arrive = arrives ? text : "barrier.cluster.arrive";
    const char *wait = arrives ? "barrier.cluster.wait" : text;
    if (piece->n > 3 || (piece->n == 3 && !arrives))
        return false;
    piece->label = labels[piece->n];
    piece->is_in_cluster = true;
    piece->is_fault = piece->n == 3;
    put_next_block(piece);
    piece_put_pattern(piece->body, ".shared", "%shared");
    if (piece->n == 2)
        fputs(".reg .pred %p;\nsetp.gt.u32 %p, %thread, 40;\n@%p exit;\nbar.sync 0;\n",
              piece->body);
    fputs("fence.acq_rel.cluster;\n", piece->body);
    if (piece->n == 1 && !is_aligned)
        fprintf(piece->body,
                "@%%is_even %s;\nbar.warp.sync 0xffffffff;\n@!%%is_even %s;\n@%%is_even %s;\n"
                "bar.warp.sync 0xffffffff;\n@!%%is_even %s;\n",
                arrive, arrive, wait, wait);
    else
        fprintf(piece->body, "%s;\n%s;\n", arrive, piece->n == 3 ? arrive : wait);
    put_look(piece);
    /* No block leaves before others have looked. */
    piece_put_cluster_meeting(piece->body);
    return true;
}

const struct template cluster_templates[] = {
    {"barrier.cluster", make_cluster_barrier},
    {NULL, NULL},
};
