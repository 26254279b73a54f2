/* SPDX-License-Identifier: Apache-2.0
 *
 * Differences between processors in loading an object: the meaning of relocation types, and the
 * jump that reaches a function far away. Every processor's part is compiled everywhere, so that it
 * can be tested everywhere.
 */
#ifndef PTXRUN_JIT_RELOC_H
#define PTXRUN_JIT_RELOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reloc_class {
    RELOC_UNKNOWN,
    RELOC_OFFSET,   /* the symbol's offset in its section, 4 bytes: only where nothing is loaded */
    RELOC_ABSOLUTE, /* the symbol's address itself: only in data */
    RELOC_DIRECT,   /* the symbol, relative to the place: it must be in the object */
    RELOC_CALL,     /* as DIRECT, but a stub will do */
    RELOC_SLOT      /* the symbol's address slot, relative to the place */
};

struct reloc_arch {
    uint16_t machine; /* EM_… */
    size_t stub_bytes;
    enum reloc_class (*classify)(uint32_t type);
    /* Bytes that this (known) type changes at its place. */
    size_t (*width)(uint32_t type);
    /* Writes the relocation at `at`, which stands for the address `place`. target: the value by its
     * class, with the addend. False when the target is out of reach. */
    bool (*apply)(uint32_t type, uint8_t *at, uint64_t place, uint64_t target);
    /* A jump to the address in slot. */
    void (*write_stub)(uint8_t *at, uint64_t place, uint64_t slot);
};

extern const struct reloc_arch reloc_arch_x86_64;
extern const struct reloc_arch reloc_arch_aarch64;

/* The processor this program runs on. */
const struct reloc_arch *reloc_arch_host(void);

#endif
