/*
 * OpenPBS's way in C++: the scheduler asks for one job after the other, with the amounts as it holds them, and leaves to Python
 * what only Python can tell.
 *
 *     c++ -std=c++17 scheduler.cpp $(pkg-config --cflags --libs job-sort-formula) -o scheduler
 */

#include <job_sort_formula.hpp>

#include <cstdio>
#include <functional>

struct Job {
    const char *id;
    std::int64_t eligible_time; /* seconds */
    double ncpus, scratch;      /* resources */
    double fairshare_factor;
};

/* A formula with the source of each of its inputs, found once. */
class Formula {
  public:
    Formula(const char *text, const jsf::schema &names) : program(text, names)
    {
        for (std::size_t index = 0; const char *name = jsf_program_input(program.get(), index); index++)
            sources.push_back(source(name));
    }

    void print(const Job &job)
    {
        values.clear();
        for (const auto &source : sources)
            values.push_back(source(job));
        std::optional<jsf::error> why;
        const double score = program.evaluate(scratch, values, &why);
        if (!why)
            std::printf("  %s: %g\n", job.id, score);
        else if (why->failure() >= JSF_FAILURE_COMPLEX)
            std::printf("  %s: left to Python, because %s\n", job.id, why->what());
        else
            std::printf("  %s: %g, because %s\n", job.id, score, why->what());
    }

  private:
    using Source = std::function<jsf_value(const Job &)>;

    static Source source(const std::string &name)
    {
        if (name == "eligible_time")
            return [](const Job &job) { return jsf::integer(job.eligible_time); };
        if (name == "fairshare_factor")
            return [](const Job &job) { return jsf::real(jsf_round_share(job.fairshare_factor)); };
        if (name == "ncpus")
            return [](const Job &job) { return jsf::pbs_amount(job.ncpus); };
        return [](const Job &job) { return jsf::pbs_amount(job.scratch); };
    }

    jsf::program program;
    jsf::scratch scratch;
    std::vector<Source> sources;
    std::vector<jsf_value> values;
};

int main()
{
    const Job jobs[] = {{"1.pbs", 7200, 4, 0.5, 0.25}, {"2.pbs", 60, 64, 1e20, 0.75}, {"3.pbs", 0, 0, 0.00002, 0.1}};
    jsf::schema names(jsf_schema_new_empty()); /* what this server has, and nothing else */
    names.add("eligible_time", "duration");
    names.add("fairshare_factor", "float");
    names.add("ncpus", "long");
    names.add("scratch", "float");
    for (const char *text : {"eligible_time / 3600 + 100 * fairshare_factor", "1000 // ncpus + scratch",
                             "(scratch - 1) ** 0.5 - walltime", "10 ** (10 ** 9) * ncpus", "len('a')"}) {
        std::printf("%s\n", text);
        try {
            Formula formula(text, names);
            for (const Job &job : jobs)
                formula.print(job);
        } catch (const jsf::error &error) {
            std::printf("  left to Python, because %s\n", error.what());
        }
    }
    return 0;
}
