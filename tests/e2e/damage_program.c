/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a copy of an executable whose fat binaries are damaged; everything the host needs to run
 * it stays intact. Usage: damage_program SEED PROGRAM COPY
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptx/elf.h"
#include "tests/unit/robust/mutate.h"

struct program {
    uint8_t *bytes;
    uint64_t seed;
};

static enum pxr_status damage_section(void *user, const struct ptx_elf_section *section,
                                      struct pxr_error *err)
{
    (void)err;
    struct program *program = user;
    struct mutant mutant;
    mutant_init(&mutant, section->bytes.ptr, section->bytes.len, program->seed++);
    mutant_damage_bytes(&mutant);
    /* What was cut off reads as zero. */
    memset(program->bytes + section->offset, 0, section->bytes.len);
    memcpy(program->bytes + section->offset, mutant.bytes, mutant.len);
    mutant_fini(&mutant);
    return PXR_OK;
}

static uint8_t *read_file(const char *path, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        return NULL;
    *len = (size_t)status.st_size;
    uint8_t *bytes = malloc(*len);
    if (bytes && read(fd, bytes, *len) != (ssize_t)*len) {
        free(bytes);
        bytes = NULL;
    }
    close(fd);
    return bytes;
}

int main(int argc, char **argv)
{
    size_t len = 0;
    uint8_t *original = argc == 4 ? read_file(argv[2], &len) : NULL;
    struct program program = {.seed = argc == 4 ? strtoull(argv[1], NULL, 10) : 0};
    if (!original)
        return 2;
    program.bytes = malloc(len);
    if (!program.bytes)
        return 2;
    memcpy(program.bytes, original, len);
    struct pxr_error error = {0};
    if (ptx_elf_visit_fatbins((struct ptx_span){original, len}, argv[2], damage_section, &program,
                              &error) != PXR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    int fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    bool is_written = fd >= 0 && write(fd, program.bytes, len) == (ssize_t)len && close(fd) == 0;
    free(original);
    free(program.bytes);
    return is_written ? 0 : 2;
}
