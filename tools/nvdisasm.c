/* SPDX-License-Identifier: Apache-2.0
 *
 * nvdisasm: where programs look for the disassembler of that name, one clear line.
 */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        puts("nvdisasm: ptxrun " PTXRUN_VERSION ", in the place of nvdisasm\n"
             "Cuda compilation tools, release 13.0, V13.0.88");
        return 0;
    }
    fputs("nvdisasm fatal   : ptxrun runs PTX and makes no machine code, so there is nothing to "
          "disassemble; 'cuobjdump -ptx FILE' prints the PTX\n",
          stderr);
    return 255;
}
