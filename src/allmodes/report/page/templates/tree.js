// Ways between modes, and the tree that they make.

/** The lowest ways in a plane, with crosses at their passes. */
function ways(i, j) {
  if (!data.tree) return [];
  const x = [], y = [], size = data.tree.ways.length > 60 ? 4 : 8;
  for (const way of data.tree.ways) {
    for (const point of way.points) { x.push(finite(point[i])); y.push(finite(point[j])); }
    x.push(null);
    y.push(null);
  }
  return [
    line(x, y, WAY, 1.3),
    {
      type: "scatter", mode: "markers", x: data.tree.ways.map((way) => finite(way.x[i])),
      y: data.tree.ways.map((way) => finite(way.x[j])), hoverinfo: "text", cliponaxis: false,
      hovertext: data.tree.ways.map(passText),
      marker: { symbol: "x-thin-open", size, color: WAY, line: { width: 0.27 * size, color: WAY } },
    },
  ];
}

const passText = (way) => [`<b>pass</b> between modes ${way.modes.join(" and ")}`, `value ${told(way.value)}`,
  way.isSaddle ? "a saddle" : "the worst point seen, no saddle"].join("<br>");

/** Modes on the plane in which they differ most. */
plots.map = () => {
  const { x, y, names: [across, up], paths: trails, ways: known } = data.map;
  const joined = (lines, n) => lines.flatMap((points) => [...points.map((point) => finite(point[n])), null]);
  const ends = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)], room = 0.08 * (high - low || 1);
    return [low - room, high + room];
  };
  const ranked = numbered(x, y, extent(x), extent(y)), small = count <= 150 ? 8 : 5;
  return [
    [
      line(joined(trails, 0), joined(trails, 1), FADED, 0.9), line(joined(known, 0), joined(known, 1), WAY, 1.3),
      ring({ meta: { at: (k) => [x[k], y[k]] } }),
      ...[[locals, false], [globals, true]].flatMap(([some, isGlobal]) => [false, true].map((isNumbered) => {
        const own = some.filter((k) => ranked.has(k) === isNumbered);
        return isNumbered ? points(own, x, y, isGlobal, 17, 1, true) : crowd(own, x, y, isGlobal, small, extent(x), extent(y));
      })),
    ],
    layout({
      xaxis: axis(brief(across, 60), { range: ends(x), showgrid: false }),
      yaxis: axis(brief(up, 60), { range: ends(y), showgrid: false }),
    }),
  ];
};

/** Lines end at the values of modes and join at barriers. */
plots.tree = () => {
  const { x, forks, tops, limits, ways: known } = data.tree, y = data.height.map(finite);
  const gapped = (pairs) => pairs.flatMap((pair) => [...pair, null]);
  const drawn = (pairs, settings) => line(gapped(pairs.map(([a, b]) => [a[0], b[0]])),
    gapped(pairs.map(([a, b]) => [a[1], b[1]])), GREY, 1.4, settings);
  const up = forks.flatMap((fork) => [0, 1].map((side) =>
    [[fork.x[side], fork.feet[side]], [fork.x[side], fork.level]]));
  const across = (isSaddle) => forks.filter((fork) => fork.isSaddle === isSaddle)
    .map((fork) => [[fork.x[0], fork.level], [fork.x[1], fork.level]]);
  const dash = (style) => ({ line: { color: GREY, width: 1.4, dash: style } });
  const end = data.maximise ? limits[0] : limits[1];
  const ranked = numbered(x, x.map(() => 0), count, 1);
  const size = count <= 60 ? 15 : 5;
  return [
    [
      drawn([...up, ...across(true)]), drawn(across(false), dash("dot")),
      ...(tops.length > 1 ? [drawn(tops.map(([place, foot]) => [[place, foot], [place, end]]), dash("dash"))] : []),
      {
        type: "scatter", mode: "markers", x: forks.map((fork) => fork.x[1]), y: forks.map((fork) => fork.level),
        hoverinfo: "text", hovertext: known.map(passText), marker: { size: count <= 60 ? 5 : 2, color: GREY },
      },
      ring({ meta: { at: (k) => [x[k], y[k]] } }),
      ...[[locals, false], [globals, true]].flatMap(([some, isGlobal]) => [false, true].map((isNumbered) =>
        points(some.filter((k) => (ranked.has(k) && count <= 60) === isNumbered), x, y, isGlobal,
          isNumbered ? size : Math.min(size, 6), 1, isNumbered))),
    ],
    layout({
      xaxis: axis("", { range: [-0.8, count - 0.2], showticklabels: false, ticks: "", showgrid: false }),
      yaxis: axis("value", { range: limits }),
    }),
  ];
};
