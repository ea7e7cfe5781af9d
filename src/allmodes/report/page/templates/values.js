"use strict";
// What the plots share: the data, texts, colours, layouts.

const data = JSON.parse(document.getElementById("data").textContent);
const dimension = data.names.length;
const count = data.x.length;

// A palette that colour-blind readers can tell apart (Okabe and Ito).
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442"];
const [BLUE, ORANGE, GREEN] = COLOURS;
const GREY = "rgb(127,127,127)"; // readable on white and on black
const FADED = "rgba(127,127,127,0.5)";
const LONGEST = 22; // characters of a name in a plot
const MOST_TOLD = 14; // coordinates in a text that hovers
const PALE = 0.35; // opacity of modes beside the slice
const NEAR = 1e-3; // of the picture: how far beside it a mode may be to count as on it
const NUMBERED = 30; // modes that get their rank written on them, the best that do not hide others
const CLOSE = 0.045; // of the picture: a number closer than this to a better one would hide it
const MANY = 300; // modes from which on plots are made of fewer, larger parts: pages stay quick
const SYMBOLS = { boundary: "square", constrained: "pentagon", flat: "diamond", unverified: "triangle-up" };
const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
const TRAIL = isDark ? "rgba(255,255,255,0.45)" : "rgba(20,20,20,0.4)"; // of local searches, on colours
const WAY = isDark ? "#ffffff" : "#1b1f24"; // of ways between modes
const RING = isDark ? "#F0E442" : "#CC3377"; // around what is chosen

/** The user's text for plotly, which reads some tags and entities in labels. */
const safe = (text) =>
  String(text).replace(/\s+/g, " ").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** A name, cut where it is too long for a plot. */
const cut = (name, longest = LONGEST) => {
  const letters = [...name];
  return letters.length > longest ? letters.slice(0, longest - 1).join("") + "…" : name;
};
const brief = (name, longest) => safe(cut(name, longest));

const finite = (value) => (typeof value === "number" ? value : null);
const words = { nan: "unknown", inf: "∞", "-inf": "−∞" };
const told = (value) =>
  typeof value === "number" ? String(Number(value.toPrecision(6))).replace(/-/g, "−") : words[value] || safe(value);

/** A coordinate in words: the name of a choice, or the number. */
const level = (i, value) => {
  const named = data.choices[i];
  return named && named[value] !== undefined ? safe(named[value]) : told(value);
};

/** Named choices along an axis. */
const ticks = (i) => {
  const named = data.choices[i];
  return named ? { tickvals: [...named.keys()], ticktext: named.map((name) => brief(name)) } : {};
};

const order = [...Array(count).keys()];
const span = (i) => data.window[i][1] - data.window[i][0];
const column = (i) => data.x.map((point) => finite(point[i]));

/** What hovers over mode k; made when it is first needed. */
const texts = [];
const modeText = (k) => (texts[k] ??= textOf(k));

function textOf(k) {
  const shown = data.names.slice(0, MOST_TOLD).map((name, i) => `${brief(name)} = ${level(i, data.x[k][i])}`);
  const more = dimension > MOST_TOLD ? [`and ${dimension - MOST_TOLD} more`] : [];
  const error = typeof data.error[k] === "number" ? ` ± ${told(data.error[k])}` : "";
  const kind = safe(data.kind[k]) + (data.isGlobal[k] ? ", global" : "");
  return [`<b>mode ${k + 1}</b> (${kind})`, `value ${told(data.height[k])}${error}`, ...shown, ...more,
    `weight ${told(data.weight[k])}`].join("<br>");
}

const options = { // nothing is ever sent anywhere
  responsive: true, displaylogo: false, doubleClick: "reset", showSendToCloud: false, plotlyServerURL: "",
  modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "sendChartToCloud"],
};
const isTouched = window.matchMedia("(pointer: coarse)").matches; // dragging scrolls the page there

/** A layout with these axes and settings. */
function layout(settings) {
  return {
    margin: { l: 62, r: 14, t: 26, b: 46 }, showlegend: false, hovermode: "closest",
    dragmode: isTouched ? false : "zoom",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", autosize: true,
    font: { family: "system-ui, sans-serif", size: 12, color: GREY },
    hoverlabel: {
      bgcolor: "#1b1f24", bordercolor: "#1b1f24", align: "left",
      font: { color: "#ffffff", size: 12, family: "system-ui, sans-serif" },
    },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: "rgba(127,127,127,0.75)", activecolor: BLUE },
    ...settings,
  };
}

/** An axis with a title, which the user may have written. */
const axis = (title, settings = {}) => ({
  title: { text: title, standoff: 8 }, automargin: true, zeroline: false, linecolor: FADED, gridcolor: FADED,
  ticks: "outside", ticklen: 3, tickcolor: FADED, exponentformat: "e", ...settings,
});

/** From zero to the largest, with room for points on the edge: one cannot point at those. */
const fromZero = (largest) => [-0.03 * largest, 1.05 * largest];

/** Ticks at whole numbers. */
const whole = (largest) => (largest <= 10 ? { dtick: 1, tick0: 0 } : { tickformat: "d", nticks: 8 });

/** A closed curve around a mean: so many standard deviations of a covariance ((a, b), (b, c)). */
function ellipse(mean, a, b, c, deviations = 2, corners = 48) {
  const root = Math.sqrt(a);
  const rest = Math.sqrt(Math.max(c - (b * b) / a, 0));
  const x = [], y = [];
  for (let n = 0; n <= corners; n++) {
    const angle = (2 * Math.PI * n) / corners;
    x.push(mean[0] + deviations * root * Math.cos(angle));
    y.push(mean[1] + deviations * ((b / root) * Math.cos(angle) + rest * Math.sin(angle)));
  }
  return [x, y];
}

/** Ellipses of the chosen modes in a plane, as one line with gaps: two standard deviations to each side. */
function ellipses(chosen, i, j) {
  const x = [], y = [];
  for (const k of chosen) {
    const covariance = data.covariances[k];
    const entries = covariance && [covariance[i][i], covariance[i][j], covariance[j][j], data.x[k][i], data.x[k][j]];
    if (!entries || !entries.every(Number.isFinite) || entries[0] <= 0 || entries[2] <= 0) continue;
    const [a, b, c, ...mean] = entries;
    const isWider = ([variance, n]) => 4 * Math.sqrt(variance) > data.window[n][1] - data.window[n][0];
    if ([[a, i], [c, j]].some(isWider)) continue; // than the picture: says nothing
    const curve = ellipse(mean, a, b, c);
    x.push(...curve[0], null);
    y.push(...curve[1], null);
  }
  return { x, y };
}
