/* SPDX-License-Identifier: Apache-2.0
 *
 * Directives that declare nothing: version and target, debug information, pragmas, aliases (PTX
 * ISA, "Directives"). Those of debug information are read and kept as text.
 */
#include "ptx/parse.h"

/* version = ".version" major "." minor */
static bool parse_version(struct ptx_parser *p)
{
    struct pxr_str text = p->tok.text;
    unsigned parts[2] = {0, 0};
    unsigned part = 0;

    if (p->module->version)
        return ptx_fail_at(p, &p->tok, "a second .version");
    if (p->tok.kind != PTX_TOKEN_NUMBER)
        return ptx_fail_expected(p, "a version number");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && part == 0)
            part++;
        else if (text.ptr[i] >= '0' && text.ptr[i] <= '9' && parts[part] < 1000)
            parts[part] = parts[part] * 10 + (unsigned)(text.ptr[i] - '0');
        else
            return ptx_fail_expected(p, "a version number");
    }
    if (part != 1 || parts[1] > 9)
        return ptx_fail_expected(p, "a version number");
    p->module->version = parts[0] * 10 + parts[1];
    ptx_advance(p);
    return true;
}

/* architecture = ("sm_" | "compute_") number ("a" | "f")? ; false: it is something else */
static bool read_architecture(struct pxr_str text, struct ptx_module *module)
{
    unsigned number = 0;
    size_t i = 0;
    char suffix = '\0';

    if (text.len > 3 && memcmp(text.ptr, "sm_", 3) == 0)
        i = 3;
    else if (text.len > 8 && memcmp(text.ptr, "compute_", 8) == 0)
        i = 8;
    else
        return false;
    for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number < 10000; i++)
        number = number * 10 + (unsigned)(text.ptr[i] - '0');
    if (i + 1 == text.len)
        suffix = text.ptr[i++];
    if (number == 0 || i != text.len || (suffix && suffix != 'a' && suffix != 'f'))
        return false;
    if (number >= module->target) { /* PTX ISA, ".target": of several, the highest is needed */
        module->target = number;
        module->target_suffix = suffix;
    }
    return true;
}

/* option = "debug" | "map_f64_to_f32" | "texmode_unified" | "texmode_independent" */
static bool read_target_option(struct pxr_str text, struct ptx_module *module)
{
    if (pxr_str_is(text, "debug"))
        module->is_debug = true;
    else if (pxr_str_is(text, "map_f64_to_f32"))
        module->maps_f64_to_f32 = true;
    else if (pxr_str_is(text, "texmode_unified"))
        module->texmode = PTX_TEXMODE_UNIFIED;
    else if (pxr_str_is(text, "texmode_independent"))
        module->texmode = PTX_TEXMODE_INDEPENDENT;
    else
        return false;
    return true;
}

/* target = ".target" (architecture | option) ("," (architecture | option))* */
static bool parse_target(struct ptx_parser *p)
{
    do {
        if (p->tok.kind != PTX_TOKEN_NAME)
            return ptx_fail_expected(p, "a target such as sm_75");
        if (!read_architecture(p->tok.text, p->module) &&
            !read_target_option(p->tok.text, p->module))
            return ptx_fail_at(p, &p->tok,
                               "'%.*s' is neither a target, such as sm_75, nor an "
                               "option of .target",
                               PXR_STR_ARG(p->tok.text));
        ptx_advance(p);
    } while (ptx_accept(p, ','));
    return true;
}

/* address_size = ".address_size" ("32" | "64") */
static bool parse_address_size(struct ptx_parser *p)
{
    struct ptx_token token = p->tok;
    uint64_t bits;

    if (!ptx_parse_const_uint(p, "an address size", 64, &bits))
        return false;
    if (bits != 32 && bits != 64)
        return ptx_fail_at(p, &token, "address size must be 32 or 64");
    p->module->address_bits = (unsigned)bits;
    return true;
}

/* file = ".file" number string string? ("," number "," number)? : LLVM may write the folder first
 */
bool ptx_parse_file_directive(struct ptx_parser *p)
{
    uint64_t ignored;

    if (!ptx_parse_const_uint(p, "a file number", UINT32_MAX, &ignored))
        return false;
    if (p->tok.kind != PTX_TOKEN_STRING)
        return ptx_fail_expected(p, "a file name in quotes");
    ptx_advance(p);
    if (p->tok.kind == PTX_TOKEN_STRING)
        ptx_advance(p);
    while (ptx_accept(p, ','))
        if (!ptx_parse_const_uint(p, "a number", UINT64_MAX, &ignored))
            return false;
    return true;
}

static bool parse_position(struct ptx_parser *p)
{
    uint64_t ignored;

    return ptx_parse_const_uint(p, "a file number", UINT32_MAX, &ignored) &&
           ptx_parse_const_uint(p, "a line number", UINT32_MAX, &ignored) &&
           ptx_parse_const_uint(p, "a column number", UINT32_MAX, &ignored);
}

/* loc = ".loc" position ("," "function_name" label ("+" number)? "," "inlined_at" position)? ; the
 * label may be the name of a section */
bool ptx_parse_loc_directive(struct ptx_parser *p)
{
    uint64_t ignored;

    if (!parse_position(p))
        return false;
    while (ptx_accept(p, ',')) {
        if (pxr_str_is(p->tok.text, "inlined_at")) {
            ptx_advance(p);
            if (!parse_position(p))
                return false;
        } else if (pxr_str_is(p->tok.text, "function_name")) {
            ptx_advance(p);
            if (p->tok.kind != PTX_TOKEN_NAME && p->tok.kind != PTX_TOKEN_DOT)
                return ptx_fail_expected(p, "a label");
            ptx_advance(p);
            if (ptx_accept(p, '+') && !ptx_parse_const_uint(p, "an offset", UINT64_MAX, &ignored))
                return false;
        } else {
            return ptx_fail_expected(p, "function_name or inlined_at");
        }
    }
    return true;
}

/* section = ".section" name "{" … "}": DWARF data, of no use to execution */
bool ptx_parse_section(struct ptx_parser *p)
{
    unsigned depth = 1;

    if (p->tok.kind != PTX_TOKEN_DOT && p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a section name");
    ptx_advance(p);
    ptx_accept(p, ',');
    if (!ptx_expect(p, '{'))
        return false;
    while (depth > 0) {
        if (p->tok.kind == PTX_TOKEN_END || p->tok.kind == PTX_TOKEN_BAD)
            return ptx_fail_expected(p, "'}'");
        depth += ptx_token_is(&p->tok, '{');
        depth -= ptx_token_is(&p->tok, '}');
        ptx_advance(p);
    }
    return true;
}

/* pragma = string ("," string)* ";" */
bool ptx_parse_pragma(struct ptx_parser *p)
{
    do {
        if (p->tok.kind != PTX_TOKEN_STRING)
            return ptx_fail_expected(p, "a pragma in quotes");
        ptx_advance(p);
    } while (ptx_accept(p, ','));
    return ptx_expect(p, ';');
}

/* The alias shares the body and everything that belongs to it. */
static void alias_function(struct ptx_func *alias, const struct ptx_func *target)
{
    struct ptx_func old = *alias;

    *alias = *target;
    alias->name = old.name;
    alias->linkage = old.linkage;
    alias->index = old.index;
    alias->is_address_taken = old.is_address_taken;
    alias->line = old.line;
}

/* alias = ".alias" name "," name ";" : the first is another name of the second */
static bool parse_alias(struct ptx_parser *p)
{
    struct ptx_token alias = p->tok;
    const struct ptx_symbol_value *from;
    const struct ptx_symbol_value *to;

    if (p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a function name");
    ptx_advance(p);
    if (!ptx_expect(p, ','))
        return false;
    from = ptx_lookup(p, alias.text);
    to = ptx_lookup(p, p->tok.text);
    if (!to || to->kind != PTX_SYMBOL_FUNC || !to->func->has_body)
        return ptx_fail_expected(p, "the name of a function defined above");
    if (!from || from->kind != PTX_SYMBOL_FUNC || from->func->has_body)
        return ptx_fail_at(p, &alias, "alias '%.*s' needs a declaration without a body",
                           PXR_STR_ARG(alias.text));
    alias_function(from->func, to->func);
    ptx_advance(p);
    return ptx_expect(p, ';');
}

/* Makes nothing too new for a module whose version or target is not known. */
static void assume_newest(struct ptx_module *module, enum ptx_item_kind kind)
{
    if (kind == PTX_ITEM_VERSION && module->version == 0)
        module->version = UINT16_MAX;
    if (kind == PTX_ITEM_TARGET && module->target == 0) {
        module->target = UINT16_MAX;
        module->target_suffix = 'a';
    }
}

bool ptx_parse_module_directive(struct ptx_parser *p, bool *is_known)
{
    static const struct {
        const char *word;
        enum ptx_item_kind kind;
        bool (*parse)(struct ptx_parser *p);
    } directives[] = {
        {".version", PTX_ITEM_VERSION, parse_version},
        {".target", PTX_ITEM_TARGET, parse_target},
        {".address_size", PTX_ITEM_ADDRESS_SIZE, parse_address_size},
        {".file", PTX_ITEM_DIRECTIVE, ptx_parse_file_directive},
        {".loc", PTX_ITEM_DIRECTIVE, ptx_parse_loc_directive},
        {".section", PTX_ITEM_DIRECTIVE, ptx_parse_section},
        {".pragma", PTX_ITEM_DIRECTIVE, ptx_parse_pragma},
        {".alias", PTX_ITEM_DIRECTIVE, parse_alias},
    };
    const struct ptx_token start = p->tok;

    *is_known = false;
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        struct ptx_item *item;

        if (!ptx_accept_dot(p, directives[i].word))
            continue;
        *is_known = true;
        if (!directives[i].parse(p)) {
            assume_newest(p->module, directives[i].kind);
            return false;
        }
        item = ptx_add_item(p, directives[i].kind, start.line);
        if (!item)
            return false;
        item->text = ptx_text_since(p, start.text.ptr);
        return true;
    }
    return true;
}
