/* SPDX-License-Identifier: Apache-2.0
 *
 * The fields that nvidia-smi --query-gpu knows.
 */
#ifndef PTXRUN_TOOLS_NVIDIA_SMI_FIELDS_H
#define PTXRUN_TOOLS_NVIDIA_SMI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/nvml/nvml_types.h"

#define SMI_VALUE_BYTES 128

struct smi_field {
    const char *name;
    const char *other_name;                                          /* or NULL */
    const char *unit;                                                /* or NULL */
    void (*write)(nvmlDevice_t device, char value[SMI_VALUE_BYTES]); /* NULL: not available */
    const char *help;
};

extern const struct smi_field smi_fields[];
extern const size_t smi_field_count;

/* The field of this name (len bytes), or NULL. */
const struct smi_field *smi_find_field(const char *name, size_t len);

/* The value as nvidia-smi shows it: "16 MiB", "16" without units, or "[N/A]". */
void smi_format_field(const struct smi_field *field, nvmlDevice_t device, bool has_unit,
                      char value[SMI_VALUE_BYTES]);

#endif
