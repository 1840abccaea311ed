/* What the tests in C share: a check that names its line, and errors that are freed. */
#ifndef CHECK_H
#define CHECK_H

#include <job_sort_formula.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);    \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

/* Checks the status of a call and the text of its error, and frees the error. */
#define CHECK_ERROR(expected, text, call)                                               \
    do {                                                                                \
        jsf_error *error = NULL;                                                        \
        CHECK((call) == (expected));                                                    \
        CHECK(error != NULL && jsf_error_status(error) == (expected));                  \
        if (strstr(jsf_error_message(error), text) == NULL) {                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, jsf_error_message(error)); \
            exit(1);                                                                    \
        }                                                                               \
        jsf_error_free(error);                                                          \
    } while (0)

/* Checks that a call succeeds. */
#define CHECK_OK(call)                                                                  \
    do {                                                                                \
        jsf_error *error = NULL;                                                        \
        if ((call) != JSF_STATUS_OK) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, error ? jsf_error_message(error) : "no error"); \
            exit(1);                                                                    \
        }                                                                               \
        CHECK(error == NULL);                                                           \
    } while (0)

static inline jsf_program *compiled(const char *formula)
{
    jsf_program *program = NULL;
    CHECK_OK(jsf_program_compile(formula, JSF_NUL_TERMINATED, NULL, &program, &error));
    return program;
}

#endif
