// Every plot is a function that gives traces and a layout.

const plots = {};

/** Modes as points: filled and numbered if global, hollow if not. */
function points(chosen, x, y, isGlobal, size, opacity = 1) {
  const isNumbered = count <= NUMBERED && size > 10;
  return {
    type: "scatter", mode: isNumbered ? "markers+text" : "markers", cliponaxis: false, opacity,
    x: chosen.map((k) => x[k]), y: chosen.map((k) => y[k]),
    marker: isGlobal
      ? { size, color: BLUE, line: { width: 1, color: "#ffffff" } }
      : { size, color: "#ffffff", line: { width: 1.6, color: ORANGE } },
    text: chosen.map((k) => String(k + 1)), textfont: { size: 9, color: isGlobal ? "#ffffff" : "#8f3f00" },
    hovertext: chosen.map((k) => modeText[k]), hoverinfo: "text", customdata: chosen,
  };
}

const locals = order.filter((k) => !data.isGlobal[k]).reverse();
const globals = order.filter((k) => data.isGlobal[k]).reverse(); // the best are drawn last, on top

const line = (x, y, colour, width, settings = {}) =>
  ({ type: "scatter", mode: "lines", x, y, line: { color: colour, width }, hoverinfo: "skip", ...settings });

/** The function on a plane, if it was computed, in shades. */
function shades(i, j) {
  const isTurned = i > j;
  const found = data.slices[isTurned ? `${j},${i}` : `${i},${j}`];
  if (!found) return [];
  const turned = (grid) => (isTurned ? grid[0].map((_, n) => grid.map((row) => row[n])) : grid);
  const [x, y] = isTurned ? [found.y, found.x] : [found.x, found.y];
  const [across, up] = [brief(data.names[i]), brief(data.names[j])];
  const text = turned(found.value).map((row, m) =>
    row.map((value, n) => `value ${told(value)}<br>${across} = ${level(i, x[n])}<br>${up} = ${level(j, y[m])}`));
  const shade = turned(found.shade).map((row) => row.map(finite));
  if (data.isLevels[i] || data.isLevels[j]) { // dots: there is nothing between
    return [{
      type: "scatter", mode: "markers", hoverinfo: "text", text: text.flat(),
      x: shade.flatMap(() => x), y: shade.flatMap((row, m) => row.map(() => y[m])),
      marker: {
        size: Math.max(4, Math.min(14, 300 / Math.max(x.length, y.length))), color: shade.flat(), cmin: 0, cmax: 1,
        colorscale: [[0, "rgba(127,127,127,0.05)"], [1, "rgba(127,127,127,0.75)"]],
        line: { width: 0.5, color: "rgba(127,127,127,0.6)" },
      },
    }];
  }
  return [{
    type: "contour", x, y, text, hoverinfo: "text", zmin: 0, zmax: 1, showscale: false,
    z: shade,
    line: { width: 0.6, color: "rgba(127,127,127,0.6)" },
    // Areas lie on each other, so that one faint grey gets denser from level to level, on white and on black.
    colorscale: [[0, "rgba(127,127,127,0.03)"], [1, "rgba(127,127,127,0.03)"]],
    contours: { coloring: "fill", start: 0.06, end: 0.96, size: 0.06 },
  }];
}

/** What constraints exclude from a plane, and equality constraints as lines. */
function region(i, j) {
  const isTurned = i > j;
  const found = data.regions[isTurned ? `${j},${i}` : `${i},${j}`];
  if (!found) return [];
  const turned = (grid) => (isTurned ? grid[0].map((_, n) => grid.map((row) => row[n])) : grid);
  const [x, y] = isTurned ? [found.y, found.x] : [found.x, found.y];
  const drawn = (grid, settings) => ({
    type: "contour", x, y, z: turned(grid), hoverinfo: "skip", showscale: false,
    line: { width: 1.2, color: ORANGE }, ...settings,
  });
  const excluded = found.margin && { // plotly fills what the operation excludes
    fillcolor: "rgba(213,94,0,0.18)", contours: { type: "constraint", operation: ">", value: 0 },
  };
  return [
    ...(excluded ? [drawn(found.margin, excluded)] : []),
    ...found.equal.map((grid) => drawn(grid, { contours: { coloring: "none", start: 0, end: 0, size: 1 } })),
  ];
}

/** Paths of local searches in a plane, as one line with gaps. */
function paths(i, j) {
  const x = [], y = [];
  for (const path of data.paths) {
    for (const point of path) { x.push(finite(point[i])); y.push(finite(point[j])); }
    x.push(null);
    y.push(null);
  }
  return x.length ? [line(x, y, FADED, 0.9)] : [];
}

/** Whether a mode is beside the plane through the best point that these two coordinates span. */
const isBeside = (k, i, j) => j < dimension && data.x[k].some((entry, n) =>
  n !== i && n !== j && Math.abs(entry - data.best[n]) > NEAR * (data.window[n][1] - data.window[n][0]));

/** The best point evaluated, where it is not a mode. */
function lone(i, j) {
  if (order.some((k) => data.x[k].every((entry, n) => entry === data.best[n]))) return [];
  const text = data.names.slice(0, MOST_TOLD).map((name, n) => `${brief(name)} = ${told(data.best[n])}`);
  return [{
    type: "scatter", mode: "markers", x: [finite(data.best[i])], y: [finite(data.best[j])],
    marker: { symbol: "x-thin-open", size: 12, color: GREEN, line: { width: 2.5, color: GREEN } }, hoverinfo: "text",
    hovertext: ["<b>best point evaluated</b>", `value ${told(data.best[dimension])}`, ...text].join("<br>"),
  }];
}

/** Modes in the plane of two coordinates; "value" goes up if j is the dimension. */
plots.slice = (i, j) => {
  const isValue = j === dimension;
  const x = column(i), y = isValue ? data.value.map(finite) : column(j);
  const size = count <= NUMBERED ? 17 : count <= 150 ? 8 : 5;
  const curve = dimension === 1 && data.slices["0"];
  const below = isValue
    ? curve ? [line(curve.x, curve.value.map(finite), GREY, 1.4)] : []
    : [...shades(i, j), ...region(i, j), ...paths(i, j),
      ...[[locals, ORANGE], [globals, BLUE]].map(([chosen, colour]) => {
        const { x: ex, y: ey } = ellipses(chosen, i, j);
        return line(ex, ey, colour, 1.2);
      })];
  return [
    [...below, ...lone(i, j), ...[[locals, false], [globals, true]].flatMap(([some, isGlobal]) =>
      [true, false].map((isPale) => // those beside the plane below the others
        points(some.filter((k) => isBeside(k, i, j) === isPale), x, y, isGlobal, size, isPale ? PALE : 1)))],
    layout({
      xaxis: axis(brief(data.names[i], 40), { range: data.window[i], showgrid: false, ...ticks(i) }),
      yaxis: axis(isValue ? "value" : brief(data.names[j], 40),
        isValue ? {} : { range: data.window[j], showgrid: false, ...ticks(j) }),
    }),
  ];
};

/** Coordinates in which the modes differ most, against each other. */
plots.pairs = () => {
  const spread = (i) => {
    const [low, high] = data.window[i];
    const values = column(i).filter((value) => value !== null);
    return (Math.max(...values) - Math.min(...values)) / (high - low) || 0;
  };
  const chosen = [...Array(dimension).keys()].sort((a, b) => spread(b) - spread(a)).slice(0, 4).sort((a, b) => a - b);
  const traces = [], axes = {}, cells = chosen.length - 1;
  let number = 0;
  for (let row = 1; row <= cells; row++) {
    for (let across = 0; across < row; across++) {
      number += 1;
      const [i, j] = [chosen[across], chosen[row]], name = number === 1 ? "" : String(number);
      const gap = 0.07, width = (1 - gap * (cells - 1)) / cells;
      const left = across * (width + gap), top = 1 - (row - 1) * (width + gap);
      const small = { showgrid: true, nticks: 4, automargin: false };
      axes[`xaxis${name}`] = axis(row === cells ? brief(data.names[i], 14) : "", {
        ...small, domain: [left, left + width], anchor: `y${name}`, range: data.window[i], showticklabels: row === cells,
      });
      axes[`yaxis${name}`] = axis(across === 0 ? brief(data.names[j], 14) : "", {
        ...small, domain: [Math.max(top - width, 0), top], anchor: `x${name}`, range: data.window[j],
        showticklabels: across === 0,
      });
      const place = { xaxis: `x${name}`, yaxis: `y${name}`, meta: { pair: [i, j] } };
      for (const [some, colour, isGlobal] of [[locals, ORANGE, false], [globals, BLUE, true]]) {
        traces.push({ ...line(...Object.values(ellipses(some, i, j)), colour, 0.7), ...place });
        traces.push({ ...points(some, column(i), column(j), isGlobal, count <= NUMBERED ? 9 : 5), ...place });
      }
    }
  }
  return [traces, layout({ ...axes, margin: { l: 66, r: 12, t: 26, b: 50 } })];
};

/** Stacked panels that share the horizontal axis: each (title, traces, settings of its axis). */
function stacked(across, panels) {
  const traces = [], axes = {}, gap = 0.07, height = (1 - gap * (panels.length - 1)) / panels.length;
  panels.forEach(([title, some, settings], n) => {
    const name = n === 0 ? "y" : `y${n + 1}`;
    const top = 1 - n * (height + gap);
    const domain = [Math.max(top - height, 0), top];
    axes[n === 0 ? "yaxis" : `yaxis${n + 1}`] = axis(title, { domain, nticks: 5, ...settings });
    traces.push(...some.map((trace) => ({ ...trace, yaxis: name })));
  });
  const last = panels.length === 1 ? "y" : `y${panels.length}`;
  return [traces, layout({ ...axes, xaxis: { ...across, anchor: last } })];
}

plots.modes = () => {
  const ranks = order.map((k) => k + 1);
  const bars = (values, error) => {
    const y = values.map(finite);
    const marker = { color: order.map((k) => (data.isGlobal[k] ? BLUE : ORANGE)) };
    const told = { hovertext: modeText, hoverinfo: "text" };
    const error_y = error && error.some((e) => finite(e) !== null)
      ? { type: "data", array: error.map((e) => finite(e) || 0), color: GREY, thickness: 1 } : {};
    const largest = Math.max(...y.map(Math.abs)); // bars too low to be seen get a dot
    const low = y.map((value) => (value !== null && Math.abs(value) <= 0.01 * largest ? value : null));
    return [
      { type: "bar", x: ranks, y, marker, error_y, ...told },
      { type: "scatter", mode: "markers", x: ranks, y: low, marker: { ...marker, size: 4 }, ...told },
    ];
  };
  const top = data.weight.map(finite).filter((w) => w !== null);
  const across = axis("rank", { range: [0.4, Math.max(count, 2) + 0.6], ...whole(count) });
  return stacked(across, [
    ["value", bars(data.height, data.error), {}],
    ...(top.length ? [["weight", bars(data.weight), { range: [0, 1.08 * Math.max(...top, 1e-9)] }]] : []),
    ...(data.flatness.some((value) => finite(value) !== null)
      ? [["flatness", bars(data.flatness), { rangemode: "tozero" }]] : []),
  ]);
};

plots.parallel = () => {
  const most = Math.min(dimension, 40), bins = 8; // lines are drawn in so many shades, one trace each
  const scaled = (i, value) => {
    const [low, high] = data.window[i];
    return typeof value === "number" ? (high > low ? (value - low) / (high - low) : 0.5) : null;
  };
  const known = data.value.map(finite).filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)], best = data.maximise ? high : low;
  const shade = (k) => { // 0 for the global modes, the last for the worst one
    const share = data.isGlobal[k] ? 0 : Math.abs(data.value[k] - best) / (high - low);
    return Math.min(Math.floor(bins * (Number.isFinite(share) ? share : 1)), bins - 1);
  };
  const traces = [];
  for (let bin = bins - 1; bin >= 0; bin--) {
    const x = [], y = [], text = [];
    for (const k of order.filter((k) => shade(k) === bin)) {
      for (let i = 0; i < most; i++) { x.push(i); y.push(scaled(i, data.x[k][i])); text.push(modeText[k]); }
      x.push(null); y.push(null); text.push("");
    }
    const color = between(bin / (bins - 1));
    if (x.length) traces.push({
      type: "scatter", mode: count > NUMBERED ? "lines" : "lines+markers", x, y, marker: { size: 5, color },
      hovertext: text, hoverinfo: "text",
      line: { width: count > NUMBERED ? 0.8 : 1.6, color }, opacity: count > NUMBERED ? 0.6 : 0.9,
    });
  }
  const names = data.names.slice(0, most), isCrowded = most > 5 || (most > 2 && window.innerWidth < 600);
  const label = (name, i) =>
    isCrowded ? brief(name, 15) : `${brief(name, 14)}<br>${data.limits[i].map((end) => level(i, end)).join(" … ")}`;
  return [traces, layout({
    xaxis: axis("", { tickvals: names.map((_, i) => i), ticktext: names.map(label), tickangle: isCrowded ? -40 : 0,
      range: [-0.25, most - 0.75], ticklabeloverflow: "allow" }),
    yaxis: axis("share of the range", { range: [-0.03, 1.03] }),
  })];
};

/** A colour between blue (0) and yellow (1), which all eyes tell apart, on white and on black. */
function between(share) {
  const stops = [[0, 114, 178], [127, 127, 127], [230, 159, 0]];
  const place = share * (stops.length - 1), n = Math.min(Math.floor(place), stops.length - 2);
  const mixed = stops[n].map((from, c) => Math.round(from + (place - n) * (stops[n + 1][c] - from)));
  return `rgb(${mixed.join(",")})`;
}

plots.convergence = () => {
  const { nfev, best, modes } = data.history;
  const steps = (values, colour, name) => ({
    ...line(nfev, values.map(finite), colour, 2), line: { color: colour, width: 2, shape: "hv" }, mode: "lines+markers",
    marker: { size: 4, color: colour }, hoverinfo: "text",
    hovertext: values.map((value, n) => `${name} ${told(value)}<br>after ${nfev[n]} ${data.unit}`),
  });
  const most = Math.max(...modes, 1);
  return stacked(axis(data.unit, { range: fromZero(Math.max(...nfev)), exponentformat: "none" }), [
    ["modes found", [steps(modes, BLUE, "modes")], { range: fromZero(most), ...whole(most) }],
    ...(best.some((value) => finite(value) !== null) ? [["best value", [steps(best, GREEN, "best value")], {}]] : []),
  ]);
};

plots.weights = () => {
  const { run, nfev, temperature, weights } = data.trace;
  const most = Math.max(...weights.map((some) => some.length));
  const parted = (values) => { // a gap between runs
    const x = [], y = [], text = [];
    values.forEach((value, n) => {
      if (n && run[n] !== run[n - 1]) { x.push(nfev[n]); y.push(null); text.push(""); }
      x.push(nfev[n]);
      y.push(finite(value));
      text.push(`run ${run[n] + 1}, ${nfev[n]} evaluations<br>temperature ${told(temperature[n])}`);
    });
    return { x, y, text };
  };
  const lines = [...Array(most).keys()].map((c) => {
    const { x, y, text } = parted(weights.map((some) => (c < some.length ? some[c] : null)));
    return line(x, y, COLOURS[c % 6], 1.3, {
      hoverinfo: "text", hovertext: text.map((said, n) => `component ${c + 1}: weight ${told(y[n])}<br>${said}`),
    });
  });
  const { x, y, text } = parted(temperature);
  const known = temperature.filter((value) => value > 0);
  const decades = Math.log10(Math.max(...known) / Math.min(...known));
  return stacked(axis("evaluations", { range: fromZero(Math.max(...nfev)), exponentformat: "none" }), [
    ["weight", lines, { range: fromZero(1) }],
    ["temperature", [line(x, y, GREY, 1.6, { hoverinfo: "text", hovertext: text })],
      { type: "log", dtick: decades > 1.5 ? Math.ceil(decades / 5) : "D2" }],
  ]);
};
