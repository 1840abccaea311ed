"""Sites and queues against the command `jsf`, whose path is in `JSF_BINARY`, bit by bit; the programs of the documentation."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from job_sort_formula import Answer, Formula, FormulaError, Site, run

ROOT = Path(__file__).parents[3]
SITE = ROOT / "examples" / "site"
FORMULAS = [None, *(path.read_text().strip() for path in sorted((ROOT / "examples" / "formulas").glob("*.txt")))]


def jsf(*arguments):
    """What the command writes to its standard output, as JSON."""
    command = [os.environ["JSF_BINARY"], *arguments, "--site", str(SITE), "--format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


@pytest.mark.parametrize("text", FORMULAS)
def test_rank_is_that_of_the_command(text):
    expected = jsf("rank", *([text] if text else []), "--inputs")
    ranking = Site.open(SITE).rank(text, inputs=True)
    rows = ranking.to_pylist()
    assert len(rows) == len(expected["jobs"]) == len(ranking) > 40
    for ours, job in zip(rows, expected["jobs"]):
        job["error"] = job["error"] and job["error"]["message"]
        inputs = job.pop("inputs", {})
        # equal as floats, so to the bit: Python's `json` reads the shortest digits back exactly
        assert ours == job | inputs
        assert [ours[name].hex() for name in ["score"] if ours[name] is not None] == [float(job["score"]).hex()]
    assert ranking.document == {key: expected[key] for key in ("formula", "summary", "decides")}
    formula = Formula(text or Site.open(SITE).formula, {"float_" + str(number): "float" for number in range(3)})
    if not formula.undefined:
        assert Site.open(SITE).rank(formula).to_pylist() == Site.open(SITE).rank(text).to_pylist()


def test_the_columns_of_a_ranking_give_its_scores():
    formula = Formula("pow(2, -(fairshare_tree_usage/fairshare_perc)) * walltime")
    ranking = Site.open(SITE).rank(formula, inputs=True)
    for table in [ranking, polars.DataFrame(ranking), pyarrow.table(ranking), pandas.DataFrame(ranking)]:
        scores = formula.evaluate(table)
        exact = [None if exact is None else float(exact) for exact in ranking["exact"]]
        assert scores.to_pylist() == exact
        assert scores.error_count == 1 == len([error for error in ranking["error"] if error])


def test_every_command_answers_as_on_the_command_line():
    site = Site.open(SITE)
    text = "ncpus * eligible_time"
    template = "{fs=9:0..99}*fairshare_factor + eligible_time/3600"
    for command, request, arguments in [
        ("check", {"formula": "1 / queue_priority"}, ["1 / queue_priority"]),
        ("check", {"formula": "1 +"}, ["1 +"]),
        ("trajectory", {"jobs": ["184598", "184127"], "formula": text, "hours": 72}, [text, "--job", "184598,184127", "--hours", "3d"]),
        ("cycle", {"formula": text, "processors": 64}, [text, "--processors", "64"]),
        ("replay", {"log": SITE / "sched.log"}, [SITE / "sched.log"]),
        ("fit", {"template": template, "wishes": ["184208", "185046"], "evaluations": 50}, [template, "--prefer", "184208", "185046", "--evaluations", "50"]),
    ]:
        expected = jsf(command, *arguments)
        for answer in [site.run(command, **request), run(command, site=SITE, **request)]:
            assert type(answer) is Answer
            # the answer also has what the command writes to standard error
            assert {**answer, "warnings": None} == {**expected, "warnings": None}, command
    checked = site.run("check", formula="1 +")
    assert (checked.verdict.accepted, checked.verdict.code, checked.findings[0].code) == (False, 15123, "JSF101")
    for call, error, message in [
        (lambda: site.run("trajectory", jobs=["99"], hours=1), ValueError, "no job is called"),
        (lambda: site.run("trajectory", jobs=["184598"], hours=0), ValueError, "`hours` is 0, expected from a minute"),
        (lambda: Site.open(SITE, numbers="decimal").run("trajectory", jobs=["184598"], hours=1), ValueError, "not with decimals"),
        (lambda: site.run("replay", log="/nowhere/log"), FileNotFoundError, "/nowhere/log"),
        (lambda: site.run("replay", log=SITE / "qstat.json"), ValueError, "is not a log with values"),
        (lambda: site.run("replay", log=7), ValueError, "invalid type: integer `7`, expected path string"),
        (lambda: site.run("replay", log=object()), TypeError, "object"),
        (lambda: site.run("sort"), ValueError, "no command `sort`"),
        (lambda: site.run("rank", formulae="ncpus"), ValueError, "unknown field `formulae`"),
        (lambda: run("rank", site="/nowhere"), FileNotFoundError, "/nowhere"),
        (lambda: run("fit", template="{a=1:0..2} * ncpus +", wishes=["1"]), SyntaxError, "expected"),
        (lambda: site.run("fit", template="{a=1:0..2} * ncpus", wishes=["1", "2"]), ValueError, "`1`"),
        (lambda: site.run("fit", template="{a=1:0..2} * ncpus"), ValueError, "give either `wishes` or `prefer`"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_the_package_is_the_command_too():
    environment = {**os.environ, "PATH": os.path.dirname(os.environ["JSF_BINARY"]) + os.pathsep + os.environ["PATH"]}
    asked = [sys.executable, "-m", "job_sort_formula", "fmt", "1+ncpus"]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1 + ncpus\n"), done.stderr


def test_explanations_are_those_of_the_command():
    site = Site.open(SITE)
    for text in ["fairshare_factor * 100 + eligible_time / 3600", FORMULAS[1]]:
        expected = jsf("explain", text, "--job", "184127", "--to", "1")["jobs"]
        assert site.explain("184127", text, to=1).jobs == expected
        assert site.explain("184127.kestrel", Formula(text) if text.isidentifier() else text, to=1)["jobs"] == expected
    with pytest.raises(ValueError, match="no job is called"):
        site.explain("99")
    with pytest.raises(ValueError, match="`job` is empty"):
        site.explain("")
    for rank in [0, 10**6]:
        with pytest.raises(ValueError, match="there is no rank"):
            site.explain("184127", to=rank)


def test_comparisons_are_those_of_the_command():
    new = "eligible_time / 3600 + 10 * ncpus"
    expected = jsf("compare", "--new", new)
    compared = Site.open(SITE).compare(None, new)
    assert compared.to_pylist() == expected.pop("jobs")
    assert compared.document == expected


def test_shares_are_those_of_rust_and_of_c(tmp_path):
    expected = json.loads((ROOT / "tests" / "data" / "openpbs_shares.json").read_text())
    recorded = ROOT / "tests" / "golden" / "openpbs" / "pbsfs" / expected["case"]
    for name, source in [("resource_group", "resource_group"), ("usage", "usage.initial"), ("sched_config", "sched_config")]:
        shutil.copy(recorded / source, tmp_path / name)
    nodes = {node["name"]: node for node in Site.open(tmp_path).shares("pbs").to_pylist()}
    for name, numbers in expected["shares"].items():
        assert [nodes[name][key].hex() for key in ["perc", "tree_usage", "factor"]] == [float(number).hex() for number in numbers]


@pytest.mark.parametrize("policy", [None, "pbs", "classic", "depth-oblivious", "ticket-based", "fair-tree", "weighted-walk"])
def test_shares_are_those_of_the_command(policy):
    expected = jsf("shares", *(["--policy", policy] if policy else []))
    shares = Site.open(SITE).shares(policy)
    nodes = expected.pop("nodes")
    for ours, node in zip(shares.to_pylist(), nodes, strict=True):
        node = {name: float("inf") if value == "inf" else value for name, value in node.items()}
        assert ours == node
    assert shares.document == expected


def test_a_misspelt_name_is_a_warning_of_the_ranking():
    site = Site.open(SITE)
    text = "eligble_time / 3600"
    for table in [site.rank(text), site.compare(None, text), site.compare(text, text)]:
        (warning,) = [warning for warning in table.warnings if "eligble_time" in warning]
        assert warning.startswith("JSF201: ") and "did you mean `eligible_time`?" in warning
    assert not any("JSF" in warning for warning in site.rank("eligible_time / 3600").warnings)


@pytest.mark.parametrize(
    ("formula", "codes"), [("1 / 0", ["JSF301", "JSF402"]), ("(-8) ** .5", ["JSF302"]), ("ncpus", []), (None, ["JSF301", "JSF402"])]
)
def test_a_ranking_and_a_comparison_warn_of_a_formula_that_fails(formula, codes):
    site = Site.open(SITE)
    for table in (site.rank(formula), site.compare(formula, "eligible_time")):
        assert [warning[:6] for warning in table.warnings if warning.startswith("JSF")] == codes, table.warnings


def test_a_warning_names_the_file_that_declares_resources(tmp_path):
    path = tmp_path / "site"
    shutil.copytree(SITE, path)
    (warning,) = [warning for warning in Site.open(path).rank("ncpus + licences_left").warnings if "licences_left" in warning]
    (name,) = re.findall(r"as `(\S+)` in the site's folder", warning)
    (path / name).write_text("create resource licences_left\nset resource licences_left type = long\n")
    site = Site.open(path)
    assert site.resources["licences_left"] == "long"
    assert not any("JSF" in warning for warning in site.rank("ncpus + licences_left").warnings)


def test_a_formula_is_for_the_python_and_the_resources_of_its_site(tmp_path):
    site = Site.open(SITE)
    assert site.resources["ngpus"] == "long"
    for given in [{"ngpus": "int"}, {"ngpus": "long"}, {"ngpus": "long", "unread": "int"}, site.resources]:
        assert site.rank(Formula("ngpus + ncpus", given)) == site.rank("ngpus + ncpus")
    assert site.rank(Formula("ncpus", python=site.python)) == site.rank("ncpus")
    other = Formula("ncpus", python="3.6")
    assert [text for text in site.rank(Formula("foo + ncpus", {"foo": "int"})).warnings if text.startswith("JSF201: ")]
    another = Formula("ngpus + ncpus", {"ngpus": "size"})
    for formula, message in [
        (other, f"the formula was made for Python 3.6, and the site has Python {site.python}: give `Formula(…, python=site.python)`"),
        (another, "the formula declares `ngpus` as `size`, and the site defines it as `long`: give `Formula(…, resources=site.resources)`"),
    ]:
        for use in [
            lambda: site.rank(formula),
            lambda: site.run("check", formula=formula),
            lambda: site.explain("184127", formula),
            lambda: site.compare(None, formula),
            lambda: site.simulate(formula, workload=SITE / "accounting.gz", processors=64),
        ]:
            with pytest.raises(ValueError, match=re.escape(message)):
                use()
    shutil.copy(SITE / "qstat.json", tmp_path)
    jobs_alone = Site.open(tmp_path)
    assert "ngpus" not in jobs_alone.resources
    assert jobs_alone.rank(Formula("ngpus + ncpus", {"ngpus": "int"})).to_pylist() == jobs_alone.rank("ngpus + ncpus").to_pylist()


def test_a_site_may_declare_names_that_no_formula_can_use(tmp_path):
    path = tmp_path / "site"
    shutil.copytree(SITE, path)
    (warning,) = [warning for warning in Site.open(path).rank("ncpus + licences_left").warnings if "licences_left" in warning]
    (name,) = re.findall(r"as `(\S+)` in the site's folder", warning)
    (path / name).write_text("".join(f"create resource {name} type=long\n" for name in ["sin", "my-gpu", "licences_left"]))
    site = Site.open(path)
    assert site.resources["licences_left"] == "long" and not {"sin", "my-gpu"} & set(site.resources)
    assert [warning for warning in site.rank("ncpus + 0 * (sin == 1)").warnings if warning.startswith("JSF204: ") and "`sin`" in warning]
    assert Formula("licences_left + sin(1)", site.resources).undefined == ()


def test_a_site_has_resources():
    site = Site.open(SITE)
    assert site.resources and "ncpus" not in site.resources
    formula = Formula(" + ".join(name for name, kind in site.resources.items() if "string" not in kind and kind != "boolean"), site.resources)
    assert formula.undefined == () and formula.inputs


def test_a_formula_that_fails_for_every_job_crashes_the_scheduler_only_at_its_next_start():
    for text, crashes in [("1 / 0", True), ("1 / (ncpus - ncpus)", True), ("log(mem)", False), ("ncpus", False)]:
        document = Site.open(SITE).run("check", formula=text)
        said = any("crashes when it is next started" in finding.message for finding in document.findings)
        assert said == crashes and not document.crashes_scheduler, text


def test_a_formula_may_be_pasted():
    expected = Site.open(SITE).rank("ncpus * 2").to_pylist()
    for pasted in [
        "job_sort_formula = ncpus * 2",
        'set server job_sort_formula = "ncpus * 2"',
        "qmgr -c 'set server job_sort_formula = \"ncpus * 2\"'",
    ]:
        assert Site.open(SITE).rank(pasted).to_pylist() == expected


def test_scores_are_logged_as_the_scheduler_does():
    formula = Formula("1000 * fairshare_factor + eligible_time / 3600")
    ranking = Site.open(SITE).rank(formula, inputs=True)
    assert formula.evaluate(ranking).logged() == ranking["logged"]
    assert Formula("1 / ncpus").evaluate(ncpus=[3, 0, 2]).logged() == ["0.3333", None, "0.5"]


def texts(document):
    """Every text in what `json` reads."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        return [text for part in document for text in texts(part)]
    return [document] if isinstance(document, str) else []


def message(work):
    try:
        work()
    except (ValueError, OSError, SyntaxError) as error:
        return [str(error)]
    return []


def test_no_message_names_an_option_of_the_command(tmp_path):
    pages = [path.read_text() for path in sorted((ROOT / "src" / "diagnostic" / "pages").glob("*.md"))]
    corpus = [text.strip() for page in pages for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]
    corpus += [text for text in FORMULAS if text] + ["walltme / foo + bar", "a ? b : c", "ncpus ^^ 2", ""]
    corpus += ["set server job_sort_formula_threshold = 5", "set server scheduling = true", "print server", "job_sort_key: x"]
    assert len(corpus) > 80
    site, found = Site.open(SITE), list(Site.open(SITE).warnings)
    for text in corpus:
        found += message(lambda: found.extend(texts(run("check", formula=text))))
        found += message(lambda: found.extend(texts(site.run("check", formula=text))))
        found += message(lambda: found.extend(site.rank(text).warnings))
    for name in ["qstat.json", "server.json", "queues.json", "sched_priv", "tree.json", "jobs.ndjson"]:
        part = tmp_path / name
        (part / name).parent.mkdir()
        (shutil.copytree if (SITE / name).is_dir() else shutil.copy)(SITE / name, part / name)
        for policy in [None, "ticket-based"]:
            found += message(lambda: found.extend(Site.open(part, policy=policy).shares().warnings))
        for text in ["fairshare_factor", "queue_priority", "ncpus + foo"]:
            found += message(lambda: found.extend(Site.open(part).rank(text).warnings))
            found += message(lambda: found.extend(texts(run("check", site=part, formula=text))))
        found += message(lambda: Site.open(part).formula)
    found += message(lambda: Site.open(SITE, numbers="decimal").explain("184127"))
    assert len(found) > 300 and any("declare its type" in text for text in found)
    of_the_command = [text for text in found if re.search(r"--[a-z]", re.sub(r"(sshare|sacctmgr|squeue)( -a)? --json", "", text))]
    assert of_the_command == []


def test_messages_name_the_arguments_of_this_package(tmp_path):
    (help,) = [found["help"] for found in run("check", formula="ncpus + licences_left")["findings"] if found["code"] == "JSF201"]
    assert help.startswith("if the server knows it, declare its type (`Formula(…, resources={name: type})`, where there is no site), or give the output of")
    site = Site.open(SITE)
    for work, expected in [
        (lambda: site.rank("set server job_sort_formula_threshold = 5"), "the threshold (`Site.open(…, threshold=…)`)"),
        (lambda: Site.open(SITE, numbers="decimal").explain("184127"), "decimal numbers (`Site.open(…, numbers=\"decimal\")`)"),
    ]:
        assert [text.endswith(expected) for text in message(work)] == [True], expected
    path = tmp_path / "site"
    (path / "sched_priv").mkdir(parents=True)
    shutil.copy(SITE / "sched_priv" / "resource_group", path / "sched_priv")
    opened = Site.open(path, policy="ticket-based")
    (assumed,) = [text for text in opened.warnings if text.startswith("there is no `sched_config`")]
    (unknown,) = [text for text in opened.shares().warnings if text.startswith("ticket-based gives tickets")]
    assert assumed.endswith("give the `sched_config` (as `sched_priv/sched_config` in the site's folder)")
    assert "give a queue (as `qstat.json` in the site's folder)" in unknown
    assert [text.endswith("give a queue (as `qstat.json` in the site's folder)") for text in message(lambda: opened.rank("ncpus"))] == [True]


def test_files_that_cannot_be_read_are_os_errors():
    with pytest.raises(FileNotFoundError) as missing:
        Site.open("/nowhere/at/all")
    assert (missing.value.errno, missing.value.filename) == (2, "/nowhere/at/all")
    with pytest.raises(TypeError):
        Site.open(3)
    with pytest.raises(FileNotFoundError):
        Site.open("-")
    with pytest.raises(ValueError, match="contains no file of a site"):
        Site.open(ROOT / "grammar")


def test_a_site_has_the_python_of_its_files_or_the_one_that_is_given(tmp_path):
    shutil.copytree(SITE, tmp_path / "site")
    assert Site.open(tmp_path / "site").python == "3.11"
    (tmp_path / "site" / "python_version.txt").write_text("Python 3.6.8\n")
    site = Site.open(tmp_path / "site")
    assert (site.python, site.run("check", formula="ncpus")["python"]) == ("3.6", "3.6")
    assert Site.open(tmp_path / "site", python="3.12").python == "3.12"


def test_options_and_formulas_are_checked():
    for option, value in [("policy", "all"), ("rules", "none"), ("numbers", "roman"), ("python", "3.6 to 3")]:
        with pytest.raises(ValueError, match=value):
            Site.open(SITE, **{option: value})
    site = Site.open(SITE, numbers="decimal", threshold=0.5)
    assert "threshold" in site.rank()["excluded"]
    for formula in [3, b"ncpus"]:
        with pytest.raises((TypeError, ValueError)):
            site.rank(formula)
    with pytest.raises(SyntaxError) as refused:
        site.rank("ncpus +")
    assert (refused.value.lineno, refused.value.offset) == (1, 8)
    with pytest.raises(ValueError, match="not arithmetic"):
        site.rank("'x'")
    with pytest.raises(ValueError, match="decimal"):
        site.explain("184127")
    with pytest.raises(ValueError, match="not JSON compliant"):
        Site.open(SITE, threshold=float("nan"))


def test_a_formula_that_is_not_arithmetic_has_its_place_wherever_it_is_given():
    site = Site.open(SITE)
    asked = [
        site.rank,
        lambda text: site.compare(None, text),
        lambda text: site.explain("184127", text),
        lambda text: site.run("trajectory", jobs=["184127"], formula=text, hours=1),
        lambda text: site.simulate(text, workload=SITE / "accounting.gz"),
        lambda text: run("simulate", workload=SITE / "accounting.gz", formula=text, processors=64),
    ]
    for ask in asked:
        with pytest.raises(FormulaError, match="an attribute is valid Python but not arithmetic") as refused:
            ask("1 + ncpus.y")
        assert refused.value.span == (4, 11)


def test_the_path_of_a_formula_is_no_formula(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for path in [Path("examples.txt"), Path("my formula.txt")]:
        path.write_text("ncpus")
        for ask in [Formula, Site.open(SITE).rank]:
            with pytest.raises((FormulaError, SyntaxError), match="this is the path of a file: give the formula in it"):
                ask(str(path))


def test_integers_among_floats_stay_integers(tmp_path):
    """The scheduler has an int for one job and a float for the next, which `&`, `%` and large products tell apart."""
    jobs = [{"id": str(id), "entity": "a", "ncpus": 1, "rate": amount} for id, amount in enumerate([3, 3.5, 5])]
    (tmp_path / "qstat.json").write_text(json.dumps({"jobs": jobs}))
    (tmp_path / "qmgr_print_resource.txt").write_text("create resource rate\nset resource rate type = float\n")
    site = Site.open(tmp_path)
    for text in ["rate * 9007199254740993 % 10", "rate & 1"]:
        ranking = site.rank(text, inputs=True)
        formula = Formula(text, resources={"rate": "float"})
        assert sorted(type(rate).__name__ for rate in ranking["rate"]) == ["float", "int", "int"]
        for table in [ranking, dict(ranking), {"rate": pandas.Series(ranking["rate"], dtype=object)}]:
            scores = formula.evaluate(table)
            assert [score or 0.0 for score in scores] == ranking["score"]
            assert [error.message for error in scores.errors] == [error for error in ranking["error"] if error]
    with pytest.raises(TypeError, match="`LazyFrame` is not a table, such as what its `collect\\(\\)` gives"):
        formula.evaluate(polars.LazyFrame({"rate": [1]}))
    assert ranking.to_pandas()["rate"].dtype == "float64"


@pytest.mark.parametrize("document", ["README.md", "bindings/python/README.md"])
def test_the_programs_of_the_documentation_run(document):
    programs = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert programs
    for program in programs:
        run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        expected = re.findall(r"print\(.*?\) +# (.*)", program)
        assert expected and run.stdout.splitlines()[: len(expected)] == expected


def test_the_example_runs():
    example = ROOT / "bindings" / "python" / "examples" / "rank_site.py"
    run = subprocess.run([sys.executable, example], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "33 of 33 jobs move" in run.stdout and "184127.kestrel" in run.stdout


def test_the_stubs_are_those_of_the_package(tmp_path):
    # the extension itself has no stubs, and mypy counts on classes of Python's own memory layout
    (allowed := tmp_path / "allowed").write_text("job_sort_formula\\.(_native|__main__)\n")
    stubtest = [sys.executable, "-m", "mypy.stubtest", "job_sort_formula", "--allowlist", allowed, "--ignore-disjoint-bases"]
    run = subprocess.run(stubtest, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_programs_are_typed(tmp_path):
    programs = [ROOT / "bindings" / "python" / name for name in ["examples/rank_site.py", "tests/typed_program.py"]]
    # pandas and pyarrow come without types
    options = ["--strict", "--disable-error-code", "import-untyped", "--cache-dir", tmp_path]
    run = subprocess.run([sys.executable, "-m", "mypy", *options, *programs], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_what_the_stubs_promise_exists():
    import ast

    import job_sort_formula

    stubs = ast.parse((ROOT / "bindings" / "python" / "python" / "job_sort_formula" / "__init__.pyi").read_text())
    classes = [node for node in stubs.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    functions = {node.name for node in stubs.body if isinstance(node, ast.FunctionDef)}
    assert {node.name for node in classes} | functions | {"__version__"} == set(job_sort_formula.__all__)
    for node in classes:
        promised = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
        actual = getattr(job_sort_formula, node.name)
        own = {name for base in actual.__mro__ if base.__module__.startswith("job_sort_formula") for name in vars(base)}
        public = {name for name in own if not name.startswith("_")}
        assert promised <= set(dir(actual)) and public <= promised, (node.name, public - promised)
    assert np.asarray(Formula("1").evaluate()).tolist() == [1.0]


def test_integers_beyond_64_bits_stay_integers(tmp_path):
    jobs = [{"id": "1.s", "z": 1, "big": 2**80}, {"id": "2.s", "z": 0, "big": 4.5}]
    (tmp_path / "jobs.ndjson").write_text("\n".join(map(json.dumps, jobs)))
    ranking = Site.open(tmp_path, numbers="exact").rank("z + big", inputs=True)
    assert sorted(ranking.column_names[-2:]) == ["big", "z"]
    assert ranking["big"] == [2**80, 4.5]
    assert [type(value) for value in ranking["big"]] == [int, float]


def test_a_wrong_request_is_refused():
    site = Site.open(SITE)
    with pytest.raises(ValueError, match="not JSON compliant"):
        site.run("trajectory", jobs=["184652"], hours=float("nan"))
    with pytest.raises(ValueError, match="there is no rank 0"):
        site.explain("184652", "ncpus", to=0)
    with pytest.raises(ValueError, match="no job is called"):
        site.explain("no such job", "ncpus")
    with pytest.raises(ValueError, match="expected"):
        site.shares("no such policy")
    with pytest.raises(ValueError, match="expected a string"):
        site.rank(1)
