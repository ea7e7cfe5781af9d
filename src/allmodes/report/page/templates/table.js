// The table: sorting, filtering, rows that come as one scrolls, files to download.

const byId = (id) => document.getElementById(id);
const table = document.querySelector("table.modes");
const AT_ONCE = 200; // rows that are laid out; more come when one scrolls to their end
const OPERATORS = {
  "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
  "=": (a, b) => a === b, "!=": (a, b) => a !== b,
};

const headings = table ? [...table.tHead.rows[0].cells] : [];
const names = headings.map((heading) => heading.textContent.trim());
let rows = table ? [...table.tBodies[0].rows] : []; // in the order of the table
let passed = rows; // what the filter lets through
let shown = 0; // how many of them are laid out

const rankOf = (row) => Number(row.cells[0].dataset.key) - 1;
const number = (key) => ({ inf: Infinity, "-inf": -Infinity, "∞": Infinity, "−∞": -Infinity })[key] ?? Number(key);

/** By number if both are numbers, otherwise by their letters; what is not a number comes last either way. */
function compare(a, b, direction, isText) {
  if (isText) return direction * a.localeCompare(b);
  const [m, n] = [a, b].map(number);
  if (Number.isNaN(m) || Number.isNaN(n)) return Number.isNaN(m) - Number.isNaN(n);
  return m === n ? 0 : direction * (m < n ? -1 : 1);
}

/** Lay out so many of the rows that the filter lets through. */
function reveal(most) {
  passed.slice(shown, most).forEach((row) => row.classList.remove("later"));
  shown = Math.max(shown, Math.min(most, passed.length));
}

/** After another order or another filter: the first rows again. */
function restart() {
  rows.forEach((row) => row.classList.add("later"));
  table.parentElement.scrollTop = shown = 0;
  reveal(AT_ONCE);
}

function sortBy(heading) {
  const place = headings.indexOf(heading);
  const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const isText = heading.classList.contains("text"), keys = new Map(rows.map((row) => [row, row.cells[place].dataset.key]));
  rows.sort((a, b) => compare(keys.get(a), keys.get(b), direction, isText));
  table.tBodies[0].append(...rows);
  headings.forEach((other) => other.setAttribute("aria-sort", "none"));
  heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  const isPassed = new Set(passed);
  passed = rows.filter((row) => isPassed.has(row));
  restart();
  byId("sorted").textContent = `Sorted by ${heading.textContent.trim()}, ${heading.getAttribute("aria-sort")}.`;
}

// ---- the filter

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const known = [...names].filter(Boolean).sort((a, b) => b.length - a.length).map(escaped).join("|");
const condition = new RegExp(`(${known || "$^"})\\s*(<=|>=|!=|<|>|=)\\s*([^\\s,;]+)`, "giu");

/** A test of rows: conditions such as "value < 3", and words that must be in the row. */
function testOf(asked) {
  const tests = [];
  const rest = asked.replace(condition, (_, name, operator, wanted) => {
    const place = names.findIndex((each) => each.toLowerCase() === name.toLowerCase());
    const value = number(wanted.replace(/−/g, "-"));
    tests.push(Number.isNaN(value)
      ? (row) => row.cells[place].dataset.key.toLowerCase().includes(wanted.toLowerCase()) === (operator !== "!=")
      : (row) => OPERATORS[operator](number(row.cells[place].dataset.key), value));
    return " ";
  });
  for (const word of rest.toLowerCase().split(/[\s,;]+/).filter(Boolean)) {
    tests.push((row) => (row.words ??= row.textContent.toLowerCase()).includes(word));
  }
  return (row) => tests.every((test) => test(row));
}

function filter() {
  passed = rows.filter(testOf(byId("filter").value));
  restart();
  byId("counted").textContent = byId("filter").value.trim() ? `${passed.length} of ${rows.length}` : "";
}

// ---- files

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

/** All rows with all digits, as comma-separated values; every coordinate, shown or not. */
function asCsv() {
  const isCoordinate = headings.map((heading) => heading.classList.contains("coordinate"));
  const own = names.map((_, n) => n).filter((n) => !isCoordinate[n]);
  const lines = [...rows].sort((a, b) => rankOf(a) - rankOf(b)).map((row) =>
    [...own.map((n) => row.cells[n].dataset.key), ...data.x[rankOf(row)].map(String)]);
  return [[...own.map((n) => names[n]), ...data.names], ...lines]
    .map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function asJson() {
  const modes = data.x.map((x, k) => ({
    rank: k + 1, fun: data.value[k], kind: data.kind[k], is_global: data.isGlobal[k], weight: data.weight[k],
    flatness: data.flatness[k], x,
  }));
  const ways = data.tree && { barriers: data.tree.ways.map(({ modes: pair, value, isSaddle, x }) =>
    ({ ranks: pair, value, is_saddle: isSaddle, x })) };
  return JSON.stringify({ names: data.names, maximise: data.maximise, modes, ...ways }, null, 1);
}

function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

if (table) {
  byId("tools").hidden = false;
  headings.forEach((heading) => heading.querySelector("button").addEventListener("click", () => sortBy(heading)));
  byId("filter").addEventListener("input", filter);
  byId("csv").addEventListener("click", () => download("modes.csv", "text/csv", asCsv()));
  byId("json").addEventListener("click", () => download("modes.json", "application/json", asJson()));
  const scroller = table.parentElement;
  scroller.addEventListener("scroll", () => {
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (shown < passed.length && left < scroller.clientHeight) reveal(shown + AT_ONCE);
  }, { passive: true });
  restart();
}
