/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for nvidia-smi, on the PATH of programs that ptxrun starts: lists the devices and
 * answers queries in the formats that scripts parse. Changes nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/nvidia_smi_fields.h"

/* As the manual of nvidia-smi lists them. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_BAD_ARGUMENT = 2,
    EXIT_NOT_FOUND = 6,
    EXIT_NO_DRIVER = 9,
    EXIT_OTHER = 255
};

#define DEVICES_MAX 64
#define FIELDS_MAX  256

enum action {
    ACTION_TABLE,
    ACTION_LIST,
    ACTION_QUERY,
    ACTION_APPS,
    ACTION_HELP,
    ACTION_FIELDS,
    ACTION_VERSION
};

struct command_line {
    enum action action;
    const char *ids;    /* of -i, or NULL */
    const char *fields; /* of the query */
    const char *format; /* of --format, or NULL */
};

struct devices {
    unsigned count;
    nvmlDevice_t of[DEVICES_MAX];
};

struct format {
    bool has_header;
    bool has_units;
};

/* ---- the command line ---- */

/* The value of an option "--name=value" or "--name value"; *taken arguments belong to it. */
static const char *option_value(char **argv, const char *name, int *taken)
{
    size_t len = strlen(name);
    *taken = 1;
    if (strncmp(argv[0], name, len) != 0)
        return NULL;
    if (argv[0][len] == '=')
        return argv[0] + len + 1;
    if (argv[0][len] || !argv[1])
        return NULL;
    *taken = 2;
    return argv[1];
}

static bool is_flag(const char *text, const char *short_name, const char *long_name)
{
    return (short_name && strcmp(text, short_name) == 0) || strcmp(text, long_name) == 0;
}

static bool take_flag(const char *text, struct command_line *line)
{
    static const struct {
        const char *short_name;
        const char *long_name;
        enum action action;
    } flags[] = {{"-L", "--list-gpus", ACTION_LIST},
                 {"-h", "--help", ACTION_HELP},
                 {NULL, "--version", ACTION_VERSION},
                 {NULL, "--help-query-gpu", ACTION_FIELDS}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (!is_flag(text, flags[i].short_name, flags[i].long_name))
            continue;
        line->action = flags[i].action;
        return true;
    }
    return false;
}

/* The number of arguments it took; 0: it is no known option. */
static int take_option(char **argv, struct command_line *line)
{
    int taken;
    const char *value;
    if (take_flag(argv[0], line))
        return 1;
    if ((value = option_value(argv, "-i", &taken)) ||
        (value = option_value(argv, "--id", &taken))) {
        line->ids = value;
    } else if ((value = option_value(argv, "--query-gpu", &taken))) {
        line->action = ACTION_QUERY;
        line->fields = value;
    } else if ((value = option_value(argv, "--query-compute-apps", &taken))) {
        line->action = ACTION_APPS;
        line->fields = value;
    } else if ((value = option_value(argv, "--format", &taken))) {
        line->format = value;
    } else {
        return 0;
    }
    return taken;
}

static bool parse_command_line(char **argv, struct command_line *line)
{
    *line = (struct command_line){.action = ACTION_TABLE};
    for (char **at = argv + 1; *at;) {
        int taken = take_option(at, line);
        if (taken == 0) {
            printf("ERROR: Option %s is not recognized. Please run 'nvidia-smi -h'.\n\n", *at);
            return false;
        }
        at += taken;
    }
    return true;
}

/* "csv", and "noheader" and "nounits" in any order. */
static bool parse_format(const char *text, struct format *format)
{
    bool is_csv = false;
    *format = (struct format){.has_header = true, .has_units = true};
    for (const char *at = text ? text : ""; *at;) {
        size_t len = strcspn(at, ",");
        if (len == 3 && memcmp(at, "csv", len) == 0)
            is_csv = true;
        else if (len == 8 && memcmp(at, "noheader", len) == 0)
            format->has_header = false;
        else if (len == 7 && memcmp(at, "nounits", len) == 0)
            format->has_units = false;
        else
            is_csv = false;
        at += len + (at[len] == ',');
        at += strspn(at, " ");
    }
    if (!is_csv)
        printf("\"--format=\" switch is missing or wrong. It has to begin with \"csv\".\n\n");
    return is_csv;
}

/* ---- devices ---- */

static nvmlDevice_t find_device(const char *id)
{
    char *end;
    nvmlDevice_t device = NULL;
    unsigned long index = strtoul(id, &end, 10);
    bool is_index = end != id && !*end && index < DEVICES_MAX;
    if (is_index && nvmlDeviceGetHandleByIndex_v2((unsigned)index, &device) == NVML_SUCCESS)
        return device;
    if (nvmlDeviceGetHandleByUUID(id, &device) == NVML_SUCCESS)
        return device;
    if (strchr(id, ':') && nvmlDeviceGetHandleByPciBusId_v2(id, &device) == NVML_SUCCESS)
        return device;
    return NULL;
}

/* All devices, or those that a comma-separated list names; false when one does not exist. */
static bool choose_devices(const char *ids, struct devices *devices)
{
    devices->count = 0;
    if (!ids) {
        nvmlDeviceGetCount_v2(&devices->count);
        for (unsigned i = 0; i < devices->count; i++)
            nvmlDeviceGetHandleByIndex_v2(i, &devices->of[i]);
        return devices->count > 0;
    }
    while (*ids && devices->count < DEVICES_MAX) {
        char id[64];
        size_t len = strcspn(ids, ",");
        snprintf(id, sizeof id, "%.*s", (int)len, ids);
        nvmlDevice_t device = find_device(id);
        if (!device)
            return false;
        devices->of[devices->count++] = device;
        ids += len + (ids[len] == ',');
    }
    return devices->count > 0;
}

/* ---- what is printed ---- */

static void print_list(const struct devices *devices)
{
    for (unsigned i = 0; i < devices->count; i++) {
        unsigned index = 0;
        char name[SMI_VALUE_BYTES] = "";
        char uuid[SMI_VALUE_BYTES] = "";
        nvmlDeviceGetIndex(devices->of[i], &index);
        nvmlDeviceGetName(devices->of[i], name, sizeof name);
        nvmlDeviceGetUUID(devices->of[i], uuid, sizeof uuid);
        printf("GPU %u: %s (UUID: %s)\n", index, name, uuid);
    }
}

/* The fields that a list names, in its order; 0 after a message. */
static size_t parse_fields(const char *list, const struct smi_field *fields[FIELDS_MAX],
                           const char *names[FIELDS_MAX])
{
    size_t count = 0;
    while (*list && count < FIELDS_MAX) {
        list += strspn(list, " ");
        size_t len = strcspn(list, ", ");
        fields[count] = smi_find_field(list, len);
        if (!fields[count]) {
            printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)len, list);
            return 0;
        }
        names[count++] = list;
        list += len;
        list += strspn(list, " ,");
    }
    if (count == 0)
        printf("Field \"\" is not a valid field to query.\n\n");
    return count;
}

static void print_query_header(const struct smi_field *const *fields, const char *const *names,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s%.*s", i ? ", " : "", (int)strcspn(names[i], ", "), names[i]);
        if (fields[i]->unit)
            printf(" [%s]", fields[i]->unit);
    }
    puts("");
}

static enum exit_code run_query(const struct command_line *line, const struct devices *devices)
{
    const struct smi_field *fields[FIELDS_MAX];
    const char *names[FIELDS_MAX];
    struct format format;
    if (!parse_format(line->format, &format))
        return EXIT_BAD_ARGUMENT;
    size_t count = parse_fields(line->fields, fields, names);
    if (count == 0)
        return EXIT_BAD_ARGUMENT;
    if (format.has_header)
        print_query_header(fields, names, count);
    for (unsigned i = 0; i < devices->count; i++) {
        for (size_t f = 0; f < count; f++) {
            char value[SMI_VALUE_BYTES] = "";
            smi_format_field(fields[f], devices->of[i], format.has_units, value);
            printf("%s%s", f ? ", " : "", value);
        }
        puts("");
    }
    return EXIT_OK;
}

/* No processes are known: there are only headers. */
static enum exit_code run_apps_query(const struct command_line *line)
{
    struct format format;
    if (!parse_format(line->format, &format))
        return EXIT_BAD_ARGUMENT;
    if (!format.has_header)
        return EXIT_OK;
    for (const char *at = line->fields; *at;) {
        size_t len = strcspn(at, ",");
        bool is_memory = strncmp(at, "used_", 5) == 0;
        printf("%s%.*s%s", at == line->fields ? "" : ", ", (int)len, at, is_memory ? " [MiB]" : "");
        at += len + (at[len] == ',');
    }
    puts("");
    return EXIT_OK;
}

static void print_rule(char fill)
{
    putchar('+');
    for (int i = 0; i < 89; i++)
        putchar(fill);
    puts("+");
}

static void print_table(const struct devices *devices)
{
    char driver[SMI_VALUE_BYTES] = "";
    char date[64];
    int cuda = 0;
    time_t now = time(NULL);
    struct tm local;
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetCudaDriverVersion_v2(&cuda);
    strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", localtime_r(&now, &local));
    printf("%s\n", date);
    print_rule('-');
    char versions[3][64];
    snprintf(versions[0], sizeof versions[0], "NVIDIA-SMI %.20s", driver);
    snprintf(versions[1], sizeof versions[1], "Driver Version: %.20s", driver);
    snprintf(versions[2], sizeof versions[2], "CUDA Version: %d.%d", cuda / 1000, cuda % 1000 / 10);
    printf("| %-32s %-34s %-20s|\n", versions[0], versions[1], versions[2]);
    print_rule('-');
    printf("| %-4s %-28s %-18s %-22s %-11s |\n", "GPU", "Name", "Bus-Id", "Memory-Usage",
           "GPU-Util");
    print_rule('=');
    for (unsigned i = 0; i < devices->count; i++) {
        char value[4][SMI_VALUE_BYTES] = {"", "", "", ""};
        char memory[64];
        static const char *const shown[] = {"index", "name", "pci.bus_id", "utilization.gpu"};
        for (int f = 0; f < 4; f++)
            smi_format_field(smi_find_field(shown[f], strlen(shown[f])), devices->of[i], true,
                             value[f]);
        nvmlMemory_t bytes = {0};
        nvmlDeviceGetMemoryInfo(devices->of[i], &bytes);
        snprintf(memory, sizeof memory, "%lluMiB / %lluMiB", bytes.used >> 20, bytes.total >> 20);
        printf("| %-4s %-28s %-18s %-22s %-11s |\n", value[0], value[1], value[2], memory,
               value[3]);
    }
    print_rule('-');
    puts("Devices are shares of this machine's CPUs (ptxrun).");
}

static void print_help(void)
{
    puts("nvidia-smi [options]: shows the devices that ptxrun makes of this machine's CPUs\n"
         "\n"
         "  <no arguments>              a table of the devices\n"
         "  -L, --list-gpus             one line for each device\n"
         "  -i, --id=LIST               only these devices: numbers, UUIDs or bus ids\n"
         "  --query-gpu=FIELDS          values of these fields; needs --format=csv\n"
         "  --help-query-gpu            the fields\n"
         "  --query-compute-apps=FIELDS processes; none is ever shown\n"
         "  --format=csv[,noheader][,nounits]\n"
         "  --version, -h");
}

static void print_fields(void)
{
    puts("List of valid properties to query for the switch \"--query-gpu=\":\n");
    for (size_t i = 0; i < smi_field_count; i++) {
        const struct smi_field *field = &smi_fields[i];
        printf("\"%s\"", field->name);
        if (field->other_name)
            printf(" or \"%s\"", field->other_name);
        printf("\n%s%s.\n\n", field->help, field->write ? "" : "; not available");
    }
}

static void print_version(void)
{
    char driver[SMI_VALUE_BYTES] = "";
    char nvml[SMI_VALUE_BYTES] = "";
    int cuda = 0;
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetNVMLVersion(nvml, sizeof nvml);
    nvmlSystemGetCudaDriverVersion_v2(&cuda);
    printf("NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\n"
           "CUDA Version        : %d.%d\n",
           driver, nvml, driver, cuda / 1000, cuda % 1000 / 10);
}

static enum exit_code run(const struct command_line *line)
{
    struct devices devices;
    if (!choose_devices(line->ids, &devices)) {
        puts("No devices were found");
        return EXIT_NOT_FOUND;
    }
    switch (line->action) {
    case ACTION_TABLE:
        print_table(&devices);
        break;
    case ACTION_LIST:
        print_list(&devices);
        break;
    case ACTION_QUERY:
        return run_query(line, &devices);
    case ACTION_APPS:
        return run_apps_query(line);
    case ACTION_HELP:
        print_help();
        break;
    case ACTION_FIELDS:
        print_fields();
        break;
    case ACTION_VERSION:
        print_version();
        break;
    }
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    struct command_line line;
    if (argc < 1 || !parse_command_line(argv, &line))
        return EXIT_BAD_ARGUMENT;
    if (nvmlInit_v2() != NVML_SUCCESS)
        return EXIT_NO_DRIVER;
    enum exit_code code = run(&line);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "nvidia-smi: cannot write the output: %s\n", strerror(errno));
        return EXIT_OTHER;
    }
    return (int)code;
}
