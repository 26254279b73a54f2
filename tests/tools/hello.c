/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that needs no driver.
 */
#include <stdio.h>

int main(void)
{
    puts("hello");
    return 0;
}
