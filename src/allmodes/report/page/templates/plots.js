// Every plot is a function that gives traces and a layout.

const plots = {};

/** Modes as points: filled if global, hollow if not, shaped by what they are, with their rank if there is room. */
function points(chosen, x, y, isGlobal, size, opacity = 1, isNumbered = false) {
  return {
    type: "scatter", mode: isNumbered ? "markers+text" : "markers", cliponaxis: false, opacity,
    x: chosen.map((k) => x[k]), y: chosen.map((k) => y[k]),
    marker: {
      size, symbol: chosen.map((k) => SYMBOLS[data.kind[k]] || "circle"),
      ...(isGlobal
        ? { color: BLUE, line: { width: 1, color: "#ffffff" } }
        : { color: "#ffffff", line: { width: size > 6 ? 1.6 : 1.1, color: ORANGE } }),
    },
    text: chosen.map((k) => String(k + 1)), textfont: { size: 9, color: isGlobal ? "#ffffff" : "#8f3f00" },
    hovertext: chosen.map(modeText), hoverinfo: "text", customdata: chosen,
  };
}

const locals = order.filter((k) => !data.isGlobal[k]).reverse();
const globals = order.filter((k) => data.isGlobal[k]).reverse(); // the best are drawn last, on top

/** A ring around the chosen mode; it is empty until one is, and lies below the modes. */
const ring = (settings = {}) => ({
  type: "scatter", mode: "markers", x: [], y: [], hoverinfo: "skip", cliponaxis: false,
  marker: { size: 25, symbol: "circle-open", color: RING, line: { width: 3, color: RING } },
  ...settings, meta: { ...settings.meta, isRing: true },
});

/** Which modes bear their rank: the best, as long as they do not hide each other in a picture of these ranges. */
function numbered(x, y, across, up, isPale = () => false) {
  const found = [];
  for (const k of [...order].sort((k, l) => isPale(k) - isPale(l) || k - l)) {
    if (found.length === NUMBERED) break;
    const isFree = found.every((l) => Math.hypot((x[k] - x[l]) / across, (y[k] - y[l]) / up) > CLOSE);
    if (isFree && x[k] !== null && y[k] !== null) found.push(k);
  }
  return new Set(found);
}

const extent = (values) => {
  const known = values.filter((value) => value !== null);
  return Math.max(...known) - Math.min(...known) || 1;
};

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
  const seen = { x, y, z: shade, text, hoverinfo: "text", zmin: 0, zmax: 1, showscale: false };
  if (count > MANY) { // contours around so many modes are megabytes of curves; an image is drawn at once
    return [{
      type: "heatmap", zsmooth: "best", ...seen,
      ...(isGrey() ? { colorscale: [[0, "rgba(127,127,127,0.03)"], [1, "rgba(127,127,127,0.5)"]] }
        : { colorscale: "Viridis", reversescale: true, opacity: isDark ? 0.75 : 0.6 }),
    }];
  }
  return [{
    type: "contour", ...seen,
    line: { width: 0.6, color: "rgba(127,127,127,0.6)" },
    ...(isGrey()
      // Areas lie on each other, so that one faint grey gets denser from level to level, on white and on black.
      ? { colorscale: [[0, "rgba(127,127,127,0.03)"], [1, "rgba(127,127,127,0.03)"]],
        contours: { coloring: "fill", start: 0.06, end: 0.96, size: 0.06 } }
      : { colorscale: "Viridis", reversescale: true, opacity: isDark ? 0.75 : 0.6,
        contours: { coloring: "fill", start: 0, end: 1, size: 0.06 } }),
  }];
}

/** Whether the function is drawn in greys rather than in colours. */
const isGrey = () => document.getElementById("colours")?.value === "grey";

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
  return x.length ? [line(x, y, TRAIL, 0.9)] : [];
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
  const x = column(i), y = isValue ? data.height.map(finite) : column(j);
  const curve = dimension === 1 && data.slices["0"];
  const below = isValue
    ? curve ? [line(curve.x, curve.value.map(finite), GREY, 1.4)] : []
    : [...shades(i, j), ...region(i, j), ...paths(i, j), ...(dimension === 2 ? ways(i, j) : []),
      ...[[locals, ORANGE], [globals, BLUE]].map(([chosen, colour]) => {
        const { x: ex, y: ey } = ellipses(chosen, i, j);
        return line(ex, ey, colour, 1.2);
      })];
  const beside = order.map((k) => isBeside(k, i, j));
  const ranked = numbered(x, y, span(i), isValue ? extent(y) : span(j), (k) => beside[k]);
  const small = count <= 150 ? 8 : 5;
  const drawn = [[locals, false], [globals, true]].flatMap(([some, isGlobal]) => [true, false].flatMap((isPale) =>
    [false, true].map((isNumbered) => // those beside the plane below the others, and dots below numbers
      points(some.filter((k) => beside[k] === isPale && ranked.has(k) === isNumbered), x, y, isGlobal,
        isNumbered ? 17 : small, isPale ? PALE : 1, isNumbered))));
  return [
    [...below, ...lone(i, j), ring({ meta: { at: (k) => [x[k], y[k]] } }), ...drawn],
    layout({
      xaxis: axis(brief(data.names[i], 40), { range: data.window[i], showgrid: false, ...ticks(i) }),
      yaxis: axis(isValue ? "value" : brief(data.names[j], 40),
        isValue ? {} : { range: data.window[j], showgrid: false, ...ticks(j) }),
    }),
  ];
};

/** Modes as points or, if they are many, as one shape made of small diamonds, which a browser draws at once. */
function crowd(chosen, x, y, isGlobal, size, across, up) {
  if (count <= MANY || isGlobal) return points(chosen, x, y, isGlobal, size);
  const known = chosen.filter((k) => x[k] !== null && y[k] !== null);
  const around = (values, half, corners) =>
    known.flatMap((k) => [...corners.map((corner) => values[k] + corner * half), null]);
  const each = (told) => known.flatMap((k) => [...Array(4).fill(told(k)), null]);
  return {
    type: "scatter", mode: "none", fill: "toself", fillcolor: ORANGE, hoveron: "points", hoverinfo: "text",
    x: around(x, 0.006 * across, [1, 0, -1, 0]), y: around(y, 0.006 * up, [0, 1, 0, -1]),
    hovertext: each(modeText), customdata: each((k) => k),
  };
}

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
      const [x, y] = [column(i), column(j)];
      traces.push(ring({ ...place, meta: { pair: [i, j], at: (k) => [x[k], y[k]] }, marker: {
        size: 15, symbol: "circle-open", color: RING, line: { width: 2.5, color: RING } } }));
      for (const [some, colour, isGlobal] of [[locals, ORANGE, false], [globals, BLUE, true]]) {
        if (count <= MANY) traces.push({ ...line(...Object.values(ellipses(some, i, j)), colour, 0.7), ...place });
        traces.push({ ...crowd(some, x, y, isGlobal, count <= NUMBERED ? 9 : 5, span(i), span(j)), ...place });
      }
    }
  }
  return [traces, layout({ ...axes, margin: { l: 66, r: 12, t: 26, b: 50 } })];
};
