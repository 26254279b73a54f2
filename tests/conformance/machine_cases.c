/* SPDX-License-Identifier: Apache-2.0
 *
 * From a form to its machine cases, by the templates of machine_tensors.c, machine_async.c,
 * machine_matrices.c, machine_memory.c, machine_textures.c and machine_threads.c.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

/* What clusters need. */
#define CLUSTER_PTX 78
#define CLUSTER_SM  90

void machine_case_free(struct machine_case *made)
{
    free(made->decls);
    free(made->body);
    made->decls = NULL;
    made->body = NULL;
}

bool machine_has_word(const struct ptx_form *form, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strchr(form->text, '.'); at != NULL; at = strchr(at + 1, '.'))
        if (strncmp(at + 1, word, len) == 0 && (at[1 + len] == '.' || at[1 + len] == '\0'))
            return true;
    return false;
}

static template_fn find_in(const struct template *templates, const char *text)
{
    for (; templates->name != NULL; templates++) {
        size_t len = strlen(templates->name);
        if (strncmp(text, templates->name, len) == 0 && (text[len] == '.' || text[len] == '\0'))
            return templates->make;
    }
    return NULL;
}

bool machine_case_make(const struct ptx_form *form, unsigned n, unsigned number,
                       struct machine_case *made, bool *is_known)
{
    template_fn make = find_in(cluster_templates, form->text);
    if (make == NULL)
        make = find_in(tensor_templates, form->text);
    if (make == NULL)
        make = find_in(async_templates, form->text);
    if (make == NULL)
        make = find_in(memory_templates, form->text);
    if (make == NULL)
        make = find_in(thread_templates, form->text);
    if (make == NULL)
        make = find_in(matrix_templates, form->text);
    if (make == NULL)
        make = find_in(texture_templates, form->text);
    *is_known = make != NULL;
    if (make == NULL)
        return false;
    size_t decls_bytes, body_bytes;
    *made = (struct machine_case){
        .op = form->op, .ptx = form->min_ptx, .sm = form->min_sm, .needs_arch = form->needs_arch};
    struct piece piece = {.form = form, .n = n, .number = number};
    piece.decls = open_memstream(&made->decls, &decls_bytes);
    piece.body = open_memstream(&made->body, &body_bytes);
    bool is_made = piece.decls != NULL && piece.body != NULL && make(&piece);
    if (piece.decls != NULL)
        fclose(piece.decls);
    if (piece.body != NULL)
        fclose(piece.body);
    if (!is_made) {
        machine_case_free(made);
        return false;
    }
    made->value_type = piece.value_type;
    made->is_alone = piece.is_alone || piece.is_in_cluster;
    made->is_in_cluster = piece.is_in_cluster;
    if (piece.is_in_cluster && made->sm < CLUSTER_SM)
        made->sm = CLUSTER_SM;
    if (piece.is_in_cluster && made->ptx < CLUSTER_PTX)
        made->ptx = CLUSTER_PTX;
    made->is_fault = piece.is_fault;
    snprintf(made->name, sizeof made->name, "%s%s%s%s", form->text, piece.label ? " (" : "",
             piece.label ? piece.label : "", piece.label ? ")" : "");
    return true;
}
