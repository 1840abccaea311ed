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
    # a simulation shows no waits under a formula that fails for all jobs
    works = old.with_name("works.txt")
    works.write_text("eligible_time / (ncpus + 1) # \u202e\n")
    context = ["--queue", str(queue), "--tree", str(tree)]
    commands = {
        "rank": ["rank", "-f", str(new), "--inputs", *context],
        "explain": ["explain", "-f", str(old), *(part for job in jobs for part in ("--job", job["id"])), *context],
        "compare": ["compare", "--old-file", str(old), "--new-file", str(new), *context],
        "shares": ["shares", *context],
        "simulate": ["simulate", "--old-file", str(old), "--new-file", str(works), "--workload", str(log), "--processors", "2",
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
    entities = [{**entity, "gained": entity["won"] / entity["jobs"]} for entity in document["entities"]]
    entities.sort(key=lambda entity: -entity["gained"])
    keys = ["name", "jobs", "old_mean_rank", "new_mean_rank", "gained", None, None, "perc"]
    assert_equal(region(page, "Entities"), entities, keys)
    assert f"tau-b {document['summary']['tau_b']:.2f}" in page.locator("h1").inner_text()
    path, document = site_pages["explain"]
    page = open_page(path)
    for job in document["jobs"]:
        inputs = [{**given, "value": float(given["value"])} for given in job["inputs"]]
        assert_equal(region(page, f"Inputs of {job['id']}"), inputs, ["name", "value", None, "origin"])
    path, document = site_pages["simulate"]
    page = open_page(path)
    entities = [{**entity, **entity["mean_wait"]} for entity in document["difference"]["entities"]]
    keys = ["name", "jobs", "core_seconds", "old", "new", "difference", None]
    assert_equal(region(page, "Entities: The numbers as a table"), entities, keys)
    path, document = site_pages["shares"]
    page = open_page(path)
    for policy in document["policies"]:
        columns = [None, "shares", "perc", "usage", "tree_usage", "factor"] if policy["policy"] == "pbs" else []
        keys = ["name", *columns]
        assert_equal(region(page, f"Shares under {policy['policy']}"), policy["nodes"], keys)


def chart(page, name):
    """The chart of a wide screen."""
    return page.locator("figure:not(.narrow)", has=page.locator(f'svg[role=img][aria-label="{name}"]'))


def test_the_charts_have_a_mark_for_each(open_page, site_pages):
    path, document = site_pages["compare"]
    page = open_page(path)
    jobs = document["jobs"]
    slopes = chart(page, "Each job's place in the old and in the new order")
    assert slopes.locator("path").count() == len(jobs) == 33
    for direction, sign in (("up", 1), ("down", -1), ("same", 0)):
        expected = sum((job["moved"] > 0) - (job["moved"] < 0) == sign for job in jobs)
        assert slopes.locator(f"path.{direction}").count() == expected
    # nothing is drawn twice, or below the wrong group
    table = region(page, "Fair-share tree: The tree as a table")
    names = [node["name"] for node in site_pages["shares"][1]["policies"][0]["nodes"]]
    assert column(table, "name") == names


def test_shares_and_usage_are_two_dots_of_each_entity(open_page, site_pages):
    page = open_page(site_pages["shares"][0])
    table = region(page, "Fair-share tree: The tree as a table")
    parts = dict(zip(column(table, "name"), zip(column(table, "share"), column(table, "part of the usage"), strict=True), strict=True))
    dots = chart(page, "Each entity's share of the machine, and its part of the usage").locator("svg[role=img]")
    titles = dots.locator("circle.new > title").all_text_contents()
    assert len(titles) == dots.locator("circle.old").count() > 10
    excess = []
    for title in titles:
        name, words = title.split(": share ")
        share, used = (0.0 if part == "none" else float(part.removesuffix(" %")) / 100 for part in words.split(", part of the usage "))
        assert math.isclose(share, parts[name][0], rel_tol=0.01, abs_tol=1e-6), title
        assert math.isclose(used, parts[name][1], rel_tol=0.01, abs_tol=1e-6), title
        excess.append((share > 0, share - used))
    assert excess == sorted(excess), "those without shares, then those farthest above their shares"


def test_what_may_be_chance_is_hollow(open_page, site_pages):
    path, document = site_pages["simulate"]
    page = open_page(path)
    forest = chart(page, "How the mean wait changes by processors").locator("svg[role=img]")
    assert forest.locator("text", has_text="all jobs").count() == 1
    marks = forest.locator("circle").evaluate_all("all => all.map(mark => [mark.getAttribute('class'), mark.textContent])")
    changes = [document["difference"]["mean_wait"], *(size["mean_wait"] for size in document["difference"]["sizes"])]
    assert len(marks) == len(changes)
    for (classes, title), change in zip(marks, changes, strict=True):
        assert ("hollow" not in classes) == change["significant"], title
        assert ("up" in classes.split()) == (change["difference"] <= 0), title
    spreads = chart(page, "The waits of half and of 95 % of the jobs by processors").locator("svg[role=img]")
    assert spreads.locator("circle.old").count() == spreads.locator("circle.new").count() == 2 * len(document["difference"]["sizes"])


def test_every_chart_has_a_name_and_a_table(open_page, site_pages, hostile_pages, command):
    for path, _ in (site_pages[command], hostile_pages[command]):
        page = open_page(path)
        unnamed = page.locator("figure").evaluate_all(
            """all => all.filter(figure => { const svg = figure.querySelector('svg[role=img]');
                return !svg?.getAttribute('aria-label') || !svg.querySelector('desc')?.textContent
                    || !figure.closest('section').querySelector('.table tbody tr'); }).map(figure => figure.innerHTML.slice(0, 200))"""
        )
        assert unnamed == []
        names = page.locator("figure:not(.narrow) svg[role=img]").evaluate_all(
            "all => all.map(svg => svg.getAttribute('aria-label'))")
        captions = page.locator("caption").all_text_contents()
        assert len(set(names)) == len(names)
        assert len(captions) == page.locator("table").count() and all(captions)


def test_links_lead_to_sections(open_page, site_pages, command):
    page = open_page(site_pages[command][0])
    links = page.locator("nav a")
    targets = links.evaluate_all("all => all.map(link => [link.textContent, document.querySelector(link.hash)?.querySelector('h2').textContent])")
    assert all(name == heading for name, heading in targets)
    ids = page.locator("section").evaluate_all("all => all.map(section => section.id)")
    assert len(set(ids)) == len(ids) and (len(targets) > 2 or command == "explain")
    if targets:
        links.last.focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.querySelector(':target h2').textContent") == targets[-1][0]


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
    for _ in range(200):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("[document.activeElement.textContent, document.activeElement.closest('.table')?.ariaLabel]"))
        if reached[-1] == ["jobs", "Entities"]:
            break
    assert reached[-1] == ["jobs", "Entities"], reached
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
    table = region(page, "Fair-share tree: The tree as a table")
    assert not table.is_visible()
    page.get_by_text("The tree as a table", exact=True).click()
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
    """Texts of charts with a contrast below 4.5, and marks with one below 3, against the ground: axe does not look at them."""
    return page.evaluate(
        """() => {
            const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
            const channels = (colour) => {
                canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
                return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
                    const share = part / 255;
                    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; }); };
            const luminance = (colour) => { const [r, g, b] = channels(colour); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const ground = luminance(getComputedStyle(document.body).backgroundColor);
            const contrast = (colour) => { const [low, high] = [ground, luminance(colour)].sort((a, b) => a - b);
                return (high + 0.05) / (low + 0.05); };
            const texts = [...document.querySelectorAll('figure svg text')].map(
                (text) => [text.outerHTML, contrast(getComputedStyle(text).fill), 4.5]);
            const marks = [...document.querySelectorAll('figure svg :is(circle, rect, path, line:not(.grid)), svg.bar rect')].map((mark) => {
                const { fill, stroke } = getComputedStyle(mark);
                const colours = [fill, stroke].filter((colour) => colour !== 'none');
                return [mark.outerHTML, Math.max(...colours.map(contrast)), 3]; });
            return [...texts, ...marks].filter(([, found, least]) => found < least);
        }"""
    )


def test_blue_and_orange_are_better_and_worse_only(open_page, site_pages, command):
    page = open_page(site_pages[command][0])
    open_details(page)
    wrong = page.evaluate(
        """() => {
            const style = getComputedStyle(document.documentElement);
            const probe = document.createElement('i');
            document.body.append(probe);
            const colours = ['--up', '--down'].map((name) => { probe.style.color = style.getPropertyValue(name); return getComputedStyle(probe).color; });
            probe.remove();
            return [...document.querySelectorAll('body *')].filter((one) => {
                const { color, fill, stroke, backgroundColor } = getComputedStyle(one);
                const used = one.closest('svg') ? [fill, stroke] : [color, backgroundColor];
                return used.some((colour) => colours.includes(colour)) && !one.closest('.up, .down');
            }).map((one) => one.outerHTML.slice(0, 200));
        }"""
    )
    assert wrong == []


def test_a_phone_shows_the_page_without_scrolling_sideways(open_page, site_pages, hostile_pages, command):
    for path, _ in (site_pages[command], hostile_pages[command]):
        page = open_page(path, viewport={"width": 400, "height": 800})
        open_details(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 400


CUT_TEXTS = """() => [...document.querySelectorAll('body *')].filter((one) => {
    const style = getComputedStyle(one);
    if (!one.checkVisibility() || one.closest('caption, svg') || one.clientWidth === 0 || style.overflowX === 'visible') return false;
    const isCut = one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1;
    const scrolls = (['auto', 'scroll'].includes(style.overflowX) || ['auto', 'scroll'].includes(style.overflowY))
        && (one.tabIndex >= 0 || one.querySelector('input, button, a, [tabindex]'));
    const isMarked = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none' || one.matches('textarea');
    return isCut && !scrolls && !isMarked; }).map((one) => one.outerHTML.slice(0, 200))"""


def test_no_text_is_cut_without_a_mark_on_a_phone(open_page, site_pages, hostile_pages, command):
    for path, _ in (site_pages[command], hostile_pages[command]):
        page = open_page(path, viewport={"width": 400, "height": 800})
        open_details(page)
        assert page.evaluate(CUT_TEXTS) == []


def test_a_phone_shows_every_chart_whole_with_readable_letters(open_page, site_pages, hostile_pages, command):
    for path, _ in (site_pages[command], hostile_pages[command]):
        page = open_page(path, viewport={"width": 400, "height": 800})
        open_details(page)
        charts = page.evaluate(
            """() => [...document.querySelectorAll('figure:not(.wide) > svg')].filter(svg => svg.checkVisibility()).map(svg => {
                const frame = svg.getBoundingClientRect();
                const scale = frame.width / svg.viewBox.baseVal.width;
                const letters = [...svg.querySelectorAll('text')].map(text => parseFloat(getComputedStyle(text).fontSize) * scale);
                const outside = [...svg.querySelectorAll('text, rect, circle')].filter(mark => {
                    const box = mark.getBoundingClientRect();
                    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1; });
                return { width: frame.width, letters: Math.min(...letters), outside: outside.map(mark => mark.outerHTML) }; })"""
        )
        for shown in charts:
            assert shown["width"] <= 376 and shown["letters"] >= 11 and shown["outside"] == []
        # each chart is shown once
        names = page.locator("figure svg[role=img]").evaluate_all(
            "all => all.filter(svg => svg.checkVisibility()).map(svg => svg.ariaLabel)")
        assert len(names) == len(set(names))


def test_a_phone_shows_what_changes_beside_the_names(open_page, site_pages):
    page = open_page(site_pages["compare"][0], viewport={"width": 400, "height": 800})
    for name, heading in (("Who gains and loses", "gained"), ("Entities", "gained"), ("Jobs", "moved")):
        assert region(page, name).locator("th").all_inner_texts()[1] == heading
    finding = page.locator("pre.finding")
    assert all(style == "pre-wrap" for style in finding.evaluate_all("all => all.map(one => getComputedStyle(one).whiteSpace)"))


def test_a_comparison_begins_with_who_gains_and_ends_with_the_rules(open_page, site_pages, tmp_path):
    path = tmp_path / "page.html"
    report(path, "compare", "--old", "ncpus", "--new", "eligible_time / (ncpus - 1)", *SITE)
    page = open_page(path)
    headings = page.locator("h2").all_inner_texts()
    first = [heading for heading in headings if heading != "What decides"]
    assert first[:4] == ["Who gains and loses", "Formulas", "Findings: new formula", "Jobs"]
    assert page.locator("section").last.locator("summary").inner_text() == "The rules"
    findings = " ".join(page.locator("pre.finding").all_inner_texts())
    assert "JSF301" in findings and "JSF402" in findings
    assert "184,862" not in page.locator("body").inner_text()
    entities = column(region(page, "Entities"), "gained")
    assert entities == sorted(entities, reverse=True)
    page = open_page(site_pages["rank"][0])
    ranks = column(region(page, "Entities"), "mean rank")
    assert ranks == sorted(ranks)


def test_a_page_has_at_most_twelve_links(open_page, site_pages, command):
    page = open_page(site_pages[command][0])
    links = page.locator("nav a").all_inner_texts()
    assert len(links) <= 12 and not any("`" in link for link in links)


def test_a_phone_shows_the_moves_as_a_table(open_page, site_pages):
    page = open_page(site_pages["compare"][0], viewport={"width": 400, "height": 800})
    assert not chart(page, "Each job's place in the old and in the new order").is_visible()
    moved = region(page, "Jobs").locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert any(text.startswith("+") for text in moved) and any(text.startswith("-") for text in moved)


def test_a_reader_who_wants_no_motion_sees_none(open_page, site_pages):
    for motion, expected in (("reduce", False), ("no-preference", True)):
        page = open_page(site_pages["compare"][0], reduced_motion=motion)
        moving = page.evaluate(
            """[...document.querySelectorAll('*')].some((one) => { const style = getComputedStyle(one);
                return [style.transitionDuration, style.animationDuration].some((text) => text.split(', ').some((time) => parseFloat(time) > 0)); })"""
        )
        assert moving == expected


@pytest.fixture(scope="session")
def large_queue(tmp_path_factory):
    """10,000 jobs of 300 entities."""
    path = tmp_path_factory.mktemp("large") / "queue.ndjson"
    jobs = ({"id": f"{number}.large", "entity": f"user{number % 300}", "queue": f"queue{number % 12}",
             "eligible_time": number * 7919 % 1_000_000, "resources": {"ncpus": number % 128 + 1}} for number in range(10_000))
    path.write_text("".join(json.dumps(job) + "\n" for job in jobs))
    return path


def test_a_page_of_many_jobs_is_short(open_page, large_queue, tmp_path, capsys):
    queue = ["--queue", str(large_queue)]
    commands = {
        "rank": ["rank", "eligible_time / 3600 + ncpus", *queue],
        "compare": ["compare", "--old", "eligible_time", "--new", "eligible_time / 3600 + ncpus", *queue],
        "simulate": ["simulate", "--old", "eligible_time", "--new", "eligible_time / walltime", "--generate", "10000",
                     "--processors", "512"],
    }
    for name, arguments in commands.items():
        path = tmp_path / f"{name}.html"
        report(path, *arguments)
        page = open_page(path, viewport={"width": 1300, "height": 900})
        screens = page.evaluate("document.documentElement.scrollHeight") / 900
        with capsys.disabled():
            print(f"\n{name} of 10,000 jobs: {screens:.1f} screens")
        assert screens < 12
        jobs = region(page, "Jobs")
        assert len(rows(jobs)) == 50
        more = jobs.get_by_role("button", name="Show more (950 rows)")
        more.focus()
        for shown in (200, 800, 1000):
            page.keyboard.press("Enter")
            assert len(rows(jobs)) == shown
        assert jobs.locator(".more").is_hidden()


def test_bands_count_every_job(open_page, large_queue, tmp_path):
    path = tmp_path / "page.html"
    document = report(path, "compare", "--old", "eligible_time", "--new", "eligible_time / 3600 + ncpus", "--queue", str(large_queue))
    page = open_page(path)
    bands = rows(region(page, "From where to where"))
    assert [row[0] for row in bands] == ["1 to 10", "11 to 100", "101 to 1000", "1001 to 10,000"]
    limits = [10, 100, 1000, 10_000]
    expected = [[0] * 4 for _ in range(4)]
    for job in document["jobs"]:
        old, new = (next(index for index, limit in enumerate(limits) if job[rank] <= limit) for rank in ("old_rank", "new_rank"))
        expected[old][new] += 1
    assert [row[2:] for row in bands] == expected and sum(row[1] for row in bands) == 10_000


def test_a_print_has_the_first_rows_and_repeats_the_headings(open_page, site_pages, command):
    page = open_page(site_pages[command][0], color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".search").count() == 0 or not page.locator(".search").first.is_visible()
    sheets = [sheet.get_textpage().get_text_range() for sheet in pypdfium2.PdfDocument(page.pdf(format="A4"))]
    printed = "".join("".join(sheets).split())
    tables = page.locator("section > .table")
    cells = tables.evaluate_all("all => all.flatMap(one => [...one.querySelectorAll('tbody tr')].slice(0, 20).flatMap(row => [...row.cells].map(cell => cell.textContent)))")
    missing = [text for text in cells if "".join(text.split()) not in printed]
    assert len(cells) > 30 and missing == []
    if command == "compare":
        hidden = page.locator("section > .table", has_text="old value").locator("tbody tr:nth-child(n+21)")
        assert hidden.count() == 13 and not any(row.is_visible() for row in hidden.all())
        assert "Onpaper:thefirst20of33rows." in printed


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
        searched = page.locator(".table", has_text="</script>").filter(has=page.locator("input")).first
        searched.locator("input").fill("</script>")
        assert searched.locator("output").inner_text().startswith(("1 of", "2 of", "3 of"))


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
    assert "No job changes its place" in page.locator("h1").inner_text()
    assert page.locator("figure:not(.narrow)").count() == 1  # the tree

