/* Four threads with stacks of 1 MiB share one program and one tree, each with a scratch of its own. */

#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROWS = 3000, ROUNDS = 20 };

static jsf_program *program;
static jsf_tree *tree;
static int64_t waited[ROWS];
static int32_t ncpus[ROWS];
static uint32_t user[ROWS];
static double factors[3];
static double expected[ROWS];

static void evaluate(jsf_scratch *scratch, double *scores)
{
    const jsf_column columns[] = {
        {"eligible_time", JSF_KIND_I64, waited, ROWS, NULL, 0},
        {"ncpus", JSF_KIND_I32, ncpus, ROWS, NULL, 0},
        {"fairshare_factor", JSF_KIND_BY_ENTITY, user, ROWS, factors, 3},
    };
    uint8_t failed[ROWS];
    size_t failures;
    jsf_error *reason;
    const jsf_value first[] = {{JSF_KIND_I64, 3600, 0}, {JSF_KIND_I64, 1, 0}, {JSF_KIND_F64, 0, factors[1]}};
    double alone;
    CHECK_OK(jsf_program_evaluate(program, scratch, first, 3, &alone, &error));
    CHECK_OK(jsf_program_score(program, scratch, columns, 3, ROWS, scores, failed, &failures, &error));
    CHECK(failures == ROWS / 10 && failed[0] == JSF_FAILURE_ZERO_DIVISION && scores[1] == alone);
    CHECK_OK(jsf_program_error_of_row(program, scratch, 0, &reason, &error));
    CHECK(strstr(jsf_error_message(reason), "division by zero") != NULL);
    jsf_error_free(reason);
}

/* Formulas as deep as they may be, one on the stack of this thread, one beyond it. */
static void nested(size_t depth)
{
    char formula[4096];
    jsf_program *deep;
    jsf_scratch *scratch = jsf_scratch_new();
    const int32_t one = 1;
    const jsf_column column = {"ncpus", JSF_KIND_I32, &one, 1, NULL, 0};
    double score;
    size_t i, length = 0;
    for (i = 0; i < depth; i++)
        length += (size_t)sprintf(formula + length, "-max(0,");
    length += (size_t)sprintf(formula + length, "ncpus");
    for (i = 0; i < depth; i++)
        formula[length++] = ')';
    CHECK_OK(jsf_program_compile(formula, length, NULL, &deep, &error));
    CHECK_OK(jsf_program_score(deep, scratch, &column, 1, 1, &score, NULL, NULL, &error));
    CHECK(score == (depth == 1 ? -1 : 0));
    jsf_program_free(deep);
    jsf_scratch_free(scratch);
}

static void *run(void *none)
{
    jsf_scratch *scratch = jsf_scratch_new();
    double scores[ROWS];
    jsf_shares shares;
    int round;
    (void)none;
    nested(1);
    nested(24);
    nested(190);
    for (round = 0; round < ROUNDS; round++) {
        memset(scores, 0xff, sizeof scores);
        evaluate(scratch, scores);
        CHECK(memcmp(scores, expected, sizeof scores) == 0);
        CHECK_OK(jsf_tree_shares(tree, "a", 1, &shares, &error));
        CHECK(shares.perc == 0.5);
    }
    jsf_scratch_free(scratch);
    return NULL;
}

int main(void)
{
    static const char document[] = "{\"children\":[{\"name\":\"a\",\"shares\":1},{\"name\":\"b\",\"shares\":1}]}";
    pthread_attr_t attributes;
    pthread_t threads[THREADS];
    jsf_scratch *scratch = jsf_scratch_new();
    int i;
    for (i = 0; i < ROWS; i++) {
        waited[i] = INT64_C(3600) * i;
        ncpus[i] = i % 10;
        user[i] = (uint32_t)i % 3;
    }
    CHECK_OK(jsf_tree_read(document, JSF_NUL_TERMINATED, "fair-tree", &tree, &error));
    for (i = 0; i < 3; i++) {
        jsf_shares shares;
        CHECK_OK(jsf_tree_shares(tree, i == 1 ? "a" : "b", 1, &shares, &error));
        factors[i] = shares.factor;
    }
    program = compiled("log(1 + eligible_time) / ncpus + 2 ** fairshare_factor");
    evaluate(scratch, expected);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], &attributes, run, NULL) == 0);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    jsf_scratch_free(scratch);
    jsf_tree_free(tree);
    jsf_program_free(program);
    return 0;
}
