// Modes side by side: values, weights, flatness, and all coordinates.

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
  const ranks = order.map((k) => k + 1), isMany = count > MANY;
  const bars = (values, error) => {
    const y = values.map(finite);
    const color = order.map((k) => (data.isGlobal[k] ? BLUE : ORANGE));
    const told = { hovertext: order.map(modeText), hoverinfo: "text", customdata: order };
    const error_y = error && error.some((e) => finite(e) !== null)
      ? { type: "data", array: error.map((e) => finite(e) || 0), color: GREY, thickness: 1 } : {};
    const largest = Math.max(...y.map(Math.abs)); // bars too low to be seen get a dot
    const low = y.map((value) => (value !== null && Math.abs(value) <= 0.01 * largest ? value : null));
    const chosen = ring({ meta: { at: (k) => [k + 1, y[k] ?? 0] }, marker: {
      size: 13, symbol: "circle-open", color: RING, line: { width: 2.5, color: RING } } });
    if (isMany) { // an area with steps, in which single bars could not be told apart anyway, behind the global modes
      const best = globals.filter((k) => y[k] !== null), hovertext = best.map(modeText);
      return [chosen,
        { type: "scatter", mode: "lines", x: ranks, y: y.map((value, k) => (data.isGlobal[k] ? null : value)),
          fill: "tozeroy", fillcolor: "rgba(213,94,0,0.45)", line: { shape: "hvh", width: 1, color: ORANGE }, ...told },
        { type: "bar", x: best.map((k) => k + 1), y: best.map((k) => y[k]), width: 1, customdata: best, hovertext,
          hoverinfo: "text", marker: { color: BLUE, line: { width: 0 } } }];
    }
    return [
      chosen, { type: "bar", x: ranks, y, marker: { color }, error_y, ...told },
      { type: "scatter", mode: "markers", x: ranks, y: low, marker: { color, size: 4 }, ...told },
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
  const known = data.height.map(finite).filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)], best = data.maximise ? high : low;
  const shade = (k) => { // 0 for the global modes, the last for the worst one
    const share = data.isGlobal[k] ? 0 : Math.abs(data.height[k] - best) / (high - low);
    return Math.min(Math.floor(bins * (Number.isFinite(share) ? share : 1)), bins - 1);
  };
  const traces = [];
  for (let bin = bins - 1; bin >= 0; bin--) {
    const x = [], y = [], text = [], whose = [];
    for (const k of order.filter((k) => shade(k) === bin)) {
      const said = modeText(k);
      for (let i = 0; i < most; i++) { x.push(i); y.push(scaled(i, data.x[k][i])); text.push(said); whose.push(k); }
      x.push(null); y.push(null); text.push(""); whose.push(null);
    }
    const color = between(bin / (bins - 1));
    if (x.length) traces.push({
      type: "scatter", mode: count > NUMBERED ? "lines" : "lines+markers", x, y, marker: { size: 5, color },
      hovertext: text, hoverinfo: "text", customdata: whose,
      line: { width: count > NUMBERED ? (bin ? 0.8 : 1.4) : 1.6, color }, opacity: count > NUMBERED ? 0.6 : 0.9,
    });
  }
  const along = [...Array(most).keys()];
  traces.push(ring({ mode: "lines", line: { color: RING, width: 3.5 }, meta: {
    at: (k) => [along, along.map((i) => scaled(i, data.x[k][i]))] } }));
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
