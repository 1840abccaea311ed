"""The page of `jsf page`: what a reader types, moves, drops and copies, and that its numbers are those of the commands."""

import csv
import gzip
import json
import math
import os
import struct
import subprocess
from random import Random

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import ROOT, jsf
from test_reports import CUT_TEXTS

SITE = ["--site", "examples/site"]
FORMULA = "1000 * fairshare_factor + eligible_time / 3600 + 2.5 * ncpus"
GOLDEN = ROOT / "tests/golden/openpbs/evaluate"
# in a name: leaves an attribute, an element, a script; turns the text round; fills the page
HOSTILE = ["</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
           "\u202eesrever\u2066", "&lt;b&gt;", "x" * 4096]


def write(path, *arguments):
    """Writes a page; skips the test if this build has no module."""
    command = [os.environ["JSF_BINARY"], "page", *arguments, "--out", str(path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    if "this build of jsf cannot write the page" in ended.stderr:
        pytest.skip("this build of jsf has no WebAssembly module: run bindings/wasm/build.sh, and build it again")
    assert ended.returncode == 0, ended.stderr
    return path


@pytest.fixture(scope="session")
def page_file(tmp_path_factory):
    return write(tmp_path_factory.mktemp("page") / "page.html", *SITE)


@pytest.fixture
def page(page_file, open_page):
    return opened(open_page, page_file)


def opened(open_page, path, **options):
    page = open_page(path, **options)
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    settle(page)
    return page


def settle(page):
    """Waits until the page has shown everything about the formula."""
    page.wait_for_selector("#results[aria-busy=false]", timeout=60_000)


def type_formula(page, formula):
    page.fill("#formula", formula)
    settle(page)


def numbers(page):
    return json.loads(page.locator("#results").get_attribute("data-numbers"))


def compared(formula, *context):
    return json.loads(jsf("compare", "--new", formula, *(context or SITE), "--format", "json"))


def first_ids(page, count):
    return page.locator("#queue tbody tr td:nth-child(4)").all_inner_texts()[:count]


def test_numbers_are_those_of_the_commands(page):
    type_formula(page, FORMULA)
    expected = compared(FORMULA)
    assert numbers(page) == {"summary": expected["summary"], "fairness": expected["fairness"]}
    ranked = json.loads(jsf("rank", FORMULA, *SITE, "--format", "json"))["jobs"]
    ranked = [job for job in ranked if job["considered"]]
    cells = page.locator("#queue tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.dataset.value))")
    assert first_ids(page, 50) == [job["id"] for job in ranked[:50]]
    assert [float(row[6]) for row in cells] == [job["score"] for job in ranked[:50]]
    moved = {job["id"]: job["moved"] for job in expected["jobs"]}
    assert [int(row[2]) for row in cells] == [moved[job["id"]] for job in ranked[:50]]
    entities = page.locator("#sections section", has=page.locator("h2", has_text="Entities")).locator("tbody tr")
    assert [row.split("\t")[0] for row in entities.all_inner_texts()] == [entity["name"] for entity in expected["entities"]]


def test_a_finding_appears_under_the_caret_while_typing(page):
    page.fill("#formula", "")
    page.locator("#formula").press_sequentially("ncpus * walltme")
    settle(page)
    finding = page.locator("#findings li").first
    assert finding.get_attribute("aria-current") == "true" and finding.get_attribute("data-code") == "JSF201"
    drawn = finding.locator("pre").inner_text().split("\n")
    assert drawn == ["ncpus * walltme", "        ^^^^^^^"]
    assert "walltime" in finding.inner_text()
    assert page.locator("#marks .error").inner_text() == "walltme"
    assert page.locator("#copy").is_disabled() and "qmgr -c" not in page.locator("#command").inner_text()
    finding.locator("button").click()
    settle(page)
    assert page.input_value("#formula") == "ncpus * walltime"


def slider(page, name):
    return page.get_by_role("slider", name=name, exact=True)


def test_sliders_move_the_ranking(page):
    type_formula(page, "2 * ncpus + eligible_time")
    before = first_ids(page, 33)
    weight = slider(page, "weight of ncpus")
    weight.focus()
    weight.press("End")
    settle(page)
    assert page.input_value("#formula") == "20 * ncpus + eligible_time"
    assert weight.get_attribute("aria-valuetext") == "20"
    weight.press("Home")
    settle(page)
    assert page.input_value("#formula") == "0.2 * ncpus + eligible_time"
    page.get_by_label("weight of ncpus, as a number").fill("90000")
    settle(page)
    assert page.input_value("#formula") == "90000 * ncpus + eligible_time"
    assert first_ids(page, 33) != before
    assert numbers(page)["summary"] == compared("90000 * ncpus + eligible_time")["summary"]


def test_only_weights_have_sliders(page):
    type_formula(page, "100 * fairshare_factor + eligible_time / 7200 + ncpus / 3600 + 2 ** queue_priority")
    names = page.get_by_role("slider").evaluate_all("all => all.map(one => one.labels[0].textContent)")
    assert names == ["weight of fairshare_factor", "divisor of eligible_time"]
    assert not page.get_by_label("the unit 3600").is_visible()
    page.get_by_text("Other numbers and units").click()
    page.get_by_label("the unit 3600").fill("60")
    settle(page)
    assert "ncpus / 60 +" in page.input_value("#formula")
    # a divisor cannot become 0
    page.get_by_label("divisor of eligible_time, as a number").fill("0")
    settle(page)
    assert "eligible_time / 7200" in page.input_value("#formula")
    divisor = slider(page, "divisor of eligible_time")
    divisor.focus()
    divisor.press("Home")
    settle(page)
    assert "eligible_time / 720 " in page.input_value("#formula")


@pytest.mark.parametrize("size", [(1300, 900), (400, 800)])
def test_nothing_moves_while_a_slider_is_dragged(page_file, open_page, size):
    page = opened(open_page, page_file, viewport={"width": size[0], "height": size[1]})
    type_formula(page, "100 * fairshare_factor + eligible_time / 7200 + 3 * ncpus - 1e9 * (walltime > 1) ")
    weight = slider(page, "weight of ncpus")
    weight.scroll_into_view_if_needed()
    at = weight.bounding_box()
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    page.mouse.down()
    places, headlines = set(), set()
    for step in range(21):
        page.mouse.move(at["x"] + at["width"] * step / 20, at["y"] + at["height"] / 2)
        page.wait_for_timeout(60)
        box = weight.bounding_box()
        places.add((round(box["x"], 1), round(box["y"], 1)))
        headlines.add(page.locator("#headline").inner_text())
    assert page.locator("#headline").get_attribute("aria-busy") == "true"
    page.mouse.up()
    settle(page)
    assert len(places) == 1 and len(headlines) > 1
    assert page.locator("#headline").get_attribute("aria-busy") == "false"
    assert numbers(page)["summary"] == compared(page.input_value("#formula"))["summary"]


def test_a_half_typed_formula_keeps_the_last_good_result(page):
    type_formula(page, FORMULA)
    before = (numbers(page), first_ids(page, 50), page.get_by_role("slider").count())
    type_formula(page, FORMULA + " + (2 * ncpus")
    headline = page.locator("#headline").inner_text()
    assert headline.startswith("qmgr refuses this: ( ") and headline.endswith("Below: the last formula that worked.")
    assert (numbers(page), first_ids(page, 50), page.locator("input[type=range]").count()) == before
    assert "stale" in page.locator("#results").get_attribute("class")
    assert page.locator("#last-good").inner_text() == f"The last formula that worked: {FORMULA}"
    # the last good result can be searched
    page.fill("#search", "jsolberg")
    settle(page)
    entities = page.locator("#queue tbody tr td:nth-child(5)").all_inner_texts()
    assert set(entities) == {"jsolberg"} and len(entities) == 3
    page.fill("#search", "")
    settle(page)
    assert first_ids(page, 50) == before[1]
    type_formula(page, FORMULA + " + (2 * ncpus)")
    assert "stale" not in page.locator("#results").get_attribute("class") and page.locator("#last-good").is_hidden()
    assert numbers(page)["summary"] == compared(FORMULA + " + (2 * ncpus)")["summary"]


def test_the_headline_is_a_live_region_and_tables_have_captions(page):
    headline = page.locator("#headline")
    assert headline.get_attribute("aria-live") == "polite" and headline.get_attribute("aria-busy") == "false"
    captions = page.locator("caption").all_text_contents()
    assert len(captions) == page.locator("table").count() > 3 and all(captions)
    links = page.locator("nav a").evaluate_all("all => all.map(link => [link.textContent, document.querySelector(link.hash).querySelector('h2').textContent])")
    assert len(links) > 3 and all(name == heading for name, heading in links)


def test_the_page_works_with_the_keyboard_alone(page):
    start = page.input_value("#formula")
    page.locator("#formula").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("5 * ncpus + eligible_time")
    settle(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "undo"
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.ariaValueText ?? document.activeElement.id"))
        if reached[-1] == "5":
            break
    assert reached[-1] == "5", reached
    page.keyboard.press("End")
    settle(page)
    assert page.input_value("#formula") == "50 * ncpus + eligible_time"
    for _ in range(len(reached)):
        page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "undo"
    page.keyboard.press("Enter")
    settle(page)
    assert page.input_value("#formula") == "5 * ncpus + eligible_time"
    # each press changes something, the last one too
    seen = [page.input_value("#formula")]
    while page.locator("#undo").is_enabled():
        page.locator("#undo").press("Enter")
        seen.append(page.input_value("#formula"))
    assert seen[-1] == start and all(one != other for one, other in zip(seen, seen[1:], strict=False))


def test_no_text_is_cut_without_a_mark_on_a_phone(page_file, open_page):
    page = opened(open_page, page_file, viewport={"width": 400, "height": 800})
    for formula in (FORMULA, FORMULA + " + walltme", "ncpus * ("):
        type_formula(page, formula)
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        assert page.evaluate(CUT_TEXTS) == [], formula
        assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_the_command_is_the_one_of_check(page):
    for formula in [FORMULA, "ncpus if queue_priority > 'a' else 1", "ncpus * 2"]:
        type_formula(page, formula)
        expected = jsf("check", formula, *SITE, "--qmgr").strip()
        shown = page.locator("#command").inner_text() if page.locator("#copy").is_enabled() else ""
        assert shown == expected, formula


def test_another_formula_to_compare_with(page):
    type_formula(page, "ncpus")
    page.click("#hold")
    settle(page)
    type_formula(page, "-ncpus")
    expected = json.loads(jsf("compare", "--old", "ncpus", "--new", "-ncpus", *SITE, "--format", "json"))
    assert numbers(page)["summary"] == expected["summary"]
    page.click("#reset")
    settle(page)
    assert page.input_value("#formula") == page.evaluate("inForce") != "ncpus"
    page.click("#hold")
    settle(page)
    assert numbers(page)["summary"]["moved"] == 0


def test_changes_are_undone(page):
    start = page.input_value("#formula")
    type_formula(page, "ncpus * 2")
    page.locator("#undo:enabled").wait_for()
    weight = slider(page, "weight of ncpus")
    weight.focus()
    weight.press("End")
    settle(page)
    moved = page.input_value("#formula")
    assert moved == "ncpus * 20"
    weight.press("Control+z")
    assert page.input_value("#formula") == "ncpus * 2"
    page.click("#undo")
    settle(page)
    assert page.input_value("#formula") == start


def test_a_refused_formula_changes_nothing(page):
    type_formula(page, "import os")
    headline = page.locator("#headline").inner_text()
    assert headline.startswith("qmgr refuses this: ") and headline.endswith("Below: the last formula that worked.")
    assert "stale" in page.locator("#results").get_attribute("class")
    type_formula(page, "ncpus")
    assert "qmgr" not in page.locator("#headline").inner_text()
    assert "stale" not in page.locator("#results").get_attribute("class")


def test_a_file_takes_the_place_of_one_of_the_same_name(page, tmp_path):
    for jobs in (7, 3, 5):
        queue = tmp_path / "queue.ndjson"
        queue.write_text("".join(json.dumps({"id": f"{n}.x", "entity": "jsolberg"}) + "\n" for n in range(jobs)))
        page.set_input_files("#files", [])
        page.set_input_files("#files", str(queue))
        page.locator("#timing", has_text=f"{jobs} jobs evaluated").wait_for()


def test_files_are_read_in_the_browser(page, tmp_path):
    queue = tmp_path / "other.ndjson"
    queue.write_text("".join(json.dumps({"id": f"{n}.x", "entity": "jsolberg", "resources": {"ncpus": n}}) + "\n" for n in range(1, 8)))
    page.set_input_files("#files", str(queue))
    page.locator("#opened", has_text="Read other.ndjson").wait_for()
    type_formula(page, "ncpus * 1000 + fairshare_factor")
    assert first_ids(page, 3) == ["7.x", "6.x", "5.x"]
    expected = compared("ncpus * 1000 + fairshare_factor", *SITE, "--queue", str(queue))
    assert numbers(page) == {"summary": expected["summary"], "fairness": expected["fairness"]}
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("nothing of a site\n")
    page.set_input_files("#files", str(wrong))
    page.locator("#opened", has_text="expected").wait_for()
    settle(page)
    assert first_ids(page, 1) == ["7.x"]


def test_hostile_names_are_text(open_page, tmp_path):
    jobs = [{"id": f"{n}{name}"[:4096], "entity": name, "queue": name, "resources": {"ncpus": n}, "eligible_time": 60} for n, name in enumerate(HOSTILE)]
    queue = tmp_path / "queue.json"
    queue.write_text(json.dumps({"jobs": jobs}))
    tree = tmp_path / "</script>tree.json"[-9:]
    tree.write_text(json.dumps({"unknown_shares": 1, "children": [{"name": name, "shares": 2, "usage": 5} for name in HOSTILE]}))
    path = write(tmp_path / "page.html", "ncpus * fairshare_factor # </script><b>", "--queue", str(queue), "--tree", str(tree))
    page = opened(open_page, path)
    shown = page.locator("body").inner_text()
    for name in ["</script><script>alert(1)</script>", "onerror=alert(1)", r"\u{202e}esrever", "&lt;b&gt;"]:
        assert name in shown, name
    assert page.locator("img, script:not([type])").count() == 1
    page.fill("#search", "<img")
    settle(page)
    assert page.locator("#queue tbody tr").count() == 1


def bits_in_page(page, formula):
    """The value of each job before it is rounded, as the bits of a double; `None` if the formula is refused."""
    return page.evaluate("""formula => {
        const answer = call("rank", formula, 0, false);
        if ("error" in answer) return null;
        return [...new BigUint64Array(engine.memory.buffer, engine.values(), engine.job_count())].map(String);
    }""", formula)


def values_of_the_command(formula, queue, folder):
    """The same of `jsf rank` by the id of the job, as it prints them; `None` if the formula is refused."""
    # as an argument, one that begins with `--` would be an option
    text = folder / "formula"
    text.write_text(formula)
    ended = subprocess.run([os.environ["JSF_BINARY"], "rank", "-f", str(text), "--queue", str(queue), "--format", "csv"],
                           cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    return {job["id"]: job["exact"] for job in csv.DictReader(ended.stdout.splitlines())} if ended.stdout else None


def compare_bits(page, formulas, queue, ids, folder):
    """How many values were compared, and those that differ by formula: the job, the command's value and the page's."""
    different, count = {}, 0
    for formula in dict.fromkeys(formulas):
        native, answer = values_of_the_command(formula, queue, folder), bits_in_page(page, formula)
        assert (native is None) == (answer is None), formula
        for job, bits in zip(ids, answer or (), strict=native is not None):
            exact = native[job]
            expected = math.nan if exact == "" else float({"True": 1, "False": 0}.get(exact, exact))
            shown = struct.unpack("<d", struct.pack("<Q", int(bits)))[0]
            count += 1
            if int(bits) != struct.unpack("<Q", struct.pack("<d", expected))[0] and not (math.isnan(shown) and math.isnan(expected)):
                different.setdefault(formula, []).append((job, exact, repr(shown)))
    print(f"{count} values compared; differences: {different}")
    return count, different


def test_golden_formulas_have_equal_bits(open_page, tmp_path):
    """All values over the recorded jobs, before they are rounded to a float."""
    lines = [json.loads(line) for line in (GOLDEN / "jobs.jsonl").read_text().splitlines()]
    own = {"fairshare_perc", "fairshare_tree_usage", "fairshare_factor"}
    number = lambda text: float(text) if "." in text else int(text)
    jobs = [
        {"id": line["job"], "entity": "x", "inputs": {name: number(value) for name, value in line["scheduler_inputs"].items()}}
        for line in lines if not line["invalid"]
    ]
    queue = tmp_path / "queue.json"
    queue.write_text(json.dumps({"jobs": jobs}))
    page = opened(open_page, write(tmp_path / "page.html", "1", "--queue", str(queue)))
    assert own <= set(jobs[0]["inputs"])
    # blanks at the end are not read from a file
    formulas = [json.loads(line)["formula"].rstrip() for line in gzip.open(GOLDEN / "evaluate.jsonl.gz", "rt")]
    count, different = compare_bits(page, formulas, queue, [job["id"] for job in jobs], tmp_path)
    assert count > 5000
    of_the_c_library = ["**", "cos", "dist", "erf", "exp", "gamma", "hypot", "log", "pow", "sin", "tan"]
    assert all(any(name in formula for name in of_the_c_library) for formula in different), different


def test_random_formulas_have_equal_bits(open_page, tmp_path):
    """With operators and functions that have equal bits everywhere; `JSF_PAGE_FORMULAS` says how many formulas."""
    random = Random(1)
    names = ["ncpus", "walltime", "eligible_time", "job_priority", "weight", "share"]
    number = lambda: random.choice([random.randrange(-3, 4), random.randrange(10**6), random.uniform(-1, 1), random.lognormvariate(0, 9)])
    jobs = [{"id": str(n), "entity": "x", "inputs": {name: number() for name in names}} for n in range(1, 2001)]
    queue = tmp_path / "queue.json"
    queue.write_text(json.dumps({"jobs": jobs}))
    page = opened(open_page, write(tmp_path / "page.html", "1", "--queue", str(queue)))
    formulas = [random_formula(random, names, 4) for _ in range(int(os.environ.get("JSF_PAGE_FORMULAS", "30")))]
    count, different = compare_bits(page, formulas, queue, [job["id"] for job in jobs], tmp_path)
    assert count > 1000 * len(formulas) // 2 and not different


def random_formula(random, names, depth):
    """An expression of names, numbers, operators and functions."""
    part = lambda: random_formula(random, names, depth - 1)
    kind = random.randrange(8) if depth else random.randrange(2)
    if kind == 0:
        return random.choice(["0", "1", "2", "-3", "0.5", "1e3", "3600", f"{random.uniform(0, 100):.3g}"])
    if kind == 1:
        return random.choice(names)
    if kind < 5:
        return f"({part()} {random.choice(['+', '-', '*', '/', '//', '%'])} {part()})"
    if kind == 5:
        return f"({part()} if {part()} {random.choice(['<', '>=', '==', '!='])} {part()} else {part()})"
    if kind == 6:
        return f"{random.choice(['min', 'max', 'fmod'])}({part()}, {part()})"
    return f"{random.choice(['abs', 'sqrt', 'cbrt', 'floor', 'ceil', 'int', 'float', 'round', 'fabs', '-', 'not '])}({part()})"


def test_ranking_times_are_reported(open_page, tmp_path, capsys):
    """Not asserted: the machine may be busy."""
    for count in [10_000, 100_000]:
        queue = tmp_path / "queue.ndjson"
        names = ["jsolberg", "tmorita", "vlindqvist", "rvasquez"]
        job = lambda n: {"id": f"{n}.x", "entity": names[n % 4], "queue": "workq", "eligible_time": n * 7919 % 1_000_000,
                         "resources": {"ncpus": n % 128 + 1}}
        queue.write_text("".join(json.dumps(job(n)) + "\n" for n in range(count)))
        page = opened(open_page, write(tmp_path / "page.html", FORMULA, *SITE, "--queue", str(queue)))
        ready = float(page.locator("body").get_attribute("data-ready"))
        weight = page.get_by_role("slider").first
        weight.focus()
        times = []
        for _ in range(9):
            weight.press("ArrowLeft")
            page.wait_for_timeout(80)
            times.append(float(page.locator("#timing").get_attribute("data-rank")))
            settle(page)
        with capsys.disabled():
            print(f"\n{count} jobs: the page is ready after {ready:.0f} ms and ranks in {sorted(times)[4]:.1f} ms (median)")
        assert page.locator("#queue tbody tr").count() == 50


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_assistive_technology(page_file, open_page, scheme):
    for width in [1280, 400]:
        page = opened(open_page, page_file, color_scheme=scheme, viewport={"width": width, "height": 900})
        type_formula(page, FORMULA + " + walltme")
        found = [(one["id"], one["impact"]) for one in Axe().run(page).response["violations"]]
        assert not [one for one in found if one[1] in ("serious", "critical")], found
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, width
