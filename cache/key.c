/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys are BLAKE3, from the copy in LLVM's static archives: only its objects are linked, nothing of
 * LLVM.
 */
#include "cache/key.h"

#include <llvm-c/blake3.h>
#include <string.h>

_Static_assert(sizeof(llvm_blake3_hasher) <= CACHE_HASH_STATE_BYTES, "the state has no room");
_Static_assert(alignof(llvm_blake3_hasher) <= 8, "the state is not aligned");
_Static_assert(LLVM_BLAKE3_OUT_LEN == CACHE_KEY_BYTES, "keys have another length");

static llvm_blake3_hasher *hasher(struct cache_hash *hash)
{
    return (llvm_blake3_hasher *)(void *)hash->state;
}

void cache_hash_init(struct cache_hash *hash, const char *kind)
{
    llvm_blake3_hasher_init(hasher(hash));
    cache_hash_text(hash, kind);
}

void cache_hash_init_keyed(struct cache_hash *hash, const struct cache_key *secret)
{
    _Static_assert(LLVM_BLAKE3_KEY_LEN == CACHE_KEY_BYTES, "secrets have another length");
    llvm_blake3_hasher_init_keyed(hasher(hash), secret->bytes);
}

void cache_hash_number(struct cache_hash *hash, uint64_t number)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    llvm_blake3_hasher_update(hasher(hash), bytes, sizeof bytes);
}

void cache_hash_bytes(struct cache_hash *hash, const void *bytes, size_t size_bytes)
{
    cache_hash_number(hash, size_bytes);
    if (size_bytes > 0)
        llvm_blake3_hasher_update(hasher(hash), bytes, size_bytes);
}

void cache_hash_text(struct cache_hash *hash, const char *text)
{
    cache_hash_bytes(hash, text, strlen(text));
}

struct cache_key cache_hash_key(const struct cache_hash *hash)
{
    struct cache_key key;
    llvm_blake3_hasher_finalize((const llvm_blake3_hasher *)(const void *)hash->state, key.bytes,
                                sizeof key.bytes);
    return key;
}
