/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * job_sort_formula.hpp: job_sort_formula.h for C++17. Handles free themselves and can be moved; a call that fails throws
 * `jsf::error`. What a function does, and which threads may use what, is said in job_sort_formula.h. A container is whatever
 * std::data and std::size take. `get()` is the handle, for what is not here: `jsf::call` and `jsf::result` check any function.
 */
#ifndef JOB_SORT_FORMULA_HPP
#define JOB_SORT_FORMULA_HPP

#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <job_sort_formula.h>

namespace jsf {

/* Why a call failed, or why a job has no score. */
class error : public std::exception {
  public:
    explicit error(jsf_error *owned) : held(owned, jsf_error_free) {}
    const char *what() const noexcept override { return held ? jsf_error_message(held.get()) : "no error"; }
    jsf_status status() const noexcept { return jsf_error_status(held.get()); }
    jsf_failure failure() const noexcept { return jsf_error_failure(held.get()); }
    /* The first byte of the formula that it is about, and the byte after the last one. */
    std::optional<std::pair<std::uint32_t, std::uint32_t>> span() const {
        std::pair<std::uint32_t, std::uint32_t> span;
        return jsf_error_span(held.get(), &span.first, &span.second) ? std::optional(span) : std::nullopt;
    }

  private:
    std::shared_ptr<jsf_error> held;
};

/* Calls a function of the C interface, without its last argument, and throws its error. */
template <class Function, class... Arguments> void call(Function function, Arguments... arguments) {
    jsf_error *failed = nullptr;
    if (function(arguments..., &failed) != JSF_STATUS_OK)
        throw error(failed);
}

/* The same for a function whose last argument but one is the place of its result. */
template <class Result, class Function, class... Arguments> Result result(Function function, Arguments... arguments) {
    Result result{};
    call(function, arguments..., &result);
    return result;
}

template <class T, void (*Free)(T *)> class handle {
  public:
    explicit handle(T *owned) : held(owned, Free) {}
    T *get() const noexcept { return held.get(); }

  private:
    std::unique_ptr<T, void (*)(T *)> held;
};

inline jsf_value integer(std::int64_t value) { return {JSF_KIND_I64, value, 0}; }
inline jsf_value real(double value) { return {JSF_KIND_F64, 0, value}; }
inline jsf_value pbs_amount(double amount) { return {JSF_KIND_PBS_AMOUNT, 0, amount}; }

/* The values of all jobs: a container of std::int32_t, std::int64_t or double, which is borrowed, as the name is. */
template <class Values> jsf_column column(const char *name, const Values &values) {
    using Element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(values))>>;
    constexpr bool is_i32 = std::is_same_v<Element, std::int32_t>, is_i64 = std::is_same_v<Element, std::int64_t>;
    static_assert(is_i32 || is_i64 || std::is_same_v<Element, double>, "std::int32_t, std::int64_t or double");
    return {name, is_i32 ? JSF_KIND_I32 : is_i64 ? JSF_KIND_I64 : JSF_KIND_F64, std::data(values), std::size(values), nullptr, 0};
}
template <class Element> jsf_column column(const char *name, std::vector<Element> &&values) = delete; /* it would be gone */
template <class Values> jsf_column pbs_amounts(const char *name, const Values &values) {
    return {name, JSF_KIND_PBS_AMOUNT, static_cast<const double *>(std::data(values)), std::size(values), nullptr, 0};
}
template <class Index, class Values> jsf_column by_entity(const char *name, const Index &index, const Values &values) {
    return {name, JSF_KIND_BY_ENTITY, static_cast<const std::uint32_t *>(std::data(index)), std::size(index), std::data(values), std::size(values)};
}

struct scratch : handle<jsf_scratch, jsf_scratch_free> {
    scratch() : handle(jsf_scratch_new()) {}
};

struct schema : handle<jsf_schema, jsf_schema_free> {
    explicit schema(jsf_schema *owned = jsf_schema_new()) : handle(owned) {} /* or jsf_schema_new_empty() */
    void add(std::string_view name, const char *type) { call(jsf_schema_add_resource, get(), name.data(), name.size(), type); }
};

struct program : handle<jsf_program, jsf_program_free> {
    explicit program(std::string_view formula, const jsf_schema *names = nullptr)
        : handle(result<jsf_program *>(jsf_program_compile, formula.data(), formula.size(), names)) {}
    program(std::string_view formula, const schema &names)
        : program(formula, names.get() ? names.get() : throw std::invalid_argument("the schema was moved from")) {}

    /* The score of one job, which is OpenPBS's value if it fails; `why`, if it is not null, becomes why it failed, or nothing. */
    template <class Values> double evaluate(scratch &memory, const Values &values, std::optional<error> *why = nullptr) const {
        double score = 0;
        jsf_error *failed = nullptr;
        jsf_program_evaluate(get(), memory.get(), std::data(values), std::size(values), &score, &failed);
        std::optional<error> reason = failed ? std::optional<error>(failed) : std::nullopt;
        if (reason && reason->status() != JSF_STATUS_EVALUATION)
            throw *reason;
        if (why)
            *why = std::move(reason);
        return score;
    }
    /* Scores as many jobs as `scores` has elements; returns how many failed. `failed` has as many, or is null. */
    template <class Columns, class Scores>
    std::size_t score(scratch &memory, const Columns &columns, Scores &scores, std::uint8_t *failed = nullptr) const {
        return result<std::size_t>(jsf_program_score, get(), memory.get(), std::data(columns), std::size(columns),
                                   std::size(scores), std::data(scores), failed);
    }
    /* Why a job of the last `score` with this memory failed; nothing if it did not. */
    std::optional<error> error_of_row(const scratch &memory, std::size_t row) const {
        jsf_error *reason = result<jsf_error *>(jsf_program_error_of_row, get(), memory.get(), row);
        return reason ? std::optional<error>(reason) : std::nullopt;
    }
};

/* The best rows, best first. */
template <class Scores> std::vector<std::uint32_t> top(const Scores &scores, std::size_t limit) {
    std::vector<std::uint32_t> order(std::size(scores) < limit ? std::size(scores) : limit);
    call(jsf_top, std::data(scores), std::size(scores), order.size(), order.data());
    return order;
}

struct tree : handle<jsf_tree, jsf_tree_free> {
    tree(std::string_view document, const char *policy)
        : handle(result<jsf_tree *>(jsf_tree_read, document.data(), document.size(), policy)) {}

    jsf_shares shares(std::string_view name) const { return result<jsf_shares>(jsf_tree_shares, get(), name.data(), name.size()); }
};

} // namespace jsf

#endif
