/* Asks a question about a site: `ask_site COMMAND REQUEST` prints the JSON of the answer. */

#include <job_sort_formula.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    jsf_error *error;
    char *json;
    if (argc != 3)
        return 2;
    if (jsf_run(argv[1], argv[2], JSF_NUL_TERMINATED, &json, &error) != JSF_STATUS_OK) {
        fprintf(stderr, "%s\n", jsf_error_message(error));
        jsf_error_free(error);
        return 1;
    }
    puts(json);
    jsf_string_free(json);
    return 0;
}
