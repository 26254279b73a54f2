/* SPDX-License-Identifier: Apache-2.0
 *
 * See vector_iterations.h.
 */
#include "vector_iterations.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/vector/control.h"
#include "translator/vector/version.h"

/* ---- iterations as text ---- */

#define PARAMETERS "i32 %%u, i32 %%v, i32 %%z, i64 %%w, float %%f, ptr %%p"

void put_cell_functions(FILE *text, const uint8_t *input, uint8_t *output)
{
    for (size_t t = 0; t < vector_type_count; t++) {
        const char *type = vector_types[t].text;
        fprintf(text,
                "define %s @in%zu(i32 %%slot, i32 %%thread) noinline {\n %%s = mul i32 %%slot, %d\n"
                " %%n = add i32 %%s, %%thread\n %%o = mul i32 %%n, %d\n"
                " %%p = getelementptr i8, ptr inttoptr (i64 %llu to ptr), i32 %%o\n"
                " %%v = load %s, ptr %%p, align 1\n ret %s %%v\n}\n",
                type, t, THREADS, CELL_BYTES, (unsigned long long)(uintptr_t)input, type, type);
        fprintf(text,
                "define void @out%zu(i32 %%thread, %s %%v) noinline {\n"
                " %%o = mul i32 %%thread, %d\n"
                " %%p = getelementptr i8, ptr inttoptr (i64 %llu to ptr), i32 %%o\n"
                " store %s %%v, ptr %%p, align 1\n ret void\n}\n",
                t, type, CELL_BYTES, (unsigned long long)(uintptr_t)output, type);
    }
    fputs("define i32 @quotient(i32 %a, i32 %b) noinline memory(none) {\n"
          " %r = udiv i32 %a, %b\n ret i32 %r\n}\n"
          "define i32 @mix(i32 %a, i32 %b) noinline memory(none) {\n"
          " %m = mul i32 %a, 40503\n %r = xor i32 %m, %b\n ret i32 %r\n}\n",
          text);
}

static bool is_used(const char *name, const char *code)
{
    size_t len = strlen(name);
    for (const char *at = code; at != NULL && (at = strstr(at, name)) != NULL; at++)
        if (strchr("0123456789", at[len]) == NULL || at[len] == '\0')
            return true;
    return false;
}

static void put_inputs(FILE *text, const char *code)
{
    for (size_t t = 0; t < vector_type_count; t++)
        for (int slot = 0; slot < SLOTS; slot++) {
            char name[16];
            snprintf(name, sizeof name, "%%%c%s", "abc"[slot], vector_types[t].suffix);
            if (is_used(name, code))
                fprintf(text, " %s = call %s @in%zu(i32 %d, i32 %%t)\n", name, vector_types[t].text,
                        t, slot);
        }
}

/* Replaces $T, $M, $a, $b, $c. */
static void put_code(FILE *text, const char *code, const struct vector_type *type)
{
    for (; *code != '\0'; code++) {
        if (*code != '$')
            fputc(*code, text);
        else if (*++code == 'T')
            fputs(type->text, text);
        else if (*code == 'M')
            fputs(type->mangled, text);
        else
            fprintf(text, "%%%c%s", *code, type->suffix);
    }
    fputc('\n', text);
}

static char *code_of(const struct vector_case *test, const struct vector_type *type, bool is_masked)
{
    char *code = NULL;
    size_t len = 0;
    FILE *text = open_memstream(&code, &len);
    if (!is_masked)
        fputs(" br label %body\nbody:\n ", text);
    if (is_masked) {
        put_code(text, test->condition != NULL ? test->condition : "%m = or i1 %c1, false", type);
        fputs(" br i1 %m, label %body, label %next\nbody:\n ", text);
    }
    put_code(text, test->body, type);
    fclose(text);
    return code;
}

void put_iteration(FILE *text, const struct iteration_text *iteration, uint32_t number)
{
    char *code = code_of(iteration->test, iteration->type, iteration->is_masked);
    fprintf(text,
            "define void @scalar%u(" PARAMETERS ") {\nentry:\n br label %%row\n"
            "row:\n %%y = phi i32 [0, %%entry], [%%y1, %%row_done]\n br label %%head\n"
            "head:\n %%i = phi i32 [0, %%row], [%%i1, %%next]\n"
            " %%ty = mul i32 %%y, %d\n %%t = add i32 %%ty, %%i\n",
            number, LENGTH);
    put_inputs(text, code);
    fprintf(text,
            "%s call void @out%zu(i32 %%t, %s %%r)\n br label %%next\n"
            "next:\n %%i1 = add nuw nsw i32 %%i, 1\n %%ic = icmp ult i32 %%i1, %d\n"
            " br i1 %%ic, label %%head, label %%row_done\n"
            "row_done:\n %%y1 = add nuw nsw i32 %%y, 1\n %%yc = icmp ult i32 %%y1, %d\n"
            " br i1 %%yc, label %%row, label %%done\ndone:\n ret void\n}\n",
            code, (size_t)(iteration->result - vector_types), iteration->result->text, LENGTH,
            ROWS);
    free(code);
}

/* ---- widening, with as little control as these iterations need ---- */

static LLVMBasicBlockRef block(LLVMValueRef function, const char *name)
{
    LLVMBasicBlockRef found = LLVMGetFirstBasicBlock(function);
    while (found != NULL && strcmp(LLVMGetBasicBlockName(found), name) != 0)
        found = LLVMGetNextBasicBlock(found);
    cr_assert(found != NULL, "no block %s", name);
    return found;
}

static struct tr_nest nest_of(LLVMValueRef function)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    struct tr_counted x = {.before = block(function, "row"),
                           .header = block(function, "head"),
                           .latch = block(function, "next"),
                           .after = block(function, "row_done"),
                           .count = LLVMConstInt(i32, LENGTH, false)};
    struct tr_counted y = {.before = block(function, "entry"),
                           .header = block(function, "row"),
                           .latch = block(function, "row_done"),
                           .after = block(function, "done"),
                           .count = LLVMConstInt(i32, ROWS, false)};
    x.counter = LLVMGetFirstInstruction(x.header);
    y.counter = LLVMGetFirstInstruction(y.header);
    return (struct tr_nest){.x = x, .y = y};
}

static LLVMValueRef make_function(struct tr_widen *widen, LLVMValueRef scalar, uint32_t number)
{
    LLVMTypeRef types[8] = {widen->i32, widen->i32};
    LLVMGetParamTypes(LLVMGlobalGetValueType(scalar), types + 2);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(widen->llvm), types, 8, false);
    char name[32];
    snprintf(name, sizeof name, "vector%u", number);
    widen->function = LLVMAddFunction(widen->module, name, type);
    LLVMPositionBuilderAtEnd(widen->builder, tr_widen_new_block(widen, "entry"));
    return widen->function;
}

static LLVMValueRef plus(struct tr_widen *widen, LLVMValueRef value, uint32_t more)
{
    return LLVMBuildAdd(widen->builder, value, LLVMConstInt(widen->i32, more, false), "");
}

/* Counters, and what is from outside of the iteration. */
static void define_arguments(struct tr_widen *widen, const struct tr_nest *nest)
{
    const struct tr_iteration *iteration = widen->iteration;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        LLVMValueRef value = iteration->graph.values[v].llvm;
        for (uint32_t c = 0; c < widen->copies && iteration->graph.values[v].segment == TR_NONE;
             c++) {
            LLVMValueRef is = NULL;
            if (value == nest->x.counter)
                is =
                    plus(widen, LLVMGetParam(widen->function, 0), c % widen->jam[0] * widen->width);
            else if (value == nest->y.counter)
                is = plus(widen, LLVMGetParam(widen->function, 1), c / widen->jam[0]);
            else if (LLVMIsAArgument(value) != NULL)
                for (uint32_t p = 0; p < 6; p++)
                    if (LLVMGetParam(LLVMGetParamParent(value), p) == value)
                        is = LLVMGetParam(widen->function, p + 2);
            if (is != NULL && tr_widen_holder(widen, v, c) == c)
                tr_widen_define(widen, v, c, is);
        }
    }
}

/* The lanes that the segment is for: all, or those of the only condition there is. */
static void set_mask(struct tr_widen *widen, uint32_t segment)
{
    const struct tr_iteration *iteration = widen->iteration;
    LLVMValueRef branch = NULL;
    if (iteration->units[segment].kind == TR_UNIT_MASKED) {
        const struct tr_segment *before =
            &iteration->graph.segments[iteration->graph.segments[segment].preds[0]];
        branch = iteration->graph.values[before->first_value + before->value_count - 1].llvm;
    }
    for (uint32_t c = 0; c < widen->copies; c++)
        widen->active.mask[c] =
            branch == NULL ? NULL : tr_widen_vector(widen, LLVMGetCondition(branch), c);
}

static void emit(struct tr_widen *widen)
{
    const struct tr_graph *graph = &widen->iteration->graph;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        set_mask(widen, s);
        for (uint32_t i = 0; i + 1 < graph->segments[s].value_count; i++) {
            uint32_t value = graph->segments[s].first_value + i;
            if (graph->values[value].opcode != LLVMPHI)
                tr_control_instruction(widen, value);
        }
    }
    LLVMBuildRetVoid(widen->builder);
}

/* Shapes decide whether values are scalars; those that are vectors have the type they should. */
static void check_types(const struct tr_widen *widen)
{
    const struct tr_graph *graph = &widen->iteration->graph;
    for (uint32_t v = 0; v < graph->value_count; v++)
        for (uint32_t c = 0; c < widen->copies; c++) {
            LLVMValueRef held = widen->now[v * widen->copies + c];
            LLVMTypeRef type = LLVMTypeOf(graph->values[v].llvm);
            bool is_varying = widen->iteration->shapes.values[v].kind == TR_VARYING;
            cr_assert(held == NULL ||
                      LLVMTypeOf(held) == (is_varying ? tr_widen_type(widen, type) : type));
        }
}

static void init_widen(struct widened *widened, LLVMModuleRef module, const struct form *form)
{
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    widened->widen = (struct tr_widen){
        .iteration = &widened->iteration,
        .arena = &widened->iteration.graph.arena,
        .options = &widened->options,
        .tuning = &widened->tuning,
        .width = form->width,
        .jam = {form->jam[0], form->jam[1]},
        .copies = form->jam[0] * form->jam[1],
        .llvm = llvm,
        .module = module,
        .builder = LLVMCreateBuilderInContext(llvm),
        .layout = LLVMGetModuleDataLayout(module),
        .i1 = LLVMInt1TypeInContext(llvm),
        .i8 = LLVMInt8TypeInContext(llvm),
        .i32 = LLVMInt32TypeInContext(llvm),
        .i64 = LLVMInt64TypeInContext(llvm),
        .ptr = LLVMPointerTypeInContext(llvm, 0),
        .seed_sites = &widened->seed_sites,
    };
}

void begin_widened(struct widened *widened, LLVMModuleRef module, uint32_t number,
                   const struct form *form)
{
    *widened = (struct widened){.target = tr_target_find("", 128), .tuning = tr_tuning_hooks(0)};
    char name[32];
    snprintf(name, sizeof name, "scalar%u", number);
    LLVMValueRef scalar = LLVMGetNamedFunction(module, name);
    struct tr_nest nest = nest_of(scalar);
    const char *obstacle = NULL;
    bool is_jammed = form->jam[1] > 1;
    cr_assert_eq(tr_iteration_build(&widened->iteration, &widened->target, &nest, is_jammed, NULL,
                                    &obstacle, NULL),
                 PXR_OK);
    cr_assert_eq(obstacle, NULL, "%s", obstacle);
    cr_assert_eq(tr_plan_accesses(&widened->iteration, form->width, widened->tuning.accesses, NULL),
                 PXR_OK);
    init_widen(widened, module, form);
    struct tr_widen *widen = &widened->widen;
    widen->now =
        calloc((size_t)widened->iteration.graph.value_count * widen->copies, sizeof *widen->now);
    widen->row_steps = calloc(widened->iteration.graph.value_count, sizeof *widen->row_steps);
    make_function(widen, scalar, number);
    define_arguments(widen, &nest);
    emit(widen);
    check_types(widen);
}

void end_widened(struct widened *widened)
{
    free(widened->widen.now);
    free(widened->widen.row_steps);
    LLVMDisposeBuilder(widened->widen.builder);
    tr_iteration_fini(&widened->iteration);
}
