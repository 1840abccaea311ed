/* Ranks a site: `rank_site PATH FORMULA` prints the id, the score and the exact value of every job, best first. */

#include <job_sort_formula.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    jsf_ranking *ranking;
    jsf_ranked_job job;
    jsf_error *error;
    size_t place;
    if (argc != 3)
        return 2;
    if (jsf_site_rank(argv[1], JSF_NUL_TERMINATED, argv[2], JSF_NUL_TERMINATED, &ranking, &error) != JSF_STATUS_OK) {
        fprintf(stderr, "%s\n", jsf_error_message(error));
        jsf_error_free(error);
        return 1;
    }
    for (place = 0; jsf_ranking_job(ranking, place, &job); place++)
        printf("%s %.17g %.17g %d\n", job.id, job.score, job.exact, job.failed);
    jsf_ranking_free(ranking);
    return 0;
}
