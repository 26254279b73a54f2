/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints how evenly the scheduler spreads blocks that take from 1 to 1000 units of work at random:
 * a run on the workers of this machine, and a simulation of up to 64 workers that claim from a real
 * grid, in virtual time, with the block times measured in that run. With ranges that are stolen
 * from, and with the one counter that grids of waiting blocks have. Each claim at the counter, and
 * each theft, writes a cache line that other workers use.
 *
 * Arguments: number of workers for the run (default: all CPUs), seed. Not a test: the numbers of
 * the run depend on the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scheduler/worker_pool.h"

#define BLOCKS      20000
#define WORK_MAX    1000
#define WORK_BITS   10   /* as many blocks take 1 to 2 units as take 512 to 1000 */
#define UNIT_NS     1000 /* about; a block takes 1 us to 1 ms */
#define SIM_WORKERS 64
#define CLAIM_NS    100
#define ROUNDS      3

static uint32_t work[BLOCKS];
static uint64_t *block_ns; /* shared with the process that measures */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void do_work(uint32_t units)
{
    for (volatile uint32_t i = 0; i < units * (UNIT_NS / 2); i++) {
    }
}

/* Of this thread: what others do on its CPU does not count. */
static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void uneven_blocks(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, block->ctaid[0]++) {
        uint64_t start_ns = cpu_ns();
        do_work(work[block->ctaid[0]]);
        block_ns[block->ctaid[0]] = cpu_ns() - start_ns;
    }
}

static struct sch_op *make_grid(void)
{
    struct sch_grid grid = {.code = {.fused = uneven_blocks},
                            .launch = {.grid = {BLOCKS, 1, 1}, .block = {32, 1, 1}}};
    struct sch_op *op = sch_op_grid(&grid, NULL, NULL);
    if (!op)
        exit(1);
    return op;
}

/* What the longest and all blocks took allows at best. */
static double ideal_ns(unsigned workers)
{
    uint64_t sum = 0;
    uint64_t longest = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        sum += block_ns[i];
        longest = block_ns[i] > longest ? block_ns[i] : longest;
    }
    double share = (double)sum / workers;
    return share > (double)longest ? share : (double)longest;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_run(unsigned workers)
{
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct sch_op *op = make_grid();
        uint64_t start_ns = sch_now_ns();
        sch_op_submit(op);
        sch_op_wait(op);
        ratios[i] = (double)(sch_op_finish_ns(op) - start_ns) / ideal_ns(workers);
        sch_op_release(op);
    }
    qsort(ratios, ROUNDS, sizeof *ratios, compare_doubles);
    printf("run, %u workers: %.3f of the ideal time\n", workers, ratios[ROUNDS / 2]);
}

/* ---- simulated workers ---- */

struct simulation {
    double ratio;
    uint64_t claims;
    uint64_t thefts;
};

static unsigned find_first_free(const uint64_t free_ns[SIM_WORKERS],
                                const bool is_idle[SIM_WORKERS], unsigned workers)
{
    unsigned best = workers;
    for (unsigned i = 0; i < workers; i++)
        if (!is_idle[i] && (best == workers || free_ns[i] < free_ns[best]))
            best = i;
    return best;
}

/* Claims as workers do, the one that is free first before the others. */
static struct simulation simulate(unsigned workers, bool has_ranges)
{
    struct sch_op *op = make_grid();
    struct sch_grid_op *grid = sch_grid_of(op);
    uint64_t free_ns[SIM_WORKERS] = {0};
    bool is_idle[SIM_WORKERS] = {false};
    struct simulation result = {0};
    uint64_t end_ns = 0;
    if (has_ranges)
        sch_grid_deal(grid);
    for (unsigned i; (i = find_first_free(free_ns, is_idle, workers)) < workers;) {
        struct sch_worker worker = {.group_index = i, .cpu = -1};
        uint64_t first;
        uint64_t count = sch_grid_claim(grid, &worker, &first);
        is_idle[i] = count == 0;
        if (count == 0)
            continue;
        uint64_t ran_ns = CLAIM_NS;
        for (uint64_t block = first; block < first + count; block++)
            ran_ns += block_ns[block];
        sch_grid_note_chunk(grid, &worker, sch_grid_fit(grid), count, ran_ns);
        free_ns[i] += ran_ns;
        end_ns = free_ns[i] > end_ns ? free_ns[i] : end_ns;
        result.claims++;
    }
    result.ratio = (double)end_ns / ideal_ns(workers);
    result.thefts = grid->ranges ? atomic_load(&grid->ranges->begun) : 0;
    sch_op_release(op);
    return result;
}

static void print_simulation(unsigned workers)
{
    struct simulation counter = simulate(workers, false);
    struct simulation ranges = simulate(workers, true);
    printf("simulated, %u workers: counter %.3f of the ideal time, %llu writes to its line; "
           "ranges %.3f, %llu chunks, %llu thefts\n",
           workers, counter.ratio, (unsigned long long)counter.claims, ranges.ratio,
           (unsigned long long)ranges.claims, (unsigned long long)ranges.thefts);
}

static uint32_t random_work(uint64_t *random)
{
    uint32_t units = 1u << next_random(random) % WORK_BITS;
    units += next_random(random) % units;
    return units < WORK_MAX ? units : WORK_MAX;
}

/* In a process of its own: a pool keeps the number of workers that it was started with. */
static void run_apart(void (*print)(unsigned), unsigned workers)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (sch_start(workers, NULL) != PXR_OK)
            _exit(1);
        print(workers);
        fflush(stdout);
        _exit(0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    unsigned workers = argc > 1 ? (unsigned)atoi(argv[1]) : sch_usable_cpus();
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    block_ns = mmap(NULL, BLOCKS * sizeof *block_ns, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block_ns == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < BLOCKS; i++)
        work[i] = random_work(&random);
    run_apart(print_run, workers);
    for (unsigned simulated = 2; simulated <= SIM_WORKERS; simulated *= 2)
        run_apart(print_simulation, simulated);
    return 0;
}
