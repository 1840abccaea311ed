// The page on which a formula is edited while the queue follows. The WebAssembly module does all the work: a text goes in,
// JSON with sections, as the reports have them, comes out.
const byId = (id) => document.getElementById(id);
const formulaField = byId("formula");
const settings = JSON.parse(byId("settings").textContent);
/** The module, and its functions. */
let compiled;
let engine;
/** The site that the page was written with. */
let written;
/** The formula of the site. */
let inForce = settings.in_force ?? settings.formula;
/** The formula with which the others are compared: that of the site, unless the reader has chosen another one. */
let baseline = inForce;
/** The earlier formulas, for Undo, and the last one that was left unchanged for a while. */
const earlierFormulas = [];
let settled = settings.formula;
let settling;
/** What changed the formula last: a slider or a field. */
let changing = formulaField;
/** The last formula that `qmgr` accepts and that could be ranked: its result is shown while the formula is half typed. */
let lastGood = null;
/** The numbers in the formula, with their places and sliders. */
let literals = [];
let findings = [];
/** How long a complete update took, in milliseconds: while it is short, every frame has one. */
let completeTime = Infinity;
let isScheduled = false;
let idle;

const FRAME = 12;
const IDLE = 140;
/** How long a formula must stay unchanged to become a step of Undo, in milliseconds. */
const SETTLING = 600;

async function unpacked(id) {
  const element = byId(id);
  const text = atob(element.textContent);
  element.remove();
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Starts a new instance of the module, with the site that was open. */
function restart() {
  engine = new WebAssembly.Instance(compiled, {}).exports;
  if (written === undefined) return;
  call("open", joinBundle(written));
  call("compare_with", baseline);
}

/** Calls a function of the module with a text or with bytes; its JSON, which has `error` if the call failed. */
function call(name, argument, ...others) {
  const bytes = typeof argument === "string" ? new TextEncoder().encode(argument) : argument;
  const start = engine.input(bytes.length);
  new Uint8Array(engine.memory.buffer, start, bytes.length).set(bytes);
  try {
    engine[name](...others);
  } catch (error) {
    // the module cannot be used after a panic, so another one takes its place
    restart();
    return { error: `jsf itself has failed (${error.message}); the page goes on` };
  }
  const output = new Uint8Array(engine.memory.buffer, engine.output(), engine.output_length());
  return JSON.parse(new TextDecoder().decode(output));
}

// Elements

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A text in which what stands between backticks is code. */
function withCode(text) {
  const pieces = text.split("`");
  if (pieces.length % 2 === 0) return [text];
  return pieces.map((piece, index) => (index % 2 === 1 ? element("code", { textContent: piece, dir: "auto" }) : piece));
}

/** A text in which the marked pieces are elements of their own. */
function pieceElements(pieces, tag = "code") {
  return pieces.map((piece) => (piece.is_marked ? element(tag, { textContent: piece.text, dir: "auto" }) : piece.text));
}

function cellElement(cell) {
  const text = element("bdi", { textContent: cell.text });
  const made = element("td", { className: cell.class });
  if (cell.bar) {
    const { start, width, zero } = cell.bar;
    const bar = element("div", { className: "with-bar" });
    // numbers and the name of a class
    bar.innerHTML = `<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect x="${start}"`
      + ` width="${width}" height="10" class="${cell.bar.class}"/><path d="M${zero} 0V10" class="zero"/></svg>`;
    bar.append(element("span", {}, text));
    made.append(bar);
  } else {
    made.append(text);
  }
  if (cell.value !== null) made.dataset.value = cell.value;
  return made;
}

/** Shows a table in a region; a table with the same headings keeps them and its order. */
function showTable(region, table, isSortable) {
  const headings = JSON.stringify(table.columns);
  let body = region.querySelector("tbody");
  if (region.dataset.headings !== headings) {
    region.dataset.headings = headings;
    const heading = (column) => {
      const content = isSortable ? element("button", { type: "button", textContent: column.heading }) : column.heading;
      return element("th", { scope: "col", className: column.is_number ? "n" : "" }, content);
    };
    body = element("tbody");
    const caption = element("caption", { textContent: table.name });
    region.replaceChildren(
      element("table", {}, caption, element("thead", {}, element("tr", {}, ...table.columns.map(heading))), body),
    );
    if (isSortable) makeSortable(region);
  }
  body.replaceChildren(...table.rows.map((row) => element("tr", {}, ...row.map(cellElement))));
  if (!isSortable) return;
  makeGrowing(region);
  sortRows(region);
  showRows(region);
}

function formulaElement(row) {
  const side = row.side ? [element("span", { className: "side", textContent: row.side }), " "] : [];
  return element("p", { className: "formula" }, ...side, element("code", {}, ...pieceElements(row.pieces, row.tag)));
}

function figureElement(chart, { svg, class: className }) {
  const figure = element("figure", { tabIndex: 0, className });
  // the module escapes every name in a chart
  figure.innerHTML = svg;
  const keys = chart.legend.map((entry) => {
    const key = element("span", { className: "key" });
    key.innerHTML = '<svg viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="5"/></svg>';
    key.querySelector("circle").setAttribute("class", entry.class);
    key.append(entry.text);
    return key;
  });
  if (keys.length > 0) figure.append(element("figcaption", {}, ...keys));
  return figure;
}

/** A table in its region, with what opens it; a region that was shown before keeps its headings and its order. */
function tableElements(table, before) {
  const region = before ?? element("div", { className: "table", tabIndex: 0, role: "region" });
  region.ariaLabel = table.name;
  region.dataset.summary = table.summary;
  showTable(region, table, true);
  const shown = [region];
  if (table.omitted) shown.push(element("p", { className: "note", textContent: table.omitted }));
  if (!table.summary) return shown;
  const details = before?.closest("details") ?? element("details");
  details.replaceChildren(element("summary", { textContent: table.summary }), ...shown);
  return [details];
}

function blockElements(block, before) {
  switch (block.kind) {
    case "note": return [element("p", { className: "note" }, ...pieceElements(block.pieces))];
    case "formulas": return block.rows.map(formulaElement);
    case "chart": return block.figures.map((figure) => figureElement(block, figure));
    case "table": return tableElements(block, before.find((region) => region.dataset.summary === block.summary));
    default: return [];
  }
}

function showSection(place, section) {
  const before = [...place.querySelectorAll(".table")];
  const isNew = place.childElementCount === 0;
  const heading = section.heading ? [element("h2", { textContent: section.heading })] : [];
  place.replaceChildren(...heading, ...section.blocks.flatMap((block) => blockElements(block, before)));
  if (isNew) openForCharts(place);
}

/** Shows sections below each other; one of the same heading keeps its table. */
function showSections(place, sections) {
  const before = new Map([...place.children].map((child) => [child.dataset.name, child]));
  const shown = sections.map((section) => {
    const name = section.heading.replace(/\d+/g, "#");
    const made = before.get(name) ?? element("section");
    made.dataset.name = name;
    made.id = section.id;
    showSection(made, section);
    return made;
  });
  place.replaceChildren(...shown);
  showLinks(sections.filter((section) => section.heading));
}

/** Links to the sections; those that are there stay, and with them the focus. */
function showLinks(sections) {
  const headings = sections.map((section) => section.heading);
  const nav = byId("links");
  if (nav.dataset.headings === JSON.stringify(headings)) return;
  nav.dataset.headings = JSON.stringify(headings);
  nav.replaceChildren(...sections.map(({ id, heading }) => element("a", { href: `#${id}`, textContent: heading })));
}

// The ranking

function showQueue(queue) {
  byId("queue-heading").textContent = queue.heading;
  showTable(byId("queue"), queue.blocks[0], false);
}

/** Shows a ranking. If there is none, or `qmgr` refuses the formula, the last good one stays, dimmed; returns why. */
function showRanking(update, isComplete) {
  const isGood = !("error" in update) && !update.is_refused;
  byId("results").classList.toggle("stale", !isGood);
  byId("last-good").hidden = isGood || lastGood === null;
  if (!isGood) {
    if (lastGood !== null) byId("last-good").replaceChildren("The last formula that worked: ", element("code", { textContent: lastGood }));
    return update.error ?? "qmgr refuses it";
  }
  lastGood = formulaField.value;
  byId("headline").replaceChildren(...pieceElements(update.headline));
  const facts = update.facts.map((fact) =>
    element("div", {}, element("dt", { textContent: fact.heading }),
      ...fact.lines.map((line) => element("dd", {}, ...pieceElements(line)))),
  );
  byId("facts").replaceChildren(...facts);
  byId("results").dataset.numbers = JSON.stringify(update.numbers);
  showQueue(update.queue);
  showSection(byId("formulas"), update.formulas);
  if (isComplete) showSections(byId("sections"), update.sections);
  byId("warnings").replaceChildren(
    ...[...settings.warnings, ...update.warnings].map((warning) => element("li", {}, ...withCode(warning))),
  );
  return "";
}

/** Ranks the queue by the formula, and shows what changes. */
function rank(isComplete) {
  const begin = performance.now();
  const update = call("rank", formulaField.value, Number(byId("count").value), isComplete && byId("search").value === "");
  const ranked = performance.now() - begin;
  let reason = showRanking(update, isComplete && byId("search").value === "");
  // what is searched for is searched for in the result that is shown
  if (update.is_refused && lastGood !== null) call("rank", lastGood, 0, false);
  const search = byId("search").value;
  if (reason === "" ? search !== "" : lastGood !== null) {
    const found = call("show", search, Number(byId("count").value), isComplete);
    if (reason === "") reason = showRanking(found, isComplete);
    else if (!("error" in found)) showQueue(found.queue);
  }
  const total = performance.now() - begin;
  if (isComplete) completeTime = total;
  const timing = byId("timing");
  timing.dataset.rank = ranked;
  timing.dataset.total = total;
  if (reason === "") {
    const jobs = engine.job_count().toLocaleString("en");
    timing.textContent = `${jobs} jobs evaluated in ${ranked < 10 ? ranked.toFixed(1) : ranked.toFixed(0)} ms`;
  }
  return reason;
}

/** Says in the headline why the result is not that of the formula. */
function showFailure(sentence, reason) {
  const why = sentence ? pieceElements(sentence) : withCode(`This formula cannot be ranked: ${reason}.`);
  const below = lastGood === null ? "" : " Below: the last formula that worked.";
  byId("headline").replaceChildren(...why, below);
}

function check(reason) {
  const checked = call("check", `${settings.object}\n${formulaField.value}`);
  if ("error" in checked) {
    byId("verdict").textContent = checked.error;
    if (reason !== "") showFailure(null, reason);
    return;
  }
  findings = checked.findings;
  if (reason !== "") showFailure(checked.sentence, reason);
  const isRanked = reason === "" || findings.some((found) => found.severity === "error");
  byId("verdict").textContent = isRanked ? checked.verdict : `${checked.verdict}\nnot ranked: ${reason}`;
  const command = byId("command");
  if (checked.command === null) command.replaceChildren(...withCode(checked.reason));
  else command.textContent = checked.command;
  command.classList.toggle("none", checked.command === null);
  byId("copy").disabled = checked.command === null;
  showFindings(checked.omitted);
  // the sliders stay while the formula is half typed
  if (checked.literals.length > 0 || reason === "") showLiterals(checked.literals);
  byId("weights-section").inert = checked.literals.length === 0 && reason !== "";
  showMarks();
}

/** Updates everything, the expensive parts as soon as nothing changes any more. */
function update() {
  isScheduled = false;
  const isFast = completeTime < FRAME;
  const reason = rank(isFast);
  const finish = () => {
    check(isFast || reason !== "" ? reason : rank(true));
    byId("results").ariaBusy = "false";
    byId("headline").ariaBusy = String(document.body.classList.contains("dragging"));
  };
  clearTimeout(idle);
  if (isFast) finish();
  else idle = setTimeout(finish, IDLE);
}

function schedule() {
  byId("results").ariaBusy = "true";
  byId("headline").ariaBusy = "true";
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(update);
}

// The formula

/** Makes the editor as high as the formula. */
function fitFormula() {
  if (document.body.classList.contains("dragging")) return;
  formulaField.style.height = "auto";
  formulaField.style.height = `${formulaField.scrollHeight}px`;
}

/** While a slider is dragged, what is above it and around it keeps its height, so that nothing moves under the pointer. */
function holdStill(isDragging) {
  document.body.classList.toggle("dragging", isDragging);
  for (const part of [byId("headline"), ...byId("controls").children, byId("results")]) {
    part.style.minHeight = isDragging ? `${part.getBoundingClientRect().height}px` : "";
  }
  for (const part of [byId("headline"), formulaField.parentElement]) {
    part.style.maxHeight = isDragging ? `${part.getBoundingClientRect().height}px` : "";
  }
  if (isDragging) return;
  fitFormula();
  schedule();
}

function edited() {
  fitFormula();
  findings = [];
  showMarks();
  schedule();
  settle();
  allowUndo();
}

function setFormula(text) {
  formulaField.value = text;
  edited();
}

/** Makes the formula a step of Undo as soon as it stays unchanged. */
function settle() {
  clearTimeout(settling);
  settling = setTimeout(remember, SETTLING);
}

function remember() {
  clearTimeout(settling);
  if (formulaField.value !== settled) earlierFormulas.push(settled);
  settled = formulaField.value;
  allowUndo();
}

/** Makes the formula a step of Undo before something else changes it. */
function changeBy(source) {
  if (source !== changing) remember();
  changing = source;
}

/** Undo can be pressed as long as it changes the formula. */
function allowUndo() {
  byId("undo").disabled = earlierFormulas.length === 0 && formulaField.value === settled;
}

function undo() {
  remember();
  if (earlierFormulas.length === 0) return;
  settled = earlierFormulas.pop();
  setFormula(settled);
}

/** Compares with another formula from now on. */
function compareWith(formula) {
  baseline = formula;
  call("compare_with", baseline);
  byId("hold").textContent = baseline === inForce ? "Use as the baseline" : "Compare with the formula in force again";
}

/** Underlines the findings in the formula, and marks the number whose slider has the focus. */
function showMarks() {
  const text = formulaField.value;
  const moving = literals.find((literal) => literal.element.contains(document.activeElement));
  const ranges = findings.map((found) => ({ start: found.start, end: Math.max(found.end, found.start + 1), name: found.severity }));
  if (moving) ranges.push({ start: moving.start, end: moving.end, name: "moving" });
  const borders = [...new Set([0, text.length, ...ranges.flatMap(({ start, end }) => [start, end])])];
  const cuts = borders.filter((at) => at <= text.length).sort((left, right) => left - right);
  const pieces = cuts.slice(1).map((end, index) => {
    const start = cuts[index];
    const names = ranges.filter((range) => range.start <= start && end <= range.end).map((range) => range.name);
    const piece = text.slice(start, end);
    return names.length > 0 ? element("span", { className: names.join(" "), textContent: piece }) : piece;
  });
  byId("marks").replaceChildren(...pieces, text.endsWith("\n") || text === "" ? " " : "");
}

/** The part of the formula around a finding, with carets under the finding. */
function excerpt({ start, end }) {
  const WIDTH = 42;
  const text = formulaField.value.replace(/\s/g, " ");
  const from = Math.max(0, Math.min(start - 8, text.length - WIDTH));
  const to = Math.min(text.length, from + WIDTH);
  const carets = Math.max(1, Math.min(end, to) - start);
  const before = from > 0 ? "…" : "";
  const line = before + text.slice(from, to) + (to < text.length ? "…" : "");
  return `${line}\n${" ".repeat(before.length + start - from)}${"^".repeat(carets)}`;
}

/** Lists the findings, those at the caret first. */
function showFindings(omitted) {
  const caret = formulaField.selectionStart;
  const isAtCaret = (found) => document.activeElement === formulaField && found.start <= caret && caret <= found.end;
  const ordered = [...findings.filter(isAtCaret), ...findings.filter((found) => !isAtCaret(found))];
  const items = ordered.map((found) => {
    const heading = element("p", {}, element("b", { textContent: `${found.severity} ${found.code}` }), " ", ...withCode(found.message));
    const item = element("li", { className: found.severity }, heading, element("pre", { textContent: excerpt(found) }));
    const rest = [found.label, found.help].filter((text) => text !== "").join("; ");
    if (rest !== "") item.append(element("p", { className: "help" }, ...withCode(rest)));
    item.dataset.code = found.code;
    if (isAtCaret(found)) item.setAttribute("aria-current", "true");
    if (found.fix) {
      const { start, end, replacement } = found.fix;
      const button = element("button", { type: "button", textContent: found.fix.is_safe ? "Fix" : "Fix (probably)" });
      button.addEventListener("click", () => {
        const text = formulaField.value;
        setFormula(text.slice(0, start) + replacement + text.slice(end));
        formulaField.focus();
      });
      item.append(button);
    }
    return item;
  });
  if (omitted > 0) items.push(element("li", { textContent: `${omitted} more findings` }));
  byId("findings").replaceChildren(...items);
}

document.addEventListener("selectionchange", () => {
  if (document.activeElement === formulaField && findings.length > 1) showFindings(0);
});

// The numbers

/** The number at a place of a slider, from -1 to 1: from a tenth of the number that was typed to ten times as much. */
function valueAt(literal, place) {
  const value = literal.base * 10 ** place;
  return Number(value.toPrecision(3));
}

/** A number as a literal of Python: a float keeps its point. */
function literalText(value, isInteger) {
  const text = String(value).replace("e+", "e");
  return isInteger || /[.e]/.test(text) ? text : `${text}.0`;
}

/** Replaces a number in the formula. */
function replaceLiteral(literal, text) {
  changeBy(literal);
  const formula = formulaField.value;
  const moved = text.length - (literal.end - literal.start);
  formulaField.value = formula.slice(0, literal.start) + text + formula.slice(literal.end);
  literal.text = text;
  literal.end += moved;
  for (const other of literals) {
    if (other.start > literal.start) {
      other.start += moved;
      other.end += moved;
    }
  }
  edited();
}

/** The field of a number, with a slider if it is a weight. */
function numberElement(literal, id) {
  const isSlidable = literal.role === "weight" || literal.role === "divisor";
  const name = literal.name.replaceAll("`", "");
  const box = element("input", { type: "number", min: 0, step: "any", value: literal.value });
  const label = element("label", { htmlFor: id }, ...withCode(literal.name));
  box.addEventListener("input", () => {
    const value = box.valueAsNumber;
    // a divisor of 0 fails for every job
    if (Number.isNaN(value) || value < 0 || (literal.role === "divisor" && value === 0)) return;
    if (value > 0) literal.base = value;
    if (isSlidable) showSlider(literal, 0);
    replaceLiteral(literal, literalText(value, literal.is_integer));
  });
  if (!isSlidable) {
    box.id = id;
    return element("div", { className: "number" }, label, box);
  }
  box.ariaLabel = `${name}, as a number`;
  literal.base = literal.value > 0 ? literal.value : 1;
  literal.slider = element("input", { type: "range", id, min: -1, max: 1, step: 0.01, value: 0 });
  literal.slider.ariaValueText = String(literal.value);
  literal.slider.addEventListener("pointerdown", () => holdStill(true));
  literal.slider.addEventListener("input", () => {
    const value = valueAt(literal, literal.slider.valueAsNumber);
    box.value = value;
    literal.slider.ariaValueText = String(value);
    replaceLiteral(literal, literalText(value, literal.is_integer));
  });
  return element("div", { className: "number" }, label, literal.slider, box);
}

/** Puts a slider where its number is. */
function showSlider(literal, place) {
  literal.slider.value = place;
  literal.slider.ariaValueText = String(valueAt(literal, place));
}

/** Shows the numbers of the formula, the weights with sliders; the sliders stay where only numbers have changed. */
function showLiterals(found) {
  const isSame = found.length === literals.length && found.every((one, index) => one.start === literals[index].start
    && one.text === literals[index].text && one.name === literals[index].name);
  if (isSame || document.body.classList.contains("dragging")) return;
  literals = found.map((literal, index) => {
    literal.element = numberElement(literal, `number-${index}`);
    literal.element.addEventListener("focusin", showMarks);
    literal.element.addEventListener("focusout", showMarks);
    return literal;
  });
  const weights = literals.filter((literal) => literal.slider);
  const constants = literals.filter((literal) => !literal.slider);
  byId("weights-section").hidden = literals.length === 0;
  byId("constants-section").hidden = constants.length === 0;
  byId("weights").replaceChildren(...weights.map((literal) => literal.element));
  byId("constants").replaceChildren(...constants.map((literal) => literal.element));
}

// The site

/** Splits a bundle into its files. */
function splitBundle(bytes) {
  const end = bytes.indexOf(10);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let start = end + 1;
  const contents = header.files.map((file) => bytes.subarray(start, (start += file.bytes)));
  return { header, contents };
}

function joinBundle({ header, contents }) {
  const head = new TextEncoder().encode(`${JSON.stringify(header)}\n`);
  const bytes = new Uint8Array(head.length + contents.reduce((sum, content) => sum + content.length, 0));
  bytes.set(head);
  let at = head.length;
  for (const content of contents) {
    bytes.set(content, at);
    at += content.length;
  }
  return bytes;
}

/** Opens a bundle in the module; the answer has `error` if that failed. */
function openSite(bundle) {
  const opened = call("open", joinBundle(bundle));
  if (!("error" in opened)) {
    settings.warnings = opened.warnings;
    const size = (bytes) => (bytes < 1e5 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`);
    const item = (file) => element("li", { textContent: `${file.name} (${file.role ?? "recognised by its content"}, ${size(file.bytes)})` });
    byId("contents").replaceChildren(...bundle.header.files.map(item));
  }
  return opened;
}

/** Opens files that were dropped or chosen: `[path, File]` each. */
async function openFiles(files, isWhole) {
  const status = byId("opened");
  if (files.length === 0) return;
  status.textContent = "The files are being read.";
  const contents = await Promise.all(files.map(async ([, file]) => new Uint8Array(await file.arrayBuffer())));
  const entries = files.map(([name], index) => ({ role: null, name, bytes: contents[index].length }));
  const base = isWhole || files.some(([name]) => /\.(tar|tgz|tar\.gz|tar\.zst)$/.test(name)) ? null : written;
  // a file takes the place of an earlier one of the same name
  const isKept = (file) => !entries.some((entry) => entry.name === file.name);
  const kept = (base?.header.files ?? []).map((file, index) => ({ file, content: base.contents[index] })).filter(({ file }) => isKept(file));
  const bundle = {
    header: { ...(base?.header ?? {}), files: [...kept.map(({ file }) => file), ...entries] },
    contents: [...kept.map(({ content }) => content), ...contents],
  };
  const opened = openSite(bundle);
  if ("error" in opened) {
    status.textContent = opened.error;
    openSite(written);
    call("compare_with", baseline);
    schedule();
    return;
  }
  written = bundle;
  const names = files.slice(0, 5).map(([name]) => name).join(", ");
  status.textContent = `Read ${names}${files.length > 5 ? ` and ${files.length - 5} more files` : ""}.`;
  const wasInForce = formulaField.value === inForce;
  if (opened.formula !== null && (base === null || settings.in_force === null)) {
    inForce = opened.formula;
    if (wasInForce) formulaField.value = inForce;
    baseline = inForce;
  }
  compareWith(baseline);
  completeTime = Infinity;
  edited();
}

/** The files below a dropped folder, with their paths. */
async function filesBelow(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [[entry.fullPath.replace(/^\//, ""), file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const child of some) found.push(...(await filesBelow(child)));
  }
}

function listen() {
  formulaField.addEventListener("beforeinput", () => changeBy(formulaField));
  formulaField.addEventListener("input", edited);
  addEventListener("resize", fitFormula);
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, () => {
      if (document.body.classList.contains("dragging")) holdStill(false);
    });
  }
  byId("search").addEventListener("input", schedule);
  byId("count").addEventListener("input", schedule);
  byId("reset").addEventListener("click", () => setFormula(inForce));
  byId("undo").addEventListener("click", undo);
  addEventListener("keydown", (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (!isUndo || event.target === byId("search")) return;
    event.preventDefault();
    undo();
  });
  byId("hold").addEventListener("click", () => {
    compareWith(baseline === inForce ? formulaField.value : inForce);
    schedule();
  });
  byId("copy").addEventListener("click", async () => {
    const text = byId("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(byId("command"));
      document.execCommand("copy");
    }
    byId("copied").textContent = "Copied.";
    setTimeout(() => (byId("copied").textContent = ""), 3000);
  });
  byId("files").addEventListener("change", (event) => openFiles([...event.target.files].map((file) => [file.name, file]), false));
  byId("folder").addEventListener("change", (event) =>
    openFiles([...event.target.files].map((file) => [file.webkitRelativePath, file]), true));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("dropping");
  });
  addEventListener("drop", async (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some((entry) => entry.isDirectory)) {
      // the entry of a file cannot be read by a page that was itself opened from a file
      openFiles([...event.dataTransfer.files].map((file) => [file.name, file]), false);
      return;
    }
    try {
      openFiles((await Promise.all(entries.map(filesBelow))).flat(), true);
    } catch {
      byId("opened").textContent = "This browser does not let the page read a dropped folder: use the button Folder.";
    }
  });
}

async function start() {
  const [module, bundle] = await Promise.all([unpacked("module"), unpacked("bundle")]);
  compiled = await WebAssembly.compile(module);
  restart();
  formulaField.value = settings.formula;
  // a field may not keep every character
  settled = formulaField.value;
  written = splitBundle(bundle);
  const opened = openSite(written);
  if ("error" in opened) {
    byId("headline").textContent = "The site cannot be read.";
    byId("opened").textContent = opened.error;
  }
  compareWith(inForce);
  listen();
  edited();
  document.body.dataset.ready = performance.now();
}

start().catch((error) => {
  byId("headline").textContent = "The page does not work in this browser.";
  byId("opened").textContent = String(error);
});
