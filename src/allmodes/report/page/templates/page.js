// The picks, the copying, the printing; unpacks plotly.js and draws.

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
const isSeen = (place) => {
  const { top, bottom } = place.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
};
const given = { slice: [0, 1] }; // arguments of plots that have some

/** Draw a plot, or draw it anew. */
async function draw(place) {
  const key = place.id.replace("plot-", "");
  const isFirst = !place.data;
  await Plotly.react(place, ...plots[key](...(given[key] ?? [])), options);
  if (chosen !== null) encircle(place);
  if (isFirst) place.on("plotly_click", (event) => {
    const { pair } = event.points[0].data.meta ?? {};
    if (pair && byId("across")) show(...pair);
    const k = clicked(event);
    if (k !== null) choose(k);
  });
}

function fill(select, one, names) {
  select.replaceChildren(...names.map(([value, name]) => new Option(name, value, false, value === one)));
}

/** Another pair of coordinates in the slice; one is never drawn against itself. */
function show(next, other) {
  const [i, j] = given.slice;
  given.slice = next === other ? [j, i] : [next, other]; // the other way round
  [byId("across").value, byId("up").value] = given.slice;
  draw(byId("plot-slice"));
}

/** Lists of the coordinates across and up, and of the colours. */
function offer() {
  const [across, up] = [byId("across"), byId("up")];
  const names = data.names.map((name, i) => [i, cut(name, 40)]);
  fill(across, 0, names);
  fill(up, 1, [...names, [dimension, "value"]]);
  across.addEventListener("change", () => show(Number(across.value), given.slice[1]));
  up.addEventListener("change", () => show(given.slice[0], Number(up.value)));
}

/** What is seen first is drawn first; the rest follows while nothing else is to be done. */
async function drawAll() {
  byId("figures").hidden = byId("hint").hidden = false;
  if (byId("across")) offer();
  byId("colours")?.addEventListener("change", () => draw(byId("plot-slice")));
  const waiting = [...places];
  while (waiting.length) {
    const n = Math.max(waiting.findIndex(isSeen), 0);
    await draw(waiting.splice(n, 1)[0]);
    await new Promise((resume) => { setTimeout(resume, 0); }); // clicks and keys come first
  }
  document.documentElement.dataset.drawn = "true";
}

// ---- paper

/** Pictures are stretched to the page; details are opened, and closed again afterwards. */
window.addEventListener("beforeprint", () => {
  if (table) reveal(passed.length);
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
