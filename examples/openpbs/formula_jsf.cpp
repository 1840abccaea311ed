/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* OpenPBS's scheduler evaluates formulas with job-sort-formula, and leaves the others to Python. job_info.cpp includes this. */
#include <job_sort_formula.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

namespace {

typedef std::function<jsf_value(const job_info *job, resource_req *requests)> input;

struct formula_program {
    std::string text;
    std::shared_ptr<jsf_program> program; /* null: Python evaluates the formula */
    std::vector<input> inputs;
    std::vector<jsf_value> values; /* of the job that is evaluated */
};

std::list<formula_program> programs; /* job_sort_formula and fairshare_usage_res */
FILE *comparison;                    /* sched_priv/jsf_both.out, while both.sh compares both ways */
std::vector<std::string> compared;   /* further formulas that it compares */
bool python_only;

jsf_value integer(int64_t value) { return {JSF_KIND_I64, value, 0}; }
jsf_value share(double value) { return {JSF_KIND_F64, 0, jsf_round_share(value)}; }

jsf_value amount(resource_req *requests, resdef *resource)
{
    const resource_req *request = find_resource_req(requests, resource);
    return {JSF_KIND_PBS_AMOUNT, 0, request != NULL ? request->amount : 0};
}

jsf_value fairshare_factor(const group_info *entity)
{
    return share(entity->tree_percentage == 0 ? 0 : pow(2, -(entity->usage_factor / entity->tree_percentage)));
}

std::map<std::string, input> inputs_of_server()
{
    std::map<std::string, input> inputs = {
        {FORMULA_ELIGIBLE_TIME, [](const job_info *job, resource_req *) { return integer(job->eligible_time); }},
        {FORMULA_QUEUE_PRIO, [](const job_info *job, resource_req *) { return integer(job->queue->priority); }},
        {FORMULA_JOB_PRIO, [](const job_info *job, resource_req *) { return integer(job->priority); }},
        {FORMULA_ACCRUE_TYPE, [](const job_info *job, resource_req *) { return integer(job->accrue_type); }},
        {FORMULA_FSPERC, [](const job_info *job, resource_req *) { return share(job->ginfo->tree_percentage); }},
        {FORMULA_FSPERC_DEP, [](const job_info *job, resource_req *) { return share(job->ginfo->tree_percentage); }},
        {FORMULA_TREE_USAGE, [](const job_info *job, resource_req *) { return share(job->ginfo->usage_factor); }},
        {FORMULA_FSFACTOR, [](const job_info *job, resource_req *) { return fairshare_factor(job->ginfo); }},
    };
    for (auto *resource : consres) /* those above hide a resource of the same name */
        inputs.insert({resource->name, [=](const job_info *, resource_req *requests) { return amount(requests, resource); }});
    return inputs;
}

formula_program compiled(const char *text)
{
    const auto inputs = inputs_of_server();
    PyObject *main = PyModule_GetDict(PyImport_AddModule("__main__"));
    jsf_schema *names = jsf_schema_new_empty();
    jsf_schema_set_python(names, Py_GetVersion(), strcspn(Py_GetVersion(), " "), NULL);
    for (const auto &input : inputs)
        if (!PyMapping_HasKeyString(main, input.first.c_str())) /* else Python sees that */
            jsf_schema_add_resource(names, input.first.c_str(), JSF_NUL_TERMINATED, "float", NULL);

    formula_program formula = {text, {}, {}, {}};
    jsf_program *program;
    jsf_error *error;
    jsf_program_compile(text, JSF_NUL_TERMINATED, names, &program, &error);
    formula.program.reset(program, jsf_program_free);
    const char *reason = error != NULL ? jsf_error_message(error) : jsf_program_undefined(program, 0);
    for (size_t i = 0; i < jsf_program_input_count(program); i++)
        formula.inputs.push_back(inputs.at(jsf_program_input(program, i)));
    formula.values.resize(formula.inputs.size());
    if (reason != NULL) {
        log_eventf(PBSEVENT_DEBUG2, PBS_EVENTCLASS_SCHED, LOG_DEBUG, __func__, "Python evaluates the formula: %s", reason);
        formula.program.reset();
    }
    jsf_error_free(error);
    jsf_schema_free(names);
    return formula;
}

formula_program &program_of(const char *text)
{
    for (auto &known : programs)
        if (known.text == text)
            return known;
    programs.push_front(compiled(text));
    return programs.front();
}

/* Whether the library has the answer; `error` then says why it is 0 or -1. */
bool evaluate(const char *text, const job_info *job, resource_req *requests, sch_resource_t *ans, std::shared_ptr<jsf_error> &error)
{
    static jsf_scratch *const scratch = jsf_scratch_new();
    auto &formula = program_of(text);
    auto &values = formula.values;
    if (!formula.program)
        return false;
    for (size_t i = 0; i < values.size(); i++)
        values[i] = formula.inputs[i](job, requests);
    jsf_error *failed;
    if (jsf_program_evaluate(formula.program.get(), scratch, values.data(), values.size(), ans, &failed) == JSF_STATUS_OK)
        return true;
    error.reset(failed, jsf_error_free);
    return jsf_error_status(failed) == JSF_STATUS_EVALUATION && jsf_error_failure(failed) < JSF_FAILURE_COMPLEX;
}

/* Evaluates a formula both ways and writes a line about it; the answer is Python's. */
sch_resource_t compare(const char *text, resource_resv *resresv, resource_req *requests)
{
    typedef std::chrono::duration<double, std::nano> nanoseconds;
    sch_resource_t ours = 0;
    std::shared_ptr<jsf_error> error;
    program_of(text); /* compiles it before the clock runs */
    const auto start = std::chrono::steady_clock::now();
    const bool evaluated = evaluate(text, resresv->job, requests, &ours, error);
    const auto middle = std::chrono::steady_clock::now();
    python_only = true;
    const sch_resource_t python = formula_evaluate(text, resresv, requests);
    python_only = false;
    const auto end = std::chrono::steady_clock::now();

    PyObject *text_raised = PyDict_GetItemString(PyModule_GetDict(PyImport_AddModule("__main__")), "_PBS_PYTHON_EXCEPTIONSTR_");
    const char *utf8 = text_raised != NULL ? PyUnicode_AsUTF8(text_raised) : NULL, *raised = utf8 != NULL ? utf8 : "";
    const bool raises = error && jsf_error_failure(error.get()) < JSF_FAILURE_NOT_A_NUMBER;
    const char *reason = raises ? jsf_error_message(error.get()) : "";
    const bool same_value = ours == python ? signbit(ours) == signbit(python) : ours != ours && python != python;
    const bool same = same_value && strcmp(raised, reason) == 0;
    fprintf(comparison, "%s\t%.0f\t%.0f\t%a\t%a\t%s\t%s\t%s\t%s\n", !evaluated ? "python" : same ? "same" : "differs",
            nanoseconds(end - middle).count(), nanoseconds(middle - start).count(), python, ours, raised, reason,
            resresv->name.c_str(), text);
    return python;
}

/* Evaluates a formula without Python; false if Python has to. */
bool formula_jsf(const char *text, resource_resv *resresv, resource_req *requests, sch_resource_t *ans)
{
    std::shared_ptr<jsf_error> error;
    if (python_only)
        return false;
    if (comparison != NULL) {
        for (const auto &formula : compared)
            compare(formula.c_str(), resresv, requests);
        *ans = compare(text, resresv, requests);
        return true;
    }
    const bool evaluated = evaluate(text, resresv->job, requests, ans, error);
    if (evaluated && error)
        log_eventf(PBSEVENT_DEBUG2, PBS_EVENTCLASS_JOB, LOG_DEBUG, resresv->name.c_str(),
                   "Formula evaluation for job had an error.  %s value will be used: %s", *ans == 0 ? "Zero" : "-1",
                   jsf_error_message(error.get()));
    return evaluated;
}

} // namespace

/* The definitions of the resources have changed, or the scheduler got a SIGHUP. */
void formula_jsf_forget()
{
    programs.clear();
    compared.clear();
    if (comparison != NULL)
        fclose(comparison);
    std::ifstream formulas("jsf_both");
    comparison = formulas ? fopen("jsf_both.out", "a") : NULL;
    for (std::string line; std::getline(formulas, line);)
        compared.push_back(line);
}
