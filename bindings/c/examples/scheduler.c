/*
 * The library inside a scheduler written in C. The scheduler keeps its jobs in columns; every cycle it scores them, starts
 * the best ones that fit, adds to the usage of their users, from which a fair-share tree is made, and lets the rest wait on.
 *
 *     cc scheduler.c $(pkg-config --cflags --libs job-sort-formula) -o scheduler
 */

#include <job_sort_formula.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_JOBS = 64, CPUS = 64, CYCLE = 600 /* seconds */, TOP = 4, CYCLES = 4, USERS = 3 };

static const char FORMULA[] = "100 * fairshare_factor + eligible_time / 600 + 300 / walltime";

static const char *const TREE = /* with the usage of each user */
    "{\"children\":["
    "  {\"name\":\"physics\",\"shares\":60,\"children\":["
    "    {\"name\":\"ann\",\"shares\":2,\"usage\":%.17g},{\"name\":\"bob\",\"shares\":1,\"usage\":%.17g}]},"
    "  {\"name\":\"carl\",\"shares\":40,\"usage\":%.17g}]}";

static const char *const USER[USERS] = {"ann", "bob", "carl"};
static double usage[USERS] = {40000, 0, 20000}; /* CPU seconds, which decay */

/* The waiting jobs in the order of submission: a column for each thing that is known of them. */
static struct {
    size_t count;
    int32_t id[MAX_JOBS];
    uint32_t user[MAX_JOBS]; /* the index in USER */
    int64_t ncpus[MAX_JOBS];
    int64_t walltime[MAX_JOBS];      /* seconds; 0 if the user gave none */
    int64_t eligible_time[MAX_JOBS]; /* seconds */
} queue;

static void fail(const jsf_error *error)
{
    uint32_t start, end;
    fprintf(stderr, "%s", jsf_error_message(error));
    if (jsf_error_span(error, &start, &end))
        fprintf(stderr, ": `%.*s`", (int)(end - start), FORMULA + start);
    fputc('\n', stderr);
    exit(1);
}

/* Makes a call whose last argument is `&error`. `error` is read after the call, as C would not promise in one expression. */
#define REQUIRE(call)                \
    do {                             \
        jsf_error *error;            \
        if ((call) != JSF_STATUS_OK) \
            fail(error);             \
    } while (0)

static void submit(uint32_t user, int64_t ncpus, int64_t walltime)
{
    static int32_t next_id = 1;
    const size_t row = queue.count++;
    queue.id[row] = next_id++;
    queue.user[row] = user;
    queue.ncpus[row] = ncpus;
    queue.walltime[row] = walltime;
    queue.eligible_time[row] = 0;
}

/* Removes jobs; the others stay in the order of submission. */
static void remove_jobs(const uint8_t *is_removed)
{
    size_t row, kept = 0;
    for (row = 0; row < queue.count; row++) {
        if (is_removed[row])
            continue;
        queue.id[kept] = queue.id[row];
        queue.user[kept] = queue.user[row];
        queue.ncpus[kept] = queue.ncpus[row];
        queue.walltime[kept] = queue.walltime[row];
        queue.eligible_time[kept] = queue.eligible_time[row];
        kept++;
    }
    queue.count = kept;
}

/* The fair-share factor of each user. */
static void assess(double *factors)
{
    char document[500];
    jsf_tree *tree;
    int user;
    snprintf(document, sizeof document, TREE, usage[0], usage[1], usage[2]);
    REQUIRE(jsf_tree_read(document, JSF_NUL_TERMINATED, "fair-tree", &tree, &error));
    for (user = 0; user < USERS; user++) {
        jsf_shares shares;
        REQUIRE(jsf_tree_shares(tree, USER[user], JSF_NUL_TERMINATED, &shares, &error));
        factors[user] = shares.factor;
    }
    jsf_tree_free(tree);
}

static void cycle(const jsf_program *program, jsf_scratch *scratch)
{
    double factors[USERS];
    const jsf_column columns[] = {
        {"fairshare_factor", JSF_KIND_BY_ENTITY, queue.user, queue.count, factors, USERS},
        {"eligible_time", JSF_KIND_I64, queue.eligible_time, queue.count, NULL, 0},
        {"walltime", JSF_KIND_I64, queue.walltime, queue.count, NULL, 0},
    };
    double scores[MAX_JOBS];
    uint8_t failed[MAX_JOBS], starts[MAX_JOBS] = {0};
    uint32_t order[TOP];
    int64_t free_cpus = CPUS;
    size_t row, place;

    /* the usage of the last cycle becomes numbers, and these become scores */
    assess(factors);
    REQUIRE(jsf_program_score(program, scratch, columns, 3, queue.count, scores, failed, NULL, &error));
    REQUIRE(jsf_top(scores, queue.count, TOP, order, &error));

    for (place = 0; place < TOP && place < queue.count; place++) {
        row = order[place];
        printf("  job %d of %s: %.4f", (int)queue.id[row], USER[queue.user[row]],
               jsf_round_to_float32(scores[row]));
        if (failed[row] != JSF_FAILURE_NONE) {
            jsf_error *reason;
            REQUIRE(jsf_program_error_of_row(program, scratch, row, &reason, &error));
            printf(" (%s)", jsf_error_message(reason));
            jsf_error_free(reason);
        }
        starts[row] = queue.ncpus[row] <= free_cpus;
        puts(starts[row] ? ", starts" : ", waits");
        if (starts[row]) {
            free_cpus -= queue.ncpus[row];
            usage[queue.user[row]] += (double)(queue.ncpus[row] * CYCLE);
        }
    }
    remove_jobs(starts);
    for (row = 0; row < queue.count; row++)
        queue.eligible_time[row] += CYCLE;
    for (row = 0; row < USERS; row++)
        usage[row] *= 0.99;
}

int main(void)
{
    jsf_program *program;
    jsf_scratch *scratch = jsf_scratch_new();
    int i;

    if (jsf_abi_version() != JSF_ABI_VERSION)
        return 1;
    /* once */
    REQUIRE(jsf_program_compile(FORMULA, sizeof FORMULA - 1, NULL, &program, &error));

    for (i = 0; i < 4; i++) {
        submit(0, 8 + i, 3600);
        submit(1, 32, 600);
        submit(2, 16, i == 2 ? 0 : 1200);
    }
    for (i = 1; i <= CYCLES; i++) {
        printf("cycle %d, %d jobs wait\n", i, (int)queue.count);
        cycle(program, scratch);
    }

    jsf_scratch_free(scratch);
    jsf_program_free(program);
    return 0;
}
