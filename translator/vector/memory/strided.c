/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses with a small constant stride: whole vectors are loaded or stored and shuffled, for all
 * fields of a structure at once. Bytes between the first and the last one that active lanes access
 * may be read: the range is at most a page, so reading them cannot fail. Nothing before or behind
 * is touched, and nothing that lanes do not store is written.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/memory/load_store.h"

/* The memory of one copy as a row of words, one for each field of each lane; lane 0's come first,
 * or the last lane's if the stride is negative. It is accessed in pieces of `width` words. */
struct row {
    struct tr_widen *widen;
    const struct tr_memory *memory;
    const struct tr_fields *fields;
    LLVMTypeRef word;
    uint32_t step; /* words from lane to lane, and number of pieces */
    uint32_t end;  /* words up to the last that is accessed */
    bool is_reversed;
};

static LLVMTypeRef type_of_field(const struct row *row, uint32_t index)
{
    struct tr_memory memory = tr_plan_describe(row->widen->iteration, row->fields->values[index]);
    return memory.type;
}

/* The type of the first field if all have it, otherwise an integer. */
static LLVMTypeRef word_type(const struct row *row)
{
    LLVMTypeRef type = row->memory->type;
    bool is_one = LLVMGetTypeKind(type) != LLVMVectorTypeKind;
    for (uint32_t i = 0; i < row->fields->count; i++)
        is_one &= type_of_field(row, i) == type;
    return is_one ? type : tr_memory_word(row->widen, row->memory->bytes);
}

static struct row make_row(struct tr_widen *widen, const struct tr_memory *memory,
                           const struct tr_fields *fields)
{
    int64_t step = memory->stride / (int64_t)memory->bytes;
    struct row row = {.widen = widen, .memory = memory, .fields = fields};
    row.is_reversed = step < 0;
    row.step = (uint32_t)(step < 0 ? -step : step);
    row.end = (widen->width - 1) * row.step + fields->last_field + 1;
    row.word = word_type(&row);
    return row;
}

/* The address of the row's first word. */
static LLVMValueRef row_address(const struct row *row, uint32_t copy)
{
    const struct tr_memory *memory = row->memory;
    LLVMValueRef address = tr_widen_scalar(row->widen, memory->address, copy);
    int64_t offset = -(int64_t)row->fields->place_field * memory->bytes;
    if (row->is_reversed)
        offset += (int64_t)(row->widen->width - 1) * memory->stride;
    return tr_memory_seed_stride(row->widen, memory,
                                 tr_memory_advance(row->widen, address, offset));
}

static bool is_field(const struct row *row, uint32_t field)
{
    for (uint32_t i = 0; i < row->fields->count; i++)
        if (row->fields->fields[i] == field)
            return true;
    return false;
}

static LLVMValueRef reverse(const struct row *row, LLVMValueRef vector)
{
    if (!row->is_reversed)
        return vector;
    uint32_t lanes[TR_MAX_WIDTH];
    for (uint32_t i = 0; i < row->widen->width; i++)
        lanes[i] = row->widen->width - 1 - i;
    return tr_widen_shuffle(row->widen, vector, NULL, lanes, row->widen->width);
}

/* Converts a vector of words to the type of a field, or back. */
static LLVMValueRef convert(const struct row *row, LLVMValueRef vector, LLVMTypeRef type)
{
    LLVMTypeRef from = LLVMTypeOf(vector);
    if (from == type)
        return vector;
    LLVMBuilderRef builder = row->widen->builder;
    if (LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(builder, vector, type, "");
    if (LLVMGetTypeKind(LLVMGetElementType(from)) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(builder, vector, type, "");
    return LLVMBuildBitCast(builder, vector, type, "");
}

/* ---- pieces ---- */

/* The words that active lanes access in the piece that begins at word `start`; NULL: all. */
static LLVMValueRef piece_mask(const struct row *row, uint32_t start, LLVMValueRef mask,
                               bool is_all_read)
{
    uint32_t width = row->widen->width;
    uint32_t lanes[TR_MAX_WIDTH];
    bool is_full = true;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t lane = (start + i) / row->step;
        bool is_accessed = is_field(row, (start + i) % row->step);
        lanes[i] = row->is_reversed ? width - 1 - lane : lane;
        if (!is_accessed)
            lanes[i] = width;
        is_full &= is_accessed;
    }
    if (mask == NULL && (is_full || is_all_read))
        return NULL;
    LLVMTypeRef type = LLVMVectorType(row->widen->i1, width);
    if (mask == NULL)
        mask = LLVMConstAllOnes(type);
    return tr_widen_shuffle(row->widen, mask, LLVMConstNull(type), lanes, width);
}

static uint32_t piece_align(const struct row *row, uint32_t start)
{
    uint32_t bytes = start * row->memory->bytes;
    uint32_t align = bytes & (0U - bytes);
    return bytes == 0 || align > row->fields->align ? row->fields->align : align;
}

static LLVMValueRef piece_address(const struct row *row, LLVMValueRef address, uint32_t start)
{
    return tr_memory_advance(row->widen, address, (int64_t)start * row->memory->bytes);
}

/* Where a piece begins: the last ones overlap others so as not to reach behind the row's end. */
static uint32_t piece_start(const struct row *row, uint32_t piece)
{
    uint32_t last = row->end - row->widen->width;
    uint32_t start = piece * row->widen->width;
    return start < last ? start : last;
}

/* The word's place in a piece that may have it, or TR_NONE. */
static uint32_t word_in_piece(const struct row *row, uint32_t word, uint32_t piece)
{
    uint32_t start = piece_start(row, piece);
    return word >= start && word < start + row->widen->width ? word - start : TR_NONE;
}

/* ---- loads ---- */

static void load_pieces(const struct row *row, LLVMValueRef address, LLVMValueRef mask,
                        LLVMValueRef *pieces)
{
    LLVMTypeRef type = LLVMVectorType(row->word, row->widen->width);
    for (uint32_t j = 0; j < row->step; j++) {
        uint32_t start = piece_start(row, j);
        pieces[j] =
            tr_memory_load(row->widen, row->fields, type, piece_address(row, address, start),
                           piece_align(row, start), piece_mask(row, start, mask, true));
    }
}

/* Words of one field: lane p's is at element p once the pieces have been combined. */
struct part {
    LLVMValueRef vector;
    uint32_t first; /* the pieces they come from: [first, end) */
    uint32_t end;
};

static uint32_t place_in_part(const struct row *row, const struct part *part, uint32_t field,
                              uint32_t lane)
{
    uint32_t word = lane * row->step + field;
    uint32_t piece = word / row->widen->width;
    if (piece < part->first || piece >= part->end)
        return TR_NONE;
    return part->end - part->first == 1 ? word_in_piece(row, word, piece) : lane;
}

static struct part put_together(const struct row *row, struct part a, struct part b, uint32_t field)
{
    uint32_t lanes[TR_MAX_WIDTH];
    uint32_t width = row->widen->width;
    for (uint32_t p = 0; p < width; p++) {
        uint32_t other = place_in_part(row, &b, field, p);
        lanes[p] = other == TR_NONE ? place_in_part(row, &a, field, p) : other + width;
    }
    return (struct part){.vector = tr_widen_shuffle(row->widen, a.vector, b.vector, lanes, width),
                         .first = a.first,
                         .end = b.end};
}

/* Combines pairs of pieces, then pairs of those, … */
static LLVMValueRef pick_field(const struct row *row, LLVMValueRef *pieces, uint32_t field)
{
    struct part parts[TR_MAX_STEP];
    uint32_t count = row->step;
    for (uint32_t j = 0; j < count; j++)
        parts[j] = (struct part){.vector = pieces[j], .first = j, .end = j + 1};
    while (count > 1) {
        uint32_t pairs = count / 2;
        for (uint32_t i = 0; i < pairs; i++)
            parts[i] = put_together(row, parts[2 * i], parts[2 * i + 1], field);
        if (count % 2 != 0)
            parts[pairs] = parts[count - 1];
        count = pairs + count % 2;
    }
    return parts[0].vector;
}

/* Every second word of two pieces that follow each other. */
static LLVMValueRef halve(const struct row *row, LLVMValueRef *pieces, uint32_t pair,
                          uint32_t parity, bool is_loaded)
{
    uint32_t words[TR_MAX_WIDTH];
    uint32_t width = row->widen->width;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t word = 2 * i + parity; /* of the two */
        uint32_t piece = 2 * pair + word / width;
        uint32_t place =
            is_loaded ? word_in_piece(row, 2 * pair * width + word, piece) : word % width;
        words[i] = place == TR_NONE ? TR_NONE : place + word / width * width;
    }
    return tr_widen_shuffle(row->widen, pieces[2 * pair], pieces[2 * pair + 1], words, width);
}

/* Picks all fields of a step that is a power of two: level by level, words whose numbers have the
 * same lowest bits. Unused ones are removed later. */
static void pick_all(const struct row *row, LLVMValueRef *pieces, LLVMValueRef *fields)
{
    LLVMValueRef now[TR_MAX_STEP][TR_MAX_STEP]; /* by lowest bits */
    for (uint32_t j = 0; j < row->step; j++)
        now[0][j] = pieces[j];
    for (uint32_t classes = 1; classes < row->step; classes *= 2) {
        LLVMValueRef next[TR_MAX_STEP][TR_MAX_STEP];
        uint32_t pairs = row->step / classes / 2;
        for (uint32_t bits = 0; bits < 2 * classes; bits++)
            for (uint32_t i = 0; i < pairs; i++)
                next[bits][i] = halve(row, now[bits % classes], i, bits / classes, classes == 1);
        for (uint32_t bits = 0; bits < 2 * classes; bits++)
            for (uint32_t i = 0; i < pairs; i++)
                now[bits][i] = next[bits][i];
    }
    for (uint32_t field = 0; field < row->step; field++)
        fields[field] = now[field][0];
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static void load_strided(const struct row *row, uint32_t copy, LLVMValueRef mask)
{
    const struct tr_fields *fields = row->fields;
    LLVMValueRef pieces[TR_MAX_STEP];
    LLVMValueRef by_field[TR_MAX_STEP] = {NULL};
    load_pieces(row, row_address(row, copy), mask, pieces);
    if (fields->count > 1 && is_power_of_two(row->step))
        pick_all(row, pieces, by_field);
    for (uint32_t i = 0; i < fields->count; i++) {
        LLVMValueRef *field = &by_field[fields->fields[i]];
        if (*field == NULL)
            *field = pick_field(row, pieces, fields->fields[i]);
        LLVMTypeRef type = tr_widen_type(row->widen, type_of_field(row, i));
        tr_widen_define(row->widen, fields->values[i], copy,
                        convert(row, reverse(row, *field), type));
    }
}

/* ---- stores ---- */

/* The words of the piece, from the fields' vectors. */
static LLVMValueRef interleave(const struct row *row, LLVMValueRef *by_field, uint32_t piece)
{
    LLVMValueRef result = NULL;
    uint32_t width = row->widen->width;
    bool is_placed[TR_MAX_STEP] = {false};
    for (uint32_t field = 0; field < row->step; field++) {
        if (by_field[field] == NULL)
            continue;
        uint32_t words[TR_MAX_WIDTH];
        for (uint32_t i = 0; i < width; i++) {
            uint32_t word = piece * width + i;
            words[i] = is_placed[word % row->step] ? i : TR_NONE;
            if (word % row->step == field)
                words[i] = word / row->step + (result == NULL ? 0 : width);
        }
        is_placed[field] = true;
        LLVMValueRef a = result == NULL ? by_field[field] : result;
        result =
            tr_widen_shuffle(row->widen, a, result == NULL ? NULL : by_field[field], words, width);
    }
    return result;
}

/* Interleaves one half of two vectors, word by word. */
static LLVMValueRef zip(const struct row *row, LLVMValueRef a, LLVMValueRef b, uint32_t half)
{
    uint32_t words[TR_MAX_WIDTH];
    uint32_t width = row->widen->width;
    for (uint32_t i = 0; i < width; i++)
        words[i] = half * width / 2 + i / 2 + i % 2 * width;
    return tr_widen_shuffle(row->widen, a, b, words, width);
}

/* The pieces of a row all of whose fields are stored, with a step that is a power of two. */
static void zip_all(const struct row *row, LLVMValueRef *by_field, LLVMValueRef *pieces)
{
    LLVMValueRef now[TR_MAX_STEP][TR_MAX_STEP];
    for (uint32_t field = 0; field < row->step; field++)
        now[field][0] = by_field[field];
    uint32_t count = 1; /* pieces of a class */
    for (uint32_t classes = row->step / 2; classes > 0; classes /= 2) {
        for (uint32_t bits = 0; bits < classes; bits++) {
            LLVMValueRef next[TR_MAX_STEP];
            for (uint32_t j = 0; j < 2 * count; j++)
                next[j] = zip(row, now[bits][j / 2], now[bits + classes][j / 2], j % 2);
            for (uint32_t j = 0; j < 2 * count; j++)
                now[bits][j] = next[j];
        }
        count *= 2;
    }
    for (uint32_t j = 0; j < row->step; j++)
        pieces[j] = now[0][j];
}

static bool has_word(const struct row *row, uint32_t piece)
{
    for (uint32_t i = 0; i < row->widen->width; i++)
        if (is_field(row, (piece * row->widen->width + i) % row->step))
            return true;
    return false;
}

static void store_strided(const struct row *row, uint32_t copy, LLVMValueRef mask)
{
    struct tr_widen *widen = row->widen;
    const struct tr_fields *fields = row->fields;
    LLVMValueRef by_field[TR_MAX_STEP] = {NULL};
    LLVMValueRef pieces[TR_MAX_STEP] = {NULL};
    LLVMTypeRef type = LLVMVectorType(row->word, widen->width);
    for (uint32_t i = 0; i < fields->count; i++) {
        LLVMValueRef stored =
            LLVMGetOperand(widen->iteration->graph.values[fields->values[i]].llvm, 0);
        LLVMValueRef vector = convert(row, tr_widen_vector(widen, stored, copy), type);
        by_field[fields->fields[i]] = reverse(row, vector);
    }
    bool is_full = fields->count == row->step;
    if (is_full && is_power_of_two(row->step))
        zip_all(row, by_field, pieces);
    LLVMValueRef address = row_address(row, copy);
    for (uint32_t j = 0; j < row->step; j++) {
        uint32_t start = j * widen->width;
        if (!has_word(row, j))
            continue;
        if (pieces[j] == NULL)
            pieces[j] = interleave(row, by_field, j);
        tr_memory_store(widen, fields, pieces[j], piece_address(row, address, start),
                        piece_align(row, start), piece_mask(row, start, mask, false));
    }
}

/* ---- next to each other ---- */

/* Puts lanes into the order of memory, or back; each has `elements` elements. */
static LLVMValueRef in_order(const struct row *row, LLVMValueRef vector, uint32_t elements)
{
    uint32_t width = row->widen->width;
    uint32_t indices[TR_MAX_WIDTH * TR_MAX_STEP];
    if (vector == NULL || !row->is_reversed)
        return vector;
    for (uint32_t i = 0; i < width * elements; i++)
        indices[i] = (width - 1 - i / elements) * elements + i % elements;
    return tr_widen_shuffle(row->widen, vector, NULL, indices, width * elements);
}

static void access_contiguous(const struct row *row, uint32_t copy, LLVMValueRef mask)
{
    struct tr_widen *widen = row->widen;
    const struct tr_memory *memory = row->memory;
    uint32_t elements = tr_widen_element_count(memory->type);
    if (memory->stored != NULL && mask != NULL && tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        mask = NULL;
    if (mask != NULL)
        mask = tr_widen_repeat(widen, in_order(row, mask, 1), elements);
    LLVMValueRef address = row_address(row, copy);
    if (memory->stored == NULL) {
        if (widen->tuning->ask_ahead != NULL)
            widen->tuning->ask_ahead(widen, memory, copy, address);
        LLVMValueRef value = tr_memory_load(widen, row->fields, tr_widen_type(widen, memory->type),
                                            address, memory->align, mask);
        tr_widen_define(widen, memory->value, copy, in_order(row, value, elements));
        return;
    }
    LLVMValueRef value = in_order(row, tr_widen_vector(widen, memory->stored, copy), elements);
    tr_memory_store(widen, row->fields, value, address, memory->align, mask);
}

/* ---- all of them ---- */

void tr_memory_load_fields(struct tr_widen *widen, const struct tr_memory *memory,
                           const struct tr_fields *fields)
{
    struct row row = make_row(widen, memory, fields);
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (tr_widen_holder(widen, memory->value, c) != c)
            continue;
        LLVMValueRef mask = tr_widen_mask_for(widen, memory->value, c);
        if (row.step == 1)
            access_contiguous(&row, c, mask);
        else
            load_strided(&row, c, mask);
    }
}

static void stream_contiguous(const struct row *row)
{
    struct tr_store stores[TR_MAX_COPIES];
    for (uint32_t c = 0; c < row->widen->copies; c++)
        stores[c] = (struct tr_store){tr_widen_vector(row->widen, row->memory->stored, c),
                                      row_address(row, c)};
    tr_memory_store_past_caches(row->widen, row->memory, stores);
}

void tr_memory_store_fields(struct tr_widen *widen, const struct tr_memory *memory,
                            const struct tr_fields *fields)
{
    struct row row = make_row(widen, memory, fields);
    if (row.step == 1 && !row.is_reversed && tr_memory_may_pass_caches(widen, memory)) {
        stream_contiguous(&row);
        return;
    }
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (row.step == 1)
            access_contiguous(&row, c, widen->active.mask[c]);
        else
            store_strided(&row, c, widen->active.mask[c]);
    }
}
