// The header for C++: handles that free themselves, exceptions, containers of several kinds.

#include <job_sort_formula.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

static void check(bool is_true, int line)
{
    if (is_true)
        return;
    std::fprintf(stderr, "%s:%d: a check failed\n", __FILE__, line);
    std::exit(EXIT_FAILURE);
}
#define CHECK(condition) check(condition, __LINE__)

static_assert(std::is_move_constructible_v<jsf::program> && !std::is_copy_constructible_v<jsf::program>);
static_assert(std::is_nothrow_copy_constructible_v<jsf::error>);

static void columns()
{
    const std::vector<std::int32_t> ncpus{1, 2, 0};
    const std::int64_t waited[] = {60, 0, 7};
    const std::array<double, 3> mem{2, 0.5, 1e20};
    const std::vector<std::uint32_t> user{0, 1, 1};
    const std::vector<double> factors{0.25, 0.5};
    jsf::scratch scratch;
    const jsf::program program("8 // ncpus + eligible_time + mem % 7 + fairshare_factor + walltime");
    const std::vector<jsf_column> columns{jsf::column("ncpus", ncpus), jsf::column("eligible_time", waited),
                                          jsf::pbs_amounts("mem", mem), jsf::by_entity("fairshare_factor", user, factors),
                                          jsf::column("walltime", mem)};
    std::vector<double> scores(3);
    std::array<std::uint8_t, 3> failed{};
    CHECK(program.score(scratch, columns, scores, failed.data()) == 1);
    CHECK(scores[0] == 8 + 60 + 2 + 0.25 + 2 && scores[1] == 4 + 0 + 0.5 + 0.5 + 0.5);
    CHECK(failed[0] == 0 && failed[2] == JSF_FAILURE_ZERO_DIVISION);
    CHECK(!program.error_of_row(scratch, 0));
    const std::optional<jsf::error> reason = program.error_of_row(scratch, 2);
    CHECK(reason && std::strcmp(reason->what(), "integer division or modulo by zero") == 0);
    CHECK(reason->span()->first == 0 && reason->span()->second == 10);
    CHECK(jsf::top(scores, 2) == (std::vector<std::uint32_t>{0, 1}) && jsf::top(scores, 9).size() == 3);
}

static void one_job()
{
    jsf::scratch scratch;
    jsf::schema names(jsf_schema_new_empty());
    names.add("mem", "size");
    const jsf::program program("sqrt(mem)", names);
    const jsf::program moved = [&] { return jsf::program("1 / mem", names); }();
    std::optional<jsf::error> why;
    CHECK(program.evaluate(scratch, std::vector{jsf::pbs_amount(4.00001)}) == 2);
    CHECK(program.evaluate(scratch, std::array{jsf::real(0.25)}, &why) == 0.5 && !why);
    const std::unique_ptr<char, void (*)(char *)> logged(jsf::result<char *>(jsf_logged_score, 50.878), jsf_string_free);
    CHECK(std::strcmp(logged.get(), "50.8780") == 0);
    CHECK(moved.evaluate(scratch, std::array{jsf::integer(0)}, &why) == 0);
    CHECK(why && why->failure() == JSF_FAILURE_ZERO_DIVISION && why->status() == JSF_STATUS_EVALUATION);
    try {
        program.evaluate(scratch, std::vector<jsf_value>{});
        CHECK(false);
    } catch (const jsf::error &error) {
        CHECK(error.status() == JSF_STATUS_COLUMN && !error.span());
    }
    try {
        const jsf::program wrong("ncpus +* 2");
        CHECK(false);
    } catch (const std::exception &error) {
        CHECK(std::strlen(error.what()) > 0);
    }
    const jsf::schema taken = std::move(names);
    try {
        const jsf::program wrong("ncpus", names);
        CHECK(false);
    } catch (const std::invalid_argument &error) {
        CHECK(std::strcmp(error.what(), "the schema was moved from") == 0);
    }
}

static void trees()
{
    const jsf::tree tree("{\"children\":[{\"name\":\"ann\",\"shares\":3,\"usage\":100},{\"name\":\"bob\",\"shares\":1}]}", "fair-tree");
    CHECK(tree.shares("ann").factor < tree.shares("bob").factor && tree.shares("ann").perc == 0.75);
    try {
        tree.shares("carl");
        CHECK(false);
    } catch (const jsf::error &error) {
        CHECK(error.status() == JSF_STATUS_NOT_FOUND);
    }
}

int main()
{
    columns();
    one_job();
    trees();
    return EXIT_SUCCESS;
}
