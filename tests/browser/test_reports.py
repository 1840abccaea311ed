"""The reports of `rank`, `explain`, `compare`, `shares` and `simulate`: what a reader sees, clicks, types and prints."""

import json
import math

import pypdfium2
import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import report

SITE = ["--site", "examples/site"]
OLD = ["--old-file", "examples/formulas/qut.txt"]
FORMULA = "100 * fairshare_factor + eligible_time / 3600 - 3 * ncpus"
COMMANDS = {
    "rank": ["rank", FORMULA, "--inputs", *SITE],
    "explain": ["explain", FORMULA, "--job", "184127", "--job", "184103", *SITE],
    "compare": ["compare", *OLD, "--new", FORMULA, *SITE],
    "shares": ["shares", "--policy", "all", *SITE],
    "simulate": ["simulate", "--old", "eligible_time", "--new", "eligible_time / walltime", "--generate", "300",
                 "--processors", "32", "--load", "1.2"],
}
# in a name: leaves an attribute, an element, a script, a template; turns the text round; fills the page
HOSTILE = [
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style><h1>",
    "`{{ 7 * 7 }}{% raw %}`",
    "\u202eesrever\u2066\u200f",
    "\x1b]0;title\x07\x9b31m",
    "&lt;b&gt;&amp;",
    "x" * 4000,
    "\u05e9\u05dc\u05d5\u05dd \u4e2d\u6587",
]


@pytest.fixture(scope="session")
def site_pages(tmp_path_factory):
    """The reports of the example site: path and JSON document by command."""
    folder = tmp_path_factory.mktemp("site")
    pages = {name: folder / f"{name}.html" for name in COMMANDS}
    return {name: (path, report(path, *COMMANDS[name])) for name, path in pages.items()}


@pytest.fixture(scope="session")
def hostile_pages(tmp_path_factory):
    """The reports of a queue with hostile ids, users, groups, queues and names of files, by command."""
    folder = tmp_path_factory.mktemp("hostile <b>'\u202e\"&")
    jobs = [
        {"id": f"{number}{name}", "entity": name, "queue": name, "resources": {"ncpus": number}, "eligible_time": 60}
        for number, name in enumerate(HOSTILE)
    ]
    user = [{"name": name, "shares": 1, "usage": 10 + number} for number, name in enumerate(HOSTILE)]
    groups = [{"name": f"group{name}"[:4096], "shares": 1, "children": []} for name in HOSTILE]
    groups[0]["children"] = user
    queue, tree = folder / "<script>alert(1)<!-- queue.json", folder / "tree\u202e.json"
    queue.write_text(json.dumps({"jobs": jobs}))
    tree.write_text(json.dumps({"unknown_shares": 0, "children": groups}))
    logged = [
        {"id": f"{number}{name}", "entity": name, "group": name, "queue": name, "submit": number, "run": 60,
         "resources": {"ncpus": 1}}
        for number, name in enumerate(2 * HOSTILE)
    ]
    log = folder / "log\u202e<b>.ndjson"
    log.write_text("\n".join(map(json.dumps, logged)))
    old, new = folder / "<img src=x>.txt", folder / "\u202enew.txt"
    old.write_text("ncpus + fairshare_factor # </code><script>alert(1)</script>\n")
    new.write_text("eligible_time / (ncpus - 1) # \u202e\n")
    context = ["--queue", str(queue), "--tree", str(tree)]
    commands = {
        "rank": ["rank", "-f", str(new), "--inputs", *context],
        "explain": ["explain", "-f", str(old), *(part for job in jobs for part in ("--job", job["id"])), *context],
        "compare": ["compare", "--old-file", str(old), "--new-file", str(new), *context],
        "shares": ["shares", *context],
        "simulate": ["simulate", "--old-file", str(old), "--new-file", str(new), "--workload", str(log), "--processors", "2",
                     "--tree", str(tree)],
    }
    pages = {name: folder / f"{name}.html" for name in commands}
    return {name: (path, report(path, *commands[name])) for name, path in pages.items()}


def pytest_generate_tests(metafunc):
    if "command" in metafunc.fixturenames:
        metafunc.parametrize("command", COMMANDS)


def region(page, heading):
    return page.get_by_role("region", name=heading, exact=True, include_hidden=True)


def open_details(page):
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")


def rows(region):
    """The shown rows of a table: numbers where a cell has one, else texts."""
    return region.locator("tbody tr:not([hidden])").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.dataset.value ? Number(cell.dataset.value)"
        " : cell.textContent))"
    )


def column(region, name):
    headings = region.locator("th").evaluate_all("all => all.map(heading => heading.textContent)")
    return [row[headings.index(name)] for row in rows(region)]


def assert_equal(region, objects, keys):
    """The rows of a table are these objects: `keys` is the key of each column, or `None`."""
    shown = rows(region)
    assert len(shown) == len(objects) > 0
    for row, expected in zip(shown, objects, strict=True):
        for cell, key in zip(row, keys, strict=False):
            if key is not None:
                value = expected[key]
                value = "–" if value in (None, "") else value
                assert cell == value or math.isclose(float(cell), float(value), rel_tol=1e-15), (key, row, expected)


def test_the_numbers_are_those_of_json(open_page, site_pages):
    path, document = site_pages["rank"]
    page = open_page(path)
    assert_equal(region(page, "Jobs"), document["jobs"], ["rank", "id", "entity", "queue", "state", "score"])
    path, document = site_pages["compare"]
    page = open_page(path)
    jobs = sorted(document["jobs"], key=lambda job: (-abs(job["moved"]), job["new_rank"]))
    keys = ["id", "entity", "queue", "old_rank", "new_rank", "moved", "old_score", "new_score"]
    assert_equal(region(page, "Jobs"), jobs, keys)
    keys = ["name", "jobs", "old_mean_rank", "new_mean_rank", "won", None, None, "perc"]
    assert_equal(region(page, "Entities"), document["entities"], keys)
    assert page.locator("h1").inner_text().startswith(f"{document['summary']['moved']} of {len(jobs)} jobs")
    path, document = site_pages["explain"]
    page = open_page(path)
    for job in document["jobs"]:
        terms = [{**term, "value": float(term["value"])} for term in job["terms"]]
        assert_equal(region(page, f"Terms of {job['id']}"), terms, ["text", "value"])
    path, document = site_pages["simulate"]
    page = open_page(path)
    entities = [{**entity, **entity["mean_wait"]} for entity in document["difference"]["entities"]]
    keys = ["name", "jobs", "old", "new", "difference", None, None]
    assert_equal(region(page, "Entities"), entities, keys)
    path, document = site_pages["shares"]
    page = open_page(path)
    for policy in document["policies"]:
        keys = ["name"] + [key for key in ("shares", "perc", "usage") if policy["policy"] == "pbs"]
        assert_equal(region(page, f"Shares under {policy['policy']}"), policy["nodes"], keys)


def test_the_charts_have_a_mark_for_each(open_page, site_pages):
    path, document = site_pages["compare"]
    page = open_page(path)
    jobs = document["jobs"]
    slopes, displacements, ranks, tree = page.locator("figure").all()
    assert slopes.locator("path").count() == len(jobs) == 33
    for direction, sign in (("up", 1), ("down", -1), ("same", 0)):
        expected = sum((job["moved"] > 0) - (job["moved"] < 0) == sign for job in jobs)
        assert slopes.locator(f"path.{direction}").count() == expected
        assert ranks.locator(f"circle.{direction}").count() == expected
    titles = displacements.locator("rect > title").all_text_contents()
    assert sum(int(title.split(": ")[1].split()[0]) for title in titles) == len(jobs)
    # the nodes of the tree are the rows of its table, but for those without a share
    table = region(page, "Fair-share tree")
    visible = [share for share in column(table, "share") if share > 0]
    assert tree.locator("rect.cell").count() == len(visible) > 10
    assert all(chart.locator("svg[role=img]").get_attribute("aria-label") for chart in (slopes, displacements, ranks, tree))
    # nothing is drawn twice, or below the wrong group
    names = [node["name"] for node in site_pages["shares"][1]["policies"][0]["nodes"]]
    assert column(table, "name") == names


def test_nothing_is_drawn_outside_a_chart(open_page, site_pages, hostile_pages, command):
    for path, _ in (site_pages[command], hostile_pages[command]):
        outside = open_page(path).locator("figure > svg").evaluate_all(
            """charts => charts.flatMap(svg => { const frame = svg.getBoundingClientRect();
                return [...svg.querySelectorAll('text, rect, circle, path')].filter(mark => {
                    const box = mark.getBoundingClientRect();
                    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
                        || box.bottom > frame.bottom + 1; }).map(mark => mark.outerHTML); })"""
        )
        assert outside == []


def test_a_table_is_sorted_by_clicks(open_page, site_pages):
    page = open_page(site_pages["compare"][0])
    entities = region(page, "Entities")
    before = rows(entities)
    for heading, first in (("jobs", "descending"), ("entity", "ascending")):
        button = entities.get_by_role("button", name=heading, exact=True)
        for direction in (first, "ascending" if first == "descending" else "descending"):
            button.click()
            values = column(entities, heading)
            assert values == sorted(values, reverse=direction == "descending") != column(entities, "share")
            assert entities.locator("th[aria-sort]").evaluate_all(
                "all => all.map(heading => [heading.textContent, heading.ariaSort])"
            ) == [[heading, direction]]
    assert sorted(map(str, rows(entities))) == sorted(map(str, before))


def test_a_table_is_sorted_and_searched_with_the_keyboard(open_page, site_pages):
    page = open_page(site_pages["compare"][0])
    entities = region(page, "Entities")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent"))
        if reached[-1] == "jobs":
            break
    assert reached[-1] == "jobs", reached
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "the focus is not visible"
    page.keyboard.press("Enter")
    values = column(entities, "jobs")
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Space")
    values = column(entities, "jobs")
    assert values == sorted(values)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("NKap")
    assert column(entities, "entity") == ["nkapoor"]
    assert entities.locator("output").inner_text() == "1 of 16 rows"
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    assert len(rows(entities)) == 16


def test_the_tree_opens_as_a_table(open_page, site_pages):
    page = open_page(site_pages["compare"][0])
    table = region(page, "Fair-share tree")
    assert not table.is_visible()
    page.get_by_text("The tree as a table").click()
    assert table.is_visible() and len(rows(table)) > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_hard_to_access(open_page, site_pages, hostile_pages, command, scheme):
    for path, _ in (site_pages[command], hostile_pages[command]):
        page = open_page(path, color_scheme=scheme)
        open_details(page)
        found = [
            (violation["id"], violation["impact"], violation["nodes"][0]["html"][:200])
            for violation in Axe().run(page).response["violations"]
        ]
        assert found == []
        assert faint_labels(page) == []


def faint_labels(page):
    """Texts of charts with a contrast below 4.5 against what is behind them, which axe does not look at."""
    return page.evaluate(
        """() => {
            const channels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
                const share = part / 255;
                return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
            const luminance = (colour) => { const [r, g, b] = channels(colour); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const ground = getComputedStyle(document.body).backgroundColor;
            return [...document.querySelectorAll('figure svg text')].map((text) => {
                const before = text.previousElementSibling;
                const behind = before?.matches('rect.cell') ? getComputedStyle(before).fill : ground;
                const [low, high] = [luminance(behind), luminance(getComputedStyle(text).fill)].sort((a, b) => a - b);
                return [text.textContent, behind, (high + 0.05) / (low + 0.05)];
            }).filter(([, , contrast]) => contrast < 4.5);
        }"""
    )


def test_a_phone_shows_the_page_without_scrolling_sideways(open_page, site_pages, hostile_pages, command):
    for path, _ in (site_pages[command], hostile_pages[command]):
        page = open_page(path, viewport={"width": 400, "height": 800})
        open_details(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_a_print_has_all_rows_and_repeats_the_headings(open_page, site_pages, command):
    page = open_page(site_pages[command][0], color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".search").first.is_visible()
    sheets = [sheet.get_textpage().get_text_range() for sheet in pypdfium2.PdfDocument(page.pdf(format="A4"))]
    printed = "".join("".join(sheets).split())
    cells = page.locator("section > .table td").all_text_contents()
    missing = [text for text in cells if "".join(text.split()) not in printed]
    assert len(cells) > 30 and missing == []
    if command == "compare":
        headings = [sheet for sheet in sheets if "old value" in sheet and "new value" in sheet]
        assert len(headings) > 1, "the table of jobs is on two sheets"


def test_hostile_names_are_text(open_page, hostile_pages, command):
    page = open_page(hostile_pages[command][0])
    counts = page.evaluate(
        "['script', 'style', 'img', 'h1', 'title', 'b'].map(name => document.head.querySelectorAll(name).length"
        " + document.body.querySelectorAll(`:scope ${name}`).length - document.body.querySelectorAll('svg title').length"
        " * (name === 'title'))"
    )
    assert counts == [1, 1, 0, 1, 1, 0]
    assert page.evaluate("[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
                         ".filter(name => name.startsWith('on') || name === 'style' || name === 'src')") == []
    shown = page.locator("body").inner_text()
    assert not set(shown) & set("\u202e\u2066\u200f\x1b\x07\x9b")
    names = {"rank": "Jobs", "compare": "Jobs", "shares": "Shares", "simulate": "Jobs"}
    if command in names:
        column_name = "name" if command == "shares" else "entity"
        texts = column(region(page, names[command]), column_name)
        for name in HOSTILE:
            if name.isprintable():
                assert name in texts
    if command != "explain":
        open_details(page)
        page.locator("input").first.fill("</script>")
        assert page.locator("output").first.inner_text().startswith(("1 of", "2 of", "3 of"))


def test_a_script_in_a_page_would_not_run(open_page, browser, site_pages, tmp_path):
    """The policy is in force: what is put into a page by hand is refused."""
    text = site_pages["shares"][0].read_text()
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace("</main>", "<script>document.title = 'run'</script><img src='x' onerror='run()'></main>"))
    page = browser.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(changed.as_uri())
    assert page.title() == "Fair share" and len(refused) >= 2
    page.close()


def test_every_finding_has_its_caret(open_page, tmp_path):
    path = tmp_path / "page.html"
    report(path, "rank", "100 / (queue_priority - 50) + ncpus", *SITE)
    page = open_page(path)
    lines = page.locator("pre.finding").first.inner_text().split("\n")
    source = next(index for index, line in enumerate(lines) if "100 / (queue_priority - 50)" in line)
    carets = [column for column, mark in enumerate(lines[source + 1]) if mark == "^"]
    assert [lines[source][column] for column in carets] == [" ", "/", " "]


def test_equal_orders_have_no_empty_charts(open_page, tmp_path):
    path = tmp_path / "page.html"
    report(path, "compare", "--old", "ncpus", "--new", "ncpus + 1", *SITE)
    page = open_page(path)
    assert "keep their places" in page.locator("h1").inner_text()
    assert page.locator("figure").count() == 1  # the tree

