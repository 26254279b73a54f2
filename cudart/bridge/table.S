/* SPDX-License-Identifier: Apache-2.0
 *
 * The one name that a library exports for the libraries beside it: a number that tells versions
 * of the list apart, then the functions' addresses in the order of the list.
 */
#define BRIDGED(name)

#include BRIDGE_LIST
#undef BRIDGED

    .section .data.rel.ro, "aw", %progbits
    .globl BRIDGE_TABLE
    .type BRIDGE_TABLE, %object
    .balign 8
BRIDGE_TABLE:
    .quad BRIDGE_NUMBER
#define BRIDGED(name) .quad name;
#include BRIDGE_LIST
    .size BRIDGE_TABLE, .-BRIDGE_TABLE

    .section .note.GNU-stack, "", %progbits
