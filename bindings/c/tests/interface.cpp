// The header in C++: handles in smart pointers, columns of vectors.

#include <job_sort_formula.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

template <auto Free> struct Freed {
    template <class T> void operator()(T *handle) const { Free(handle); }
};
using Program = std::unique_ptr<jsf_program, Freed<jsf_program_free>>;
using Scratch = std::unique_ptr<jsf_scratch, Freed<jsf_scratch_free>>;
using Error = std::unique_ptr<jsf_error, Freed<jsf_error_free>>;

static Program compile(const std::string &formula)
{
    jsf_program *program = nullptr;
    jsf_error *error = nullptr;
    if (jsf_program_compile(formula.data(), formula.size(), nullptr, &program, &error) != JSF_STATUS_OK)
        throw std::runtime_error(jsf_error_message(Error(error).get()));
    return Program(program);
}

int main()
{
    const std::vector<std::int32_t> ncpus{1, 2, 4};
    const Program program = compile("8 // ncpus");
    const Scratch scratch(jsf_scratch_new());
    const jsf_column column{"ncpus", JSF_KIND_I32, ncpus.data(), ncpus.size(), nullptr, 0};
    std::vector<double> scores(ncpus.size());
    if (jsf_program_score(program.get(), scratch.get(), &column, 1, scores.size(), scores.data(), nullptr, nullptr,
                          nullptr) != JSF_STATUS_OK ||
        scores != std::vector<double>{8, 4, 2})
        return EXIT_FAILURE;
    try {
        compile("ncpus +* 2");
    } catch (const std::runtime_error &error) {
        return std::string(error.what()).empty() ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    return EXIT_FAILURE;
}
