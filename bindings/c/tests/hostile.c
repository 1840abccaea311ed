/* Wrong calls give errors: null everywhere, wrong lengths and kinds, misaligned pointers, bytes that are not UTF-8. */

#include "check.h"

#include <math.h>

static const int32_t NUMBERS[] = {1, 2, 3};

/* Scores three rows of `ncpus` in one column. */
static jsf_status score(const jsf_column *column, double *scores, jsf_error **error)
{
    jsf_program *program = compiled("ncpus + 1");
    jsf_scratch *scratch = jsf_scratch_new();
    const jsf_status status = jsf_program_score(program, scratch, column, 1, 3, scores, NULL, NULL, error);
    jsf_scratch_free(scratch);
    jsf_program_free(program);
    return status;
}

static void null_handles(void)
{
    jsf_shares shares;
    jsf_program *program;
    jsf_error *reason;
    jsf_schema *schema;
    jsf_tree *tree;
    char *json;
    CHECK(jsf_error_status(NULL) == JSF_STATUS_ARGUMENT && jsf_error_message(NULL) == NULL);
    CHECK(!jsf_error_span(NULL, NULL, NULL));
    CHECK(jsf_program_input_count(NULL) == 0 && jsf_program_input(NULL, 0) == NULL);
    CHECK(jsf_program_undefined(NULL, 0) == NULL && jsf_tree_warnings(NULL) == NULL);
    jsf_error_free(NULL);
    jsf_schema_free(NULL);
    jsf_program_free(NULL);
    jsf_scratch_free(NULL);
    jsf_tree_free(NULL);
    jsf_string_free(NULL);
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`schema` is null", jsf_schema_add_resource(NULL, "x", 1, "long", &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`program` is null", jsf_program_compile("1", 1, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`formula` is null",
                jsf_program_compile(NULL, JSF_NUL_TERMINATED, NULL, &program, &error));
    CHECK_ERROR(JSF_STATUS_SYNTAX, "", jsf_program_compile(NULL, 0, NULL, &program, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`program` is null",
                jsf_program_score(NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`program` is null", jsf_program_error_of_row(NULL, NULL, 0, &reason, &error));
    CHECK(reason == NULL);
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`reason` is null", jsf_program_error_of_row(NULL, NULL, 0, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "are the same pointer", jsf_program_error_of_row(NULL, NULL, 0, &error, &error));
    CHECK_ERROR(JSF_STATUS_SYNTAX, "a second line between the quotes", jsf_program_compile("ncpus\n+1", 8, NULL, &program, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`program` is null", jsf_program_evaluate(NULL, NULL, NULL, 0, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`tree` is null", jsf_tree_read("{}", 2, "pbs", NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`policy` is null", jsf_tree_read("{}", 2, NULL, &tree, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`document` is null", jsf_tree_read(NULL, 2, "pbs", &tree, &error));
    CHECK_ERROR(JSF_STATUS_DOCUMENT, "", jsf_tree_read(NULL, 0, "pbs", &tree, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`usage` is null",
                jsf_tree_read_pbs("a 1 root 1\n", 11, NULL, 4, NULL, 0, &tree, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`tree` is null", jsf_tree_shares(NULL, "a", 1, &shares, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`text` is null", jsf_logged_score(1, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`json` is null", jsf_run("rank", "{}", 2, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`command` is null", jsf_run(NULL, "{}", 2, &json, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`request` is null", jsf_run("rank", NULL, 0, &json, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "EOF while parsing", jsf_run("rank", "{", 1, &json, &error));
    CHECK_ERROR(JSF_STATUS_UTF8, "`request` is not UTF-8", jsf_run("rank", "\"\xff\"", 3, &json, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`schema` is null", jsf_schema_read_site("x", 1, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`path` is null", jsf_schema_read_site(NULL, 0, &schema, &error));
    CHECK(schema == NULL);
    /* and nobody wants the error */
    CHECK(jsf_program_score(NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL) == JSF_STATUS_ARGUMENT);
}

static void texts(void)
{
    static char long_formula[70000];
    static char nested[2001];
    jsf_schema *schema = jsf_schema_new();
    jsf_program *program;
    jsf_tree *tree;
    CHECK_ERROR(JSF_STATUS_UTF8, "byte 2", jsf_program_compile("1+\xff", 3, NULL, &program, &error));
    CHECK_ERROR(JSF_STATUS_UTF8, "`name`", jsf_schema_add_resource(schema, "\x80", 1, "long", &error));
    CHECK_ERROR(JSF_STATUS_UTF8, "`type`", jsf_schema_add_resource(schema, "x", 1, "\xff", &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "a\\x1b[2Jb", jsf_schema_add_resource(schema, "a\x1b[2Jb", 7, "long", &error));
    CHECK_ERROR(JSF_STATUS_UTF8, "`document`", jsf_tree_read("{\"\xff\"}", 5, "pbs", &tree, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`weighted-walk`", jsf_tree_read("{}", 2, "lottery", &tree, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`ticket-based` is not a policy", jsf_tree_read("{\"children\":[]}", 15, "ticket-based", &tree, &error));
    CHECK_ERROR(JSF_STATUS_DOCUMENT, "unknown key `childs`",
                jsf_tree_read("{\"childs\":[]}", JSF_NUL_TERMINATED, "pbs", &tree, &error));
    CHECK_ERROR(JSF_STATUS_DOCUMENT, "`a` has negative shares, -1",
                jsf_tree_read("{\"children\":[{\"name\":\"a\",\"shares\":-1}]}", JSF_NUL_TERMINATED, "pbs", &tree, &error));
    CHECK_ERROR(JSF_STATUS_DOCUMENT, "", jsf_tree_read("{\"children\":[", 13, "pbs", &tree, &error));
    CHECK_ERROR(JSF_STATUS_SYNTAX, "", jsf_program_compile("1\0+2", 4, NULL, &program, &error));
    /* lengths that no text can have */
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "more than fit", jsf_program_compile("1", SIZE_MAX - 1, NULL, &program, &error));
    memset(long_formula, '1', sizeof long_formula);
    CHECK_ERROR(JSF_STATUS_SYNTAX, "", jsf_program_compile(long_formula, sizeof long_formula, NULL, &program, &error));
    memset(nested, '(', 1000);
    nested[1000] = '1';
    memset(nested + 1001, ')', 1000);
    CHECK_ERROR(JSF_STATUS_SYNTAX, "", jsf_program_compile(nested, sizeof nested, NULL, &program, &error));
    jsf_schema_free(schema);
}

static void columns_that_do_not_fit(void)
{
    const int64_t one = 1;
    const uint32_t users[] = {0, 7, 1};
    const double factors[] = {0.5, 0.5};
    double scores[4] = {-7, -7, -7, -7};
    jsf_column column = {"ncpus", JSF_KIND_I32, NUMBERS, 3, NULL, 0};
    CHECK_OK(score(&column, scores, &error));
    CHECK(scores[0] == 2 && scores[2] == 4 && scores[3] == -7);
    scores[0] = -7;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`columns` is null", score(NULL, scores, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`scores` is null", score(&column, NULL, &error));
    column.rows = 2;
    CHECK_ERROR(JSF_STATUS_COLUMN, "2 rows", score(&column, scores, &error));
    column.rows = 0;
    CHECK_ERROR(JSF_STATUS_COLUMN, "0 rows", score(&column, scores, &error));
    column.rows = SIZE_MAX;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "rows", score(&column, scores, &error));
    column.rows = (size_t)1 << 31;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "2147483648 rows", score(&column, scores, &error));
    column.rows = 3;
    column.values = NULL;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "column `ncpus`: `values` is null", score(&column, scores, &error));
    column.values = (const char *)NUMBERS + 1;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "multiple of 4", score(&column, scores, &error));
    column.kind = JSF_KIND_F64;
    column.values = (const char *)factors + 4;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "multiple of 8", score(&column, scores, &error));
    column.values = scores + 1;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "overlaps", score(&column, scores, &error));
    column.values = NUMBERS;
    column.kind = 0;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "expected 1 to 7", score(&column, scores, &error));
    column.kind = UINT32_MAX;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "expected 1 to 7", score(&column, scores, &error));
    column.kind = JSF_KIND_SAME_I64;
    column.values = NULL;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "is null", score(&column, scores, &error));
    column.values = (const char *)&one + 1;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "misaligned", score(&column, scores, &error));
    column.kind = JSF_KIND_BY_ENTITY;
    column.values = users;
    CHECK_ERROR(JSF_STATUS_COLUMN, "0 entities", score(&column, scores, &error));
    column.entities = 2;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "column `ncpus`: `entity_values` is null", score(&column, scores, &error));
    column.entity_values = factors;
    CHECK_ERROR(JSF_STATUS_COLUMN, "row 1 of the column `ncpus` has the entity 7", score(&column, scores, &error));
    column.entities = SIZE_MAX / 2;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "more than fit", score(&column, scores, &error));
    column.kind = JSF_KIND_I32;
    column.values = NUMBERS;
    column.name = "walltime";
    CHECK_ERROR(JSF_STATUS_COLUMN, "does not read `walltime`", score(&column, scores, &error));
    column.name = "\xff";
    CHECK_ERROR(JSF_STATUS_UTF8, "name of a column", score(&column, scores, &error));
    CHECK(scores[0] == -7);
}

static void rows(void)
{
    jsf_program *program = compiled("ncpus + 1"), *constant = compiled("1");
    jsf_scratch *scratch = jsf_scratch_new();
    jsf_column columns[2] = {{"ncpus", JSF_KIND_I32, NULL, 0, NULL, 0}, {NULL, JSF_KIND_I32, NULL, 0, NULL, 0}};
    double scores[4];
    size_t failures = 5;
    /* no rows: nothing is needed */
    CHECK_OK(jsf_program_score(program, scratch, columns, 1, 0, NULL, NULL, &failures, &error));
    CHECK(failures == 0);
    CHECK_OK(jsf_program_score(constant, scratch, NULL, 0, 0, NULL, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_COLUMN, "reads `ncpus`", jsf_program_score(program, scratch, NULL, 0, 0, NULL, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_COLUMN, "column 1 has no name", jsf_program_score(program, scratch, columns, 2, 0, NULL, NULL, NULL, &error));
    columns[1].name = "ncpus";
    CHECK_ERROR(JSF_STATUS_COLUMN, "twice", jsf_program_score(program, scratch, columns, 2, 0, NULL, NULL, NULL, &error));
    /* more rows than are scored, with no column that could contradict */
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "2147483648 rows",
                jsf_program_score(constant, scratch, NULL, 0, (size_t)1 << 31, scores, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "rows",
                jsf_program_score(constant, scratch, NULL, 0, SIZE_MAX / 8 + 1, scores, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "rows",
                jsf_program_score(constant, scratch, NULL, 0, JSF_MAX_ROWS + 1, scores, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`scratch` is null",
                jsf_program_score(constant, NULL, NULL, 0, 0, NULL, NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`columns` has",
                jsf_program_score(constant, scratch, columns, SIZE_MAX / 8, 0, NULL, NULL, NULL, &error));
    /* misaligned places for results and handles */
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`scores` is misaligned",
                jsf_program_score(constant, scratch, NULL, 0, 2, (double *)((char *)scores + 4), NULL, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`failures` is misaligned",
                jsf_program_score(constant, scratch, NULL, 0, 2, scores, NULL, (size_t *)((char *)&failures + 1), &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "overlap",
                jsf_program_score(constant, scratch, NULL, 0, 2, scores, (uint8_t *)scores + 3, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`program` is misaligned",
                jsf_program_score((jsf_program *)((char *)program + 1), scratch, NULL, 0, 0, NULL, NULL, NULL, &error));
    CHECK(jsf_program_score(constant, scratch, NULL, 0, 0, NULL, NULL, NULL, (jsf_error **)((char *)scores + 1)) ==
          JSF_STATUS_ARGUMENT);
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "overlap",
                jsf_program_score(constant, scratch, NULL, 0, 2, scores, NULL, (size_t *)(scores + 1), &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "overlap",
                jsf_program_score(constant, scratch, NULL, 0, 2, scores, (uint8_t *)&failures + 1, &failures, &error));
    columns[0].rows = 1;
    columns[0].values = &failures;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`ncpus` overlaps",
                jsf_program_score(program, scratch, columns, 1, 1, scores, NULL, &failures, &error));
    jsf_scratch_free(scratch);
    jsf_program_free(program);
    jsf_program_free(constant);
}

static void values(void)
{
    jsf_program *program = compiled("ncpus + 1");
    jsf_scratch *scratch = jsf_scratch_new();
    jsf_value value = {JSF_KIND_I64, 3, 0};
    double score = 77;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`scratch` is null", jsf_program_evaluate(program, NULL, &value, 1, &score, &error));
    CHECK_ERROR(JSF_STATUS_COLUMN, "number of values: expected 1, found 2", jsf_program_evaluate(program, scratch, &value, 2, &score, &error));
    CHECK_ERROR(JSF_STATUS_COLUMN, "expected 1, found 0", jsf_program_evaluate(program, scratch, NULL, 0, &score, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`values` is null", jsf_program_evaluate(program, scratch, NULL, 1, &score, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "misaligned",
                jsf_program_evaluate(program, scratch, (jsf_value *)((char *)&value + 1), 1, &score, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`score` is null", jsf_program_evaluate(program, scratch, &value, 1, NULL, &error));
    value.kind = JSF_KIND_I32;
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "kind of value 0 is 1", jsf_program_evaluate(program, scratch, &value, 1, &score, &error));
    CHECK(score == 77);
    /* the result may take the place of the input */
    value.kind = JSF_KIND_F64;
    value.real = 2;
    CHECK_OK(jsf_program_evaluate(program, scratch, &value, 1, &value.real, &error));
    CHECK(value.real == 3);
    jsf_scratch_free(scratch);
    jsf_program_free(program);
}

static void trees(void)
{
    static const char document[] = "{\"children\":[{\"name\":\"a\",\"shares\":1},{\"name\":\"b\",\"shares\":1}]}";
    jsf_tree *tree;
    jsf_shares shares[2];
    jsf_shares found;
    CHECK_OK(jsf_tree_read(document, JSF_NUL_TERMINATED, "classic", &tree, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`shares` is null", jsf_tree_shares(tree, "a", 1, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`shares` is misaligned",
                jsf_tree_shares(tree, "a", 1, (jsf_shares *)((char *)shares + 2), &error));
    CHECK_ERROR(JSF_STATUS_NOT_FOUND, "no `c`", jsf_tree_shares(tree, "c", 1, &found, &error));
    CHECK_ERROR(JSF_STATUS_NOT_FOUND, "no ``", jsf_tree_shares(tree, NULL, 0, &found, &error));
    CHECK_ERROR(JSF_STATUS_UTF8, "`name`", jsf_tree_shares(tree, "\xfe", 1, &found, &error));
    jsf_tree_free(tree);
}

int main(void)
{
    null_handles();
    texts();
    columns_that_do_not_fit();
    rows();
    values();
    trees();
    return 0;
}
