/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the printer on every .ptx file of folders: "print_folder FOLDER…", or those of the
 * variable PTXRUN_PTX_FOLDERS, separated by ":". No file at all is a failure.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "print_check.h"

struct counts {
    unsigned files;
    unsigned bad;
};

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    FILE *out;
    char part[65536];
    size_t n;

    if (!file)
        return NULL;
    out = open_memstream(&bytes, len);
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        fwrite(part, 1, n, out);
    fclose(out);
    fclose(file);
    return bytes;
}

static void check_file(const char *path, struct counts *counts)
{
    struct pxr_error why;
    size_t len;
    char *bytes = read_file(path, &len);

    counts->files++;
    if (bytes && print_check((struct pxr_str){bytes, len}, path, &why) == PRINT_CHECK_OK) {
        free(bytes);
        return;
    }
    counts->bad++;
    printf("%s\n", bytes ? why.message : path);
    free(bytes);
}

static void check_folder(const char *folder, struct counts *counts)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);

    if (count < 0)
        printf("cannot read the folder '%s'\n", folder);
    for (int i = 0; i < count; i++) {
        size_t len = strlen(entries[i]->d_name);
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (len > 4 && strcmp(entries[i]->d_name + len - 4, ".ptx") == 0)
            check_file(path, counts);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    const char *variable = getenv("PTXRUN_PTX_FOLDERS");
    char *folders = strdup(variable ? variable : "");
    struct counts counts = {0};

    for (char *folder = strtok(folders, ":"); folder; folder = strtok(NULL, ":"))
        check_folder(folder, &counts);
    for (int i = 1; i < argc; i++)
        check_folder(argv[i], &counts);
    free(folders);
    printf("%u files, %u not printed as they are\n", counts.files, counts.bad);
    return counts.files == 0 || counts.bad != 0;
}
