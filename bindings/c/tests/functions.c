/* Every function, used as the header says. */

#include "check.h"

#include <math.h>

static void versions(void)
{
    CHECK(jsf_abi_version() == JSF_ABI_VERSION);
    CHECK(strchr(jsf_version(), '.') != NULL);
}

static void schemas(void)
{
    jsf_schema *schema = jsf_schema_new();
    jsf_program *program;
    CHECK_OK(jsf_schema_add_resource(schema, "ngpus and more", 5, "long", &error));
    CHECK_OK(jsf_schema_add_resource(schema, "project", JSF_NUL_TERMINATED, "string", &error));
    CHECK_ERROR(JSF_STATUS_BUILT_IN, "`mem` is defined by OpenPBS",
                jsf_schema_add_resource(schema, "mem", 3, "long", &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`int` is not a type",
                jsf_schema_add_resource(schema, "x", 1, "int", &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`Long` is not a type",
                jsf_schema_add_resource(schema, "x", 1, "Long", &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "no formula can use the resource `a-b`",
                jsf_schema_add_resource(schema, "a-b", 3, "long", &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "no formula can use the resource `sin`",
                jsf_schema_add_resource(schema, "sin", 3, "float", &error));
    /* a new type for a known name */
    CHECK_OK(jsf_schema_add_resource(schema, "project", JSF_NUL_TERMINATED, "float", &error));
    CHECK_OK(jsf_program_compile("project", JSF_NUL_TERMINATED, schema, &program, &error));
    CHECK(jsf_program_input_count(program) == 1 && jsf_program_undefined(program, 0) == NULL);
    jsf_program_free(program);
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "empty", jsf_schema_add_resource(schema, NULL, 0, "long", &error));
    CHECK_OK(jsf_program_compile("ngpus * 2 + nfpgas", JSF_NUL_TERMINATED, schema, &program, &error));
    jsf_schema_free(schema);
    CHECK(jsf_program_input_count(program) == 1);
    CHECK(strcmp(jsf_program_input(program, 0), "ngpus") == 0);
    CHECK(jsf_program_input(program, 1) == NULL);
    CHECK(strcmp(jsf_program_undefined(program, 0), "nfpgas") == 0);
    CHECK(jsf_program_undefined(program, 1) == NULL);
    jsf_program_free(program);
}

/* A caller that knows all names of its server: those of OpenPBS that it lacks are undefined. */
static void schemas_of_all_names(void)
{
    jsf_schema *schema = jsf_schema_new_empty();
    jsf_program *program;
    CHECK_OK(jsf_schema_add_resource(schema, "mem", 3, "float", &error));
    CHECK_OK(jsf_schema_add_resource(schema, "mem", 3, "size", &error));
    CHECK_OK(jsf_schema_add_resource(schema, "eligible_time", JSF_NUL_TERMINATED, "duration", &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`sin`", jsf_schema_add_resource(schema, "sin", 3, "float", &error));
    CHECK_OK(jsf_program_compile("mem + ncpus + max(eligible_time, 1)", JSF_NUL_TERMINATED, schema, &program, &error));
    CHECK(jsf_program_input_count(program) == 2);
    CHECK(strcmp(jsf_program_undefined(program, 0), "ncpus") == 0 && jsf_program_undefined(program, 1) == NULL);
    jsf_program_free(program);
    jsf_schema_free(schema);
}

static void compile_errors(void)
{
    jsf_program *program = (jsf_program *)&program;
    jsf_error *error;
    uint32_t start = 0, end = 0;
    CHECK(jsf_program_compile("ncpus + ", 8, NULL, &program, &error) == JSF_STATUS_SYNTAX);
    CHECK(program == NULL);
    CHECK(jsf_error_span(error, &start, &end) && start <= 8 && end <= 8);
    CHECK(jsf_error_span(error, NULL, NULL));
    start = 77;
    CHECK(jsf_error_span(error, &start, &start) && start == end);
    CHECK(jsf_error_failure(error) == JSF_FAILURE_SYNTAX && jsf_error_failure(NULL) == JSF_FAILURE_NONE);
    jsf_error_free(error);
    CHECK(jsf_program_compile("ncpus + 'a'", JSF_NUL_TERMINATED, NULL, &program, &error) == JSF_STATUS_NOT_ARITHMETIC);
    CHECK(jsf_error_span(error, &start, &end) && start == 8 && end == 11);
    CHECK(jsf_error_failure(error) == JSF_FAILURE_LIMIT);
    jsf_error_free(error);
    /* the error is not wanted */
    CHECK(jsf_program_compile("ncpus +", 7, NULL, &program, NULL) == JSF_STATUS_SYNTAX);
}

/* A formula is read as Python reads it in `eval("...")`: escapes first, and errors are placed in the text that was passed. */
static void escapes(void)
{
    static const char formula[] = "1\\x30 +\\t8 / ncpus";
    static const char named[] = "1 + \\N{DIGIT TWO}", unread[] = "1 +\\t\\t* ncpus", text[] = "ncpus +\\t'a'";
    const jsf_value none = {JSF_KIND_I64, 0, 0};
    jsf_scratch *scratch = jsf_scratch_new();
    jsf_program *program = compiled(formula);
    jsf_error *error;
    double score = 7;
    uint32_t start, end;
    CHECK(jsf_program_evaluate(program, scratch, &none, 1, &score, &error) == JSF_STATUS_EVALUATION && score == 0);
    CHECK(jsf_error_span(error, &start, &end) && start == 9 && end == sizeof formula - 1);
    jsf_error_free(error);
    jsf_program_free(program);
    CHECK(jsf_program_compile(named, sizeof named - 1, NULL, &program, &error) == JSF_STATUS_SYNTAX);
    CHECK(jsf_error_failure(error) == JSF_FAILURE_LIMIT && jsf_error_span(error, &start, &end) && start == 4);
    jsf_error_free(error);
    CHECK(jsf_program_compile(unread, sizeof unread - 1, NULL, &program, &error) == JSF_STATUS_SYNTAX);
    CHECK(jsf_error_failure(error) == JSF_FAILURE_SYNTAX && jsf_error_span(error, &start, &end) && start == 7 && end == 8);
    jsf_error_free(error);
    CHECK(jsf_program_compile(text, sizeof text - 1, NULL, &program, &error) == JSF_STATUS_NOT_ARITHMETIC);
    CHECK(jsf_error_span(error, &start, &end) && start == 9 && end == 12);
    jsf_error_free(error);
    CHECK_ERROR(JSF_STATUS_SYNTAX, "`\"` ends the string",
                jsf_program_compile("ncpus + \"", JSF_NUL_TERMINATED, NULL, &program, &error));
    CHECK_ERROR(JSF_STATUS_SYNTAX, "a second line between the quotes",
                jsf_program_compile("(ncpus\n+ 1)", JSF_NUL_TERMINATED, NULL, &program, &error));
    program = compiled("ncpus\n# a note\n");
    jsf_program_free(program);
    jsf_scratch_free(scratch);
}

/* The version of Python is that of the schema. */
static void python_versions(void)
{
    jsf_schema *schema = jsf_schema_new();
    jsf_program *program;

    CHECK_OK(jsf_program_compile("cbrt(ncpus)", JSF_NUL_TERMINATED, schema, &program, &error));
    CHECK(jsf_program_undefined(program, 0) == NULL);
    jsf_program_free(program);
    CHECK_OK(jsf_schema_set_python(schema, "3.9.18", JSF_NUL_TERMINATED, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`3.5` is not a known version of Python, expected a version of Python from 3.6 to 3.",
                jsf_schema_set_python(schema, "3.5", 3, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "null", jsf_schema_set_python(NULL, "3.9", 3, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`` is not", jsf_schema_set_python(schema, NULL, 0, &error));
    CHECK_OK(jsf_program_compile("cbrt(ncpus)", JSF_NUL_TERMINATED, schema, &program, &error));
    CHECK(strcmp(jsf_program_undefined(program, 0), "cbrt") == 0);
    jsf_program_free(program);
    jsf_schema_free(schema);
}

static void every_kind_of_column(void)
{
    const int32_t ncpus[] = {2, 0, -1};
    const int64_t eligible_time[] = {1, INT64_C(9007199254740993), 3};
    const double walltime[] = {0.5, 1.5, INFINITY};
    const int64_t mem = INT64_C(1) << 60;
    const double factor[] = {0.25, 0.75};
    const uint32_t user[] = {1, 0, 1};
    const double priority = 0.125;
    const jsf_column columns[] = {
        {"job_priority", JSF_KIND_SAME_F64, &priority, 0, NULL, 0},
        {"fairshare_factor", JSF_KIND_BY_ENTITY, user, 3, factor, 2},
        {"mem", JSF_KIND_SAME_I64, &mem, 77, NULL, 0},
        {"walltime", JSF_KIND_F64, walltime, 3, NULL, 0},
        {"eligible_time", JSF_KIND_I64, eligible_time, 3, NULL, 0},
        {"ncpus", JSF_KIND_I32, ncpus, 3, NULL, 0},
    };
    double scores[3] = {-7, -7, -7};
    uint8_t failed[3] = {9, 9, 9};
    size_t failures = 99;
    jsf_scratch *scratch = jsf_scratch_new();
    jsf_program *program = compiled("1 / ncpus + eligible_time % 2 + walltime + mem // (1 << 59) + fairshare_factor + job_priority");
    jsf_error *reason;
    uint32_t start, end;

    CHECK_OK(jsf_program_score(program, scratch, columns, 6, 3, scores, failed, &failures, &error));
    CHECK(scores[0] == 0.5 + 1 + 0.5 + 2 + 0.75 + 0.125 && scores[1] == 0 && isinf(scores[2]));
    CHECK(failed[0] == 0 && failed[1] == JSF_FAILURE_ZERO_DIVISION && failed[2] == 0 && failures == 1);
    CHECK_OK(jsf_program_error_of_row(program, scratch, 1, &reason, &error));
    CHECK(strcmp(jsf_error_message(reason), "division by zero") == 0);
    CHECK(jsf_error_status(reason) == JSF_STATUS_EVALUATION && jsf_error_failure(reason) == JSF_FAILURE_ZERO_DIVISION);
    CHECK(jsf_error_span(reason, &start, &end) && start == 0 && end == 9);
    jsf_error_free(reason);
    CHECK_OK(jsf_program_error_of_row(program, scratch, 0, &reason, &error));
    CHECK(reason == NULL);
    /* nothing of the last call is left */
    CHECK_OK(jsf_program_score(program, scratch, columns, 6, 3, scores, NULL, NULL, NULL));
    CHECK(scores[1] == 0);
    jsf_program_free(program);

    /* the same scratch with another program; columns without names; the int64 keeps its last bit */
    program = compiled("eligible_time % 2 * 10 + ncpus");
    {
        const jsf_column by_place[] = {
            {NULL, JSF_KIND_I64, eligible_time, 3, NULL, 0},
            {NULL, JSF_KIND_I32, ncpus, 3, NULL, 0},
        };
        CHECK_OK(jsf_program_score(program, scratch, by_place, 2, 3, scores, failed, &failures, &error));
        CHECK(scores[0] == 12 && scores[1] == 10 && scores[2] == 9 && failures == 0 && failed[1] == 0);
    }
    jsf_program_free(program);

    /* a result that is not a number */
    program = compiled("None");
    CHECK_OK(jsf_program_score(program, scratch, NULL, 0, 3, scores, failed, &failures, &error));
    CHECK(scores[2] == -1 && failed[2] == JSF_FAILURE_NOT_A_NUMBER && failures == 3);
    CHECK_OK(jsf_program_error_of_row(program, scratch, 0, &reason, &error));
    CHECK(strstr(jsf_error_message(reason), "NoneType") != NULL);
    jsf_error_free(reason);
    jsf_program_free(program);
    jsf_scratch_free(scratch);
    CHECK(jsf_round_to_float32(0.1) == (double)0.1f && isinf(jsf_round_to_float32(1e300)));
}

/* Amounts are what Python reads of what OpenPBS prints: integers of any size, and floats. */
static void amounts(void)
{
    const double given[] = {2, 2.00002, 0.00002, -0.00002, 0.123456, 36.9995, 1e20, 9007199254740994.0};
    const double read[] = {2, 2, 0, 0, 0.1235, 37, 1e20, 9007199254740994.0};
    const jsf_column column = {"mem", JSF_KIND_PBS_AMOUNT, given, 8, NULL, 0};
    double scores[8];
    jsf_scratch *scratch = jsf_scratch_new();
    jsf_program *program = compiled("mem % 10 + mem // 3");
    size_t row;
    bool is_integer;
    CHECK_OK(jsf_program_score(program, scratch, &column, 1, 8, scores, NULL, NULL, &error));
    for (row = 0; row < 8; row++) {
        const jsf_value amount = {JSF_KIND_PBS_AMOUNT, 0, given[row]};
        double score;
        CHECK_OK(jsf_program_evaluate(program, scratch, &amount, 1, &score, &error));
        CHECK(score == scores[row]);
        CHECK(jsf_round_amount(given[row], &is_integer) == read[row] && is_integer == (row != 4));
        CHECK(jsf_round_amount(given[row], NULL) == read[row] && !signbit(jsf_round_amount(fabs(given[row]), NULL)));
    }
    /* an integer and a float differ: 10**20 % 10 is exact, and 2 // 3 is 0 */
    CHECK(scores[0] == 2 && scores[2] == 0 && scores[4] == 0.1235 && scores[5] == 7 + 12 && scores[6] == 33333333333333333333.0);
    CHECK(isinf(jsf_round_amount(INFINITY, &is_integer)) && !is_integer && isnan(jsf_round_amount(NAN, NULL)));
    jsf_program_free(program);
    jsf_scratch_free(scratch);
}

/* One job at a time: the score, the text of the error, and its kind. */
static void one_job(void)
{
    static const struct {
        const char *formula;
        jsf_failure failure;
        double score;
        const char *text;
    } cases[] = {
        {"8 / ncpus", JSF_FAILURE_ZERO_DIVISION, 0, "division by zero"},
        {"log(ncpus)", JSF_FAILURE_VALUE, 0, "math domain error"},
        {"exp(1000 + ncpus)", JSF_FAILURE_OVERFLOW, 0, "math range error"},
        {"sqrt() + ncpus", JSF_FAILURE_TYPE, 0, "sqrt() takes exactly one argument (0 given)"},
        {"ncpus + nfpgas", JSF_FAILURE_NAME, 0, "name 'nfpgas' is not defined"},
        {"(ncpus - 8) ** 0.5", JSF_FAILURE_NOT_A_NUMBER, -1, "the result has type `complex`"},
        {"None if ncpus == 0 else 1", JSF_FAILURE_NOT_A_NUMBER, -1, "the result has type `NoneType`"},
        {"10 ** (400 + ncpus)", JSF_FAILURE_TOO_LARGE, -1, "too large for a double"},
        {"abs((ncpus - 8) ** 0.5)", JSF_FAILURE_COMPLEX, 0, "is complex"},
        {"10 ** (10 ** (9 + ncpus))", JSF_FAILURE_LIMIT, 0, ""},
    };
    const jsf_value idle = {JSF_KIND_I64, 0, 0}, busy[] = {{JSF_KIND_F64, 0, 0.25}, {JSF_KIND_F64, 0, 0.5}};
    const int32_t zero = 0;
    const jsf_column column = {"ncpus", JSF_KIND_I32, &zero, 1, NULL, 0};
    jsf_scratch *scratch = jsf_scratch_new();
    jsf_program *program = compiled("pow(2, -(fairshare_tree_usage/fairshare_perc))");
    jsf_error *error;
    size_t index;
    double score, in_columns;
    uint8_t failed;
    CHECK_OK(jsf_program_evaluate(program, scratch, busy, 2, &score, &error));
    CHECK(score == sqrt(0.5));
    jsf_program_free(program);
    for (index = 0; index < sizeof cases / sizeof *cases; index++) {
        program = compiled(cases[index].formula);
        score = 77;
        CHECK(jsf_program_evaluate(program, scratch, &idle, 1, &score, &error) == JSF_STATUS_EVALUATION);
        CHECK(score == cases[index].score && jsf_error_failure(error) == cases[index].failure);
        CHECK(jsf_error_status(error) == JSF_STATUS_EVALUATION);
        CHECK(strstr(jsf_error_message(error), cases[index].text) != NULL);
        jsf_error_free(error);
        CHECK_OK(jsf_program_score(program, scratch, &column, 1, 1, &in_columns, &failed, NULL, &error));
        CHECK(in_columns == score && failed == cases[index].failure);
        jsf_program_free(program);
    }
    jsf_scratch_free(scratch);
}

/* Formulas that Python may not compile: each of these operators is a level of its recursion. */
static void deep_formulas(void)
{
    static const struct {
        const char *operator_text;
        jsf_failure failure;
    } cases[] = {{"1+", JSF_FAILURE_LIMIT}, {"-", JSF_FAILURE_LIMIT}};
    enum { DEPTH = 12000 };
    static char formula[2 * DEPTH + 2];
    const jsf_value value = {JSF_KIND_I64, 1, 0};
    jsf_scratch *scratch = jsf_scratch_new();
    jsf_error *error;
    double score;
    size_t index, i;
    for (index = 0; index < sizeof cases / sizeof *cases; index++) {
        const size_t length = strlen(cases[index].operator_text);
        jsf_program *program;
        for (i = 0; i < DEPTH; i++)
            memcpy(formula + i * length, cases[index].operator_text, length);
        memcpy(formula + DEPTH * length, "1", 2);
        program = compiled(formula);
        CHECK(jsf_program_evaluate(program, scratch, &value, 0, &score, &error) == JSF_STATUS_EVALUATION);
        CHECK(score == 0 && jsf_error_failure(error) == cases[index].failure);
        jsf_error_free(error);
        jsf_program_free(program);
    }
    jsf_scratch_free(scratch);
}

static void orders(void)
{
    const double scores[] = {1, 3, 0.5, 3.0000000001, -INFINITY, 2};
    uint32_t order[] = {9, 9, 9, 9, 9, 9, 9};
    CHECK_OK(jsf_top(scores, 6, 3, order, &error));
    CHECK(order[0] == 1 && order[1] == 3 && order[2] == 5 && order[3] == 9);
    CHECK_OK(jsf_top(scores, 6, SIZE_MAX, order, &error));
    CHECK(order[3] == 0 && order[4] == 2 && order[5] == 4 && order[6] == 9);
    {
        /* NaN equals every score: a merge sort leaves it where it is among its neighbours */
        const double with_nan[] = {3, NAN, 4, 1};
        CHECK_OK(jsf_top(with_nan, 4, 4, order, &error));
        CHECK(order[0] == 2 && order[1] == 0 && order[2] == 1 && order[3] == 3);
    }
    CHECK_OK(jsf_top(NULL, 0, 3, NULL, &error));
    CHECK_OK(jsf_top(scores, 6, 0, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`order` is null", jsf_top(scores, 6, 1, NULL, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "`scores` is null", jsf_top(NULL, 6, 1, order, &error));
}

/* The text is a number as C prints it, with the digits that OpenPBS chooses. */
static void logged_scores(void)
{
    static const double scores[] = {58720257, 50.878, 0.25, -0.00002, 1e39, -3.4e38, 1.0 / 3, 0.99999, NAN, -INFINITY};
    static const char *const logged[] = {"58720256", "50.8780", "0.25", "-0", "inf",
                                         "-339999995214436424907732413799364296704", "0.3333", "1", NULL, "-inf"};
    char *text;
    size_t i;
    for (i = 0; i < 10; i++) {
        CHECK_OK(jsf_logged_score(scores[i], &text, &error));
        CHECK(strcmp(text, logged[i] != NULL ? logged[i] : signbit(scores[i]) ? "-nan" : "nan") == 0);
        CHECK(strlen(text) <= 40);
        CHECK(isnan(scores[i]) || strtod(text, NULL) == jsf_round_amount(jsf_round_to_float32(scores[i]), NULL));
        jsf_string_free(text);
    }
}

static const char TREE[] =
    "{\"children\":[{\"name\":\"physics\",\"shares\":40,\"children\":["
    "{\"name\":\"ann\",\"shares\":50,\"usage\":100},{\"name\":\"bob\",\"shares\":50,\"usage\":300}]},"
    "{\"name\":\"carl\",\"shares\":60,\"usage\":1000}],\"colour\":1}";

static void trees(void)
{
    jsf_tree *tree = NULL;
    jsf_shares ann, bob;
    CHECK_OK(jsf_tree_read(TREE, sizeof TREE - 1, "fair-tree", &tree, &error));
    CHECK(strstr(jsf_tree_warnings(tree), "`colour`") != NULL);
    CHECK_OK(jsf_tree_shares(tree, "ann", JSF_NUL_TERMINATED, &ann, &error));
    CHECK_OK(jsf_tree_shares(tree, "physics/bob", 11, &bob, &error));
    CHECK(ann.perc == 0.2 && ann.factor > bob.factor);
    CHECK_ERROR(JSF_STATUS_NOT_FOUND, "no `dora`", jsf_tree_shares(tree, "dora", 4, &bob, &error));
    jsf_tree_free(tree);

    CHECK_OK(jsf_tree_read(TREE, JSF_NUL_TERMINATED, "pbs", &tree, &error));
    CHECK_OK(jsf_tree_shares(tree, "unknown", 7, &ann, &error));
    jsf_tree_free(tree);
    CHECK(jsf_round_share(1.0 / 3) == 0.333333);
}

/* Asks about a site, or about none; a null formula is the one in force. */
static jsf_status ask(const char *command, const char *folder, const char *formula, char **json, jsf_error **error)
{
    static char request[20000];
    size_t end = (size_t)(folder == NULL ? snprintf(request, sizeof request, "{\"options\":{}")
                                         : snprintf(request, sizeof request, "{\"site\":\"%s\"", folder));
    if (formula != NULL) {
        end += (size_t)snprintf(request + end, sizeof request - end, ",\"formula\":\"");
        for (; *formula != '\0' && end < sizeof request - 10; formula++) {
            if (*formula == '"' || *formula == '\\' || (unsigned char)*formula < 0x20)
                end += (size_t)snprintf(request + end, sizeof request - end, "\\u%04x", (unsigned char)*formula);
            else
                request[end++] = *formula;
        }
        request[end++] = '"';
    }
    request[end++] = '}';
    return jsf_run(command, request, end, json, error);
}

/* No message asks for an option of the command `jsf`. `path` is a file with a formula in each line. */
static void no_options(const char *folder, const char *path)
{
    static const char *const pasted[] = {"set server job_sort_formula_threshold = 5", "set server scheduling = true",
                                         "print server", "job_sort_key: x", "fairshare_factor + foo"};
    char line[4096], *json;
    jsf_error *error;
    size_t index, count = 0;
    FILE *formulas = fopen(path, "r");
    CHECK(formulas != NULL);
    while (fgets(line, sizeof line, formulas) != NULL) {
        const char *findings;
        line[strcspn(line, "\n")] = '\0';
        CHECK_OK(ask("check", NULL, line, &json, &error));
        findings = strstr(json, "\"verdict\":");
        CHECK(findings != NULL && strstr(findings, " --") == NULL && strstr(findings, "`--") == NULL);
        jsf_string_free(json);
        count++;
    }
    fclose(formulas);
    CHECK(count > 50);
    for (index = 0; index < sizeof pasted / sizeof *pasted; index++) {
        if (ask("rank", folder, pasted[index], &json, &error)) {
            CHECK(strstr(jsf_error_message(error), "--") == NULL);
            jsf_error_free(error);
        } else {
            CHECK(strstr(json, "--") == NULL);
            jsf_string_free(json);
        }
    }
}

/* Reads a file of the example site, whose folder is the first argument of the program. */
static size_t read_file(const char *folder, const char *name, char *buffer, size_t size)
{
    char path[4096];
    FILE *file;
    size_t length;
    snprintf(path, sizeof path, "%s/sched_priv/%s", folder, name);
    CHECK((file = fopen(path, "rb")) != NULL);
    length = fread(buffer, 1, size, file);
    fclose(file);
    CHECK(length < size);
    return length;
}

static void sites(const char *folder)
{
    static char groups[1 << 20], usage[1 << 20], config[1 << 20];
    const size_t groups_length = read_file(folder, "resource_group", groups, sizeof groups);
    const size_t usage_length = read_file(folder, "usage", usage, sizeof usage);
    const size_t config_length = read_file(folder, "sched_config", config, sizeof config);
    jsf_tree *tree;
    jsf_shares shares;
    char *json, *job, *score;
    char id[64], entity[64];

    CHECK_OK(jsf_tree_read_pbs(groups, groups_length, usage, usage_length, config, config_length, &tree, &error));
    CHECK_OK(ask("rank", folder, "fairshare_factor", &json, &error));
    /* the first job: its value is the factor of its entity */
    CHECK((job = strstr(json, "\"id\": \"")) != NULL && sscanf(job, "\"id\": \"%63[^\"]", id) == 1);
    CHECK((job = strstr(job, "\"entity\": \"")) != NULL && sscanf(job, "\"entity\": \"%63[^\"]", entity) == 1);
    CHECK_OK(jsf_tree_shares(tree, entity, JSF_NUL_TERMINATED, &shares, &error));
    CHECK((score = strstr(job, "\"exact\": \"")) != NULL && strtod(score + 10, NULL) == jsf_round_share(shares.factor));
    jsf_string_free(json);
    jsf_tree_free(tree);

    /* without usage: the warning says so */
    CHECK_OK(jsf_tree_read_pbs(groups, groups_length, NULL, 0, NULL, 0, &tree, &error));
    CHECK(strstr(jsf_tree_warnings(tree), "usage") != NULL);
    jsf_tree_free(tree);
    CHECK_OK(ask("rank", folder, NULL, &json, &error));
    CHECK(strstr(json, "\"formula\": \"") != NULL && strstr(json, "\"summary\": {") != NULL);
    jsf_string_free(json);
    CHECK_ERROR(JSF_STATUS_SYNTAX, "the formula is empty", ask("rank", folder, "", &json, &error));
    CHECK_ERROR(JSF_STATUS_SYNTAX, "", ask("rank", folder, "1 +", &json, &error));
    CHECK_ERROR(JSF_STATUS_DOCUMENT, "no/such", ask("rank", "no/such", NULL, &json, &error));
    CHECK(json == NULL);
    CHECK_ERROR(JSF_STATUS_NOT_ARITHMETIC, "", ask("rank", folder, "ncpus.y", &json, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "no command `sort` answers a program", ask("sort", folder, NULL, &json, &error));
    CHECK_ERROR(JSF_STATUS_ARGUMENT, "unknown field `formula`", ask("shares", folder, "ncpus", &json, &error));
    CHECK_OK(ask("shares", folder, NULL, &json, &error));
    CHECK(strstr(json, "\"policy\": \"pbs\"") != NULL && strstr(json, "\"nodes\": [") != NULL);
    jsf_string_free(json);
    CHECK_OK(ask("check", folder, "1 / 0", &json, &error));
    CHECK(strstr(json, "\"JSF301\"") != NULL);
    jsf_string_free(json);
}

static void failures_at_a_site(const char *folder)
{
    jsf_schema *schema;
    jsf_program *program;
    char *json;

    CHECK_OK(ask("rank", folder, "1 / (ncpus - 8) + walltme", &json, &error));
    CHECK(strstr(json, "JSF201: ") != NULL);
    CHECK(strstr(json, "\"message\": \"division by zero\"") != NULL && strstr(json, "name 'walltme' is not defined") != NULL);
    jsf_string_free(json);
    CHECK_OK(ask("rank", folder, "ncpus", &json, &error));
    CHECK(strstr(json, "\"message\"") == NULL && strstr(json, "JSF201") == NULL);
    jsf_string_free(json);

    /* the site's own names come with those of OpenPBS */
    CHECK_OK(jsf_schema_read_site(folder, JSF_NUL_TERMINATED, &schema, &error));
    CHECK_OK(jsf_program_compile("base_score + ncpus", JSF_NUL_TERMINATED, schema, &program, &error));
    CHECK(jsf_program_input_count(program) == 2 && jsf_program_undefined(program, 0) == NULL);
    jsf_program_free(program);
    jsf_schema_free(schema);
    CHECK_ERROR(JSF_STATUS_DOCUMENT, "no/such", jsf_schema_read_site("no/such", 7, &schema, &error));
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    versions();
    schemas();
    schemas_of_all_names();
    compile_errors();
    escapes();
    python_versions();
    every_kind_of_column();
    amounts();
    one_job();
    deep_formulas();
    orders();
    trees();
    logged_scores();
    no_options(argv[1], argv[2]);
    sites(argv[1]);
    failures_at_a_site(argv[1]);
    return 0;
}
