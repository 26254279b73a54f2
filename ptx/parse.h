/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser's state and the grammar functions that cross files. Internal to ptx/.
 *
 * A grammar function returns false once an error is recorded in the parser; its caller returns at
 * once. It begins at the current token p->tok and leaves the first token it did not consume there.
 */
#ifndef PTXRUN_PTX_PARSE_H
#define PTXRUN_PTX_PARSE_H

#include "ptx/diagnostics.h"
#include "ptx/lexer.h"
#include "ptx/list.h"
#include "ptx/ptx.h"
#include "ptx/scope.h"

#define PTX_MAX_EXPRESSION_DEPTH 64
#define PTX_MAX_BLOCK_DEPTH      64
#define PTX_MAX_DIMENSIONS       16
#define PTX_MAX_OPERAND_DEPTH    4
#define PTX_MAX_OBJECT_BYTES     (UINT64_C(1) << 40)
#define PTX_MAX_NAME_RANGE       4096 /* but for registers */

struct ptx_opcode; /* a decoded opcode spelling; parse_opcode.c */

struct ptx_parser {
    struct ptx_lexer lexer;
    struct ptx_token tok;
    const char *last_end; /* of the token before tok */
    struct ptx_module *module;
    struct pxr_arena *arena;  /* the module's: results */
    struct pxr_arena scratch; /* tables; dies with the parser */
    struct pxr_error *err;
    enum pxr_status status; /* not OK: an error has been recorded, and the grammar returns */
    struct ptx_diagnostic diagnostics[PTX_MAX_DIAGNOSTICS];
    unsigned diagnostic_count;
    bool is_semicolon_missing; /* that was the error */
    struct ptx_scope module_scope;
    struct ptx_scope sreg_scope;
    struct ptx_scope *scope; /* innermost */
    unsigned scope_depth;
    unsigned expression_depth;
    struct ptx_opcode *opcodes;
    struct ptx_list items;                /* struct ptx_item */
    const struct ptx_operand_rule *rules; /* of the instruction that is parsed */
    unsigned rule_count;
    struct ptx_need need;      /* likewise */
    struct ptx_list funcs;     /* struct ptx_func * */
    struct ptx_list vars;      /* struct ptx_var *, module scope */
    struct ptx_func *func;     /* the function whose body is parsed */
    struct ptx_list stmts;     /* struct ptx_stmt, of func */
    struct ptx_list func_vars; /* struct ptx_var *, of func */
    struct ptx_list operands;  /* struct ptx_operand: stack of unfinished operand lists */
    struct ptx_list pending;   /* struct ptx_pending */
    struct ptx_list bytes;     /* of an initialiser */
    struct ptx_list relocs;    /* struct ptx_reloc, of an initialiser */
    struct ptx_list dims;      /* uint64_t, of an array */
    uint64_t init_bytes;       /* initialised data so far */
    size_t list_bytes;         /* of all lists */
    size_t budget_bytes;       /* for them */
};

/* A name that must be a label of this scope or of one around it. */
struct ptx_pending {
    struct pxr_str name;
    int line;
    int column;
    const struct ptx_label **label; /* to be filled in; or, for a label list: */
    struct ptx_operand *list;
};

/* A value of a constant expression. */
struct ptx_const {
    bool is_float;
    bool is_single; /* a 0f… literal, perhaps negated */
    bool is_unsigned;
    uint64_t bits; /* integer, or IEEE double; is_single: IEEE single */
};

/* The beginning of a statement or item. */
struct ptx_mark {
    struct ptx_lexer lexer;
    struct ptx_token tok;
    const char *last_end;
    size_t pending_count;
};

/* ---- recover.c ---- */
bool ptx_fail_at(struct ptx_parser *p, const struct ptx_token *token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ptx_fail_memory(struct ptx_parser *p);
/* "expected …, found 'x'" */
bool ptx_fail_expected(struct ptx_parser *p, const char *what);
/* Because of an error that has been told. */
bool ptx_fail_lost(struct ptx_parser *p);
/* At a word that begins a directive of the module level and nothing else. */
bool ptx_at_module_item(const struct ptx_parser *p);
/* Goes on after an error that leaves the parser where it should be. */
bool ptx_continue(struct ptx_parser *p);
/* At a statement, behind the brace that has closed a function. */
bool ptx_is_body_going_on(const struct ptx_parser *p);
struct ptx_mark ptx_mark(const struct ptx_parser *p);
/* After an error in the text that begins at the mark: true when the parser stands behind it and may
 * go on. A statement that is cut by the end of the text or a directive of the module cannot. */
bool ptx_recover_statement(struct ptx_parser *p, const struct ptx_mark *mark);
bool ptx_recover_item(struct ptx_parser *p, const struct ptx_mark *mark);

/* ---- parse.c ---- */
void ptx_advance(struct ptx_parser *p);
bool ptx_expect(struct ptx_parser *p, char punct);
bool ptx_accept(struct ptx_parser *p, char punct);
bool ptx_accept_dot(struct ptx_parser *p, const char *word);
/* The text consumed from `start` on, perhaps none. */
struct pxr_str ptx_text_since(const struct ptx_parser *p, const char *start);
/* Empty statements, at the first: as many as there are cost no more than one. */
struct pxr_str ptx_take_empty(struct ptx_parser *p);
void *ptx_alloc(struct ptx_parser *p, size_t count, size_t size_bytes);         /* NULL: recorded */
void *ptx_push(struct ptx_parser *p, struct ptx_list *list, size_t item_bytes); /* likewise */
/* Copies the items from `first` on to the module's arena and removes them from the list. */
void *ptx_take(struct ptx_parser *p, struct ptx_list *list, size_t first, size_t item_bytes);
bool ptx_define(struct ptx_parser *p, struct ptx_scope *scope, const struct ptx_token *name,
                struct ptx_symbol_value value);
/* NULL when undefined. Makes registers of a range when they are first named. */
const struct ptx_symbol_value *ptx_lookup(struct ptx_parser *p, struct pxr_str name);
/* At a name with "<" behind it: N<3> stands for N0, N1, N2. */
bool ptx_at_range(const struct ptx_parser *p);
bool ptx_number_name(struct ptx_parser *p, struct pxr_str prefix, uint64_t number,
                     struct pxr_str *name);
/* At the end of the module's list; NULL: recorded. */
struct ptx_item *ptx_add_item(struct ptx_parser *p, enum ptx_item_kind kind, int line);

/* ---- parse_directive.c ---- */
/* Directives that stand in bodies too, behind their first word. */
bool ptx_parse_file_directive(struct ptx_parser *p);
bool ptx_parse_loc_directive(struct ptx_parser *p);
bool ptx_parse_section(struct ptx_parser *p);
bool ptx_parse_pragma(struct ptx_parser *p);
/* Parses a directive of the module level that is no declaration; *is_known is false at any other
 * token. */
bool ptx_parse_module_directive(struct ptx_parser *p, bool *is_known);

/* ---- parse_const.c ---- */
bool ptx_parse_const(struct ptx_parser *p, struct ptx_const *value);
bool ptx_parse_const_term(struct ptx_parser *p, struct ptx_const *value); /* no binary operator */
bool ptx_parse_const_uint(struct ptx_parser *p, const char *what, uint64_t max, uint64_t *value);
bool ptx_const_to_double(const struct ptx_const *value, double *number);
bool ptx_at_const(const struct ptx_parser *p);

/* ---- parse_var.c ---- */
/* The text before the name of a variable. */
struct ptx_var_head {
    struct ptx_var model;
    struct ptx_var_text written;
};
bool ptx_parse_var_head(struct ptx_parser *p, struct ptx_var_head *head);
/* name, range or dimensions of one variable, its place and size */
bool ptx_parse_var_name(struct ptx_parser *p, const struct ptx_var_head *head, struct ptx_var *var,
                        struct ptx_token *name);
bool ptx_finish_var(struct ptx_parser *p, struct ptx_var *var, const struct ptx_token *name);
bool ptx_parse_vars(struct ptx_parser *p, enum ptx_linkage linkage, struct pxr_str linkage_text);
/* Gives a variable of the current function its index. */
bool ptx_add_func_var(struct ptx_parser *p, struct ptx_var *var);

/* ---- parse_init.c ---- */
bool ptx_parse_initializer(struct ptx_parser *p, struct ptx_var *var);

/* ---- parse_func.c ---- */
bool ptx_parse_function(struct ptx_parser *p, bool is_entry, enum ptx_linkage linkage,
                        struct pxr_str linkage_text);
bool ptx_parse_prototype(struct ptx_parser *p, struct ptx_func *func);

/* ---- parse_stmt.c ---- */
bool ptx_parse_body(struct ptx_parser *p);

/* ---- parse_opcode.c ---- */
/* Fills op, types, mods, groups of the instruction from its spelling, and p->rules and p->need. */
bool ptx_decode_opcode(struct ptx_parser *p, const struct ptx_token *token, struct ptx_inst *inst);

/* ---- parse_operand.c ---- */
/* Pushes one operand; letter: of its rule. */
bool ptx_parse_operand(struct ptx_parser *p, char letter, unsigned depth);
bool ptx_parse_operands(struct ptx_parser *p, struct ptx_inst *inst);
bool ptx_parse_call(struct ptx_parser *p, struct ptx_inst *inst);

/* ---- check.c ---- */
/* May change the row to one that takes the number of operands. */
bool ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst);

#endif
