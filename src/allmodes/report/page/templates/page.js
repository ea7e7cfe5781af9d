// The table, the picks, the copying; unpacks plotly.js and draws.

const byId = (id) => document.getElementById(id);

// ---- the table

/** By number if both are numbers, otherwise by their letters; what is not a number comes last either way. */
function compare(a, b, direction, isText) {
  if (isText) return direction * a.localeCompare(b);
  const [m, n] = [a, b].map((key) => ({ inf: Infinity, "-inf": -Infinity })[key] ?? Number(key));
  if (Number.isNaN(m) || Number.isNaN(n)) return Number.isNaN(m) - Number.isNaN(n);
  return m === n ? 0 : direction * (m < n ? -1 : 1);
}

function sortBy(heading) {
  const table = heading.closest("table"), body = table.tBodies[0];
  const headings = [...heading.parentElement.children], place = headings.indexOf(heading);
  const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const rows = [...body.rows], isText = heading.classList.contains("text");
  rows.sort((a, b) => compare(a.cells[place].dataset.key, b.cells[place].dataset.key, direction, isText));
  body.append(...rows);
  headings.forEach((other) => other.setAttribute("aria-sort", "none"));
  heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  byId("sorted").textContent = `Sorted by ${heading.textContent.trim()}, ${heading.getAttribute("aria-sort")}.`;
}

document.querySelectorAll("table.modes thead button").forEach((button) =>
  button.addEventListener("click", () => sortBy(button.parentElement)));

// ---- copying

if (navigator.clipboard) {
  byId("copy").hidden = false;
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("snippet").textContent);
      byId("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(byId("snippet")); // to be copied by hand
      byId("copy").textContent = "Press Ctrl-C";
    }
  });
}

// ---- plots

/** plotly.js, out of its packed form. */
async function unpack() {
  const bytes = Uint8Array.from(atob(byId("plotly").textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

const places = [...document.querySelectorAll(".plot")];
const draw = (key, ...given) => Plotly.react(byId(`plot-${key}`), ...plots[key](...given), options);

function fill(select, chosen, names) {
  select.replaceChildren(...names.map(([value, name]) => new Option(name, value, false, value === chosen)));
}

/** Two lists of coordinates; one is never drawn against itself. */
function offer() {
  const [across, up] = [byId("across"), byId("up")];
  const names = data.names.map((name, i) => [i, cut(name, 40)]);
  fill(across, 0, names);
  fill(up, 1, [...names, [dimension, "value"]]);
  let [i, j] = [0, 1];
  const show = (next, other) => {
    if (next === other) [next, other] = [j, i]; // the other way round
    [i, j] = [next, other];
    across.value = i;
    up.value = j;
    draw("slice", i, j);
  };
  across.addEventListener("change", () => show(Number(across.value), j));
  up.addEventListener("change", () => show(i, Number(up.value)));
  return show;
}

async function drawAll() {
  byId("figures").hidden = byId("hint").hidden = false;
  const show = byId("across") ? offer() : null;
  for (const place of places) {
    const key = place.id.replace("plot-", "");
    await draw(key, ...(key === "slice" ? [0, 1] : []));
  }
  if (show && byId("plot-pairs")) {
    byId("plot-pairs").on("plotly_click", ({ points: [point] }) => {
      show(...point.data.meta.pair);
      byId("plot-slice").scrollIntoView({ block: "nearest" });
    });
  }
  document.documentElement.dataset.drawn = "true";
}

// ---- paper

/** Pictures are stretched to the page; details are opened, and closed again afterwards. */
window.addEventListener("beforeprint", () => {
  for (const place of places) {
    for (const svg of place.querySelectorAll(".main-svg")) {
      const [width, height] = ["width", "height"].map((side) => svg.getAttribute(side));
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      place.style.setProperty("--shape", width / height);
    }
  }
  document.querySelectorAll("details:not([open])").forEach((part) => { part.open = true; part.dataset.shut = "true"; });
});
window.addEventListener("afterprint", () => {
  document.querySelectorAll(".plot .main-svg").forEach((svg) => svg.removeAttribute("viewBox"));
  document.querySelectorAll("details[data-shut]").forEach((part) => { part.open = false; delete part.dataset.shut; });
});

unpack().then(drawAll).catch((error) => {
  byId("trouble").hidden = false;
  byId("trouble").textContent = `The plots could not be drawn (${error}). A browser from 2023 or later is needed.`;
});
