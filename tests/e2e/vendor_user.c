/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that needs a closed library. Usage: vendor_user [image]
 */
int vendor_start(int by_image);

int main(int argc, char **argv)
{
    (void)argv;
    return vendor_start(argc > 1);
}
