// How the search went.

plots.convergence = () => {
  const { nfev, best, modes } = data.history;
  const steps = (values, colour, name) => ({
    ...line(nfev, values.map(finite), colour, 2), line: { color: colour, width: 2, shape: "hv" }, mode: "lines+markers",
    marker: { size: 4, color: colour }, hoverinfo: "text",
    hovertext: values.map((value, n) => `${name} ${told(value)}<br>after ${nfev[n]} ${data.unit}`),
  });
  const most = Math.max(...modes, 1);
  const known = (evaluations) => modes[nfev.findLastIndex((count) => count <= evaluations)] ?? 0;
  const found = ring({ meta: { at: (k) => [data.foundAt[k], known(data.foundAt[k])] }, marker: {
    size: 13, symbol: "circle-open", color: RING, line: { width: 2.5, color: RING } } });
  return stacked(axis(data.unit, { range: fromZero(Math.max(...nfev)), exponentformat: "none" }), [
    ["modes found", [found, steps(modes, BLUE, "modes")], { range: fromZero(most), ...whole(most) }],
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
