// A mode that is chosen in the table or in a plot is shown in all of them.

let chosen = null; // the number of a mode, from 0

/** Show this mode everywhere; the chosen one again, or null, chooses none. */
function choose(k) {
  chosen = k === chosen ? null : k;
  table?.querySelectorAll("tr[aria-current]").forEach((row) => row.removeAttribute("aria-current"));
  const row = chosen === null ? null : rows.find((each) => rankOf(each) === chosen);
  if (row) {
    row.setAttribute("aria-current", "true");
    if (!passed.includes(row)) { // a filter hides it
      byId("filter").value = "";
      filter();
    }
    reveal(passed.indexOf(row) + 1);
    const scroller = table.parentElement, head = table.tHead.offsetHeight;
    const [top, bottom] = [row.offsetTop - head, row.offsetTop + row.offsetHeight - scroller.clientHeight];
    if (scroller.scrollTop > top) scroller.scrollTop = top;
    if (scroller.scrollTop < bottom) scroller.scrollTop = bottom;
    rows.forEach((each) => { each.tabIndex = each === row ? 0 : -1; });
    byId("sorted").textContent = `Mode ${chosen + 1} is chosen.`;
  }
  const [first, ...others] = [...places].sort((a, b) => isSeen(b) - isSeen(a)); // at once where one looks
  if (first) encircle(first);
  others.forEach((place) => setTimeout(encircle, 0, place));
}

/** Draw the rings of a plot. */
function encircle(place) {
  if (!place.data) return; // not drawn yet
  const rings = place.data.map((trace, n) => [trace.meta, n]).filter(([meta]) => meta?.isRing);
  if (!rings.length || (chosen === null && rings.every(([, n]) => !place.data[n].x.length))) return;
  const at = rings.map(([meta]) => (chosen === null ? [[], []] : meta.at(chosen).map((side) => [].concat(side))));
  Plotly.restyle(place, { x: at.map(([x]) => x), y: at.map(([, y]) => y) }, rings.map(([, n]) => n));
}

/** Which mode a click in a plot is on, if it is on one. */
const clicked = ({ points: [point] }) => {
  const k = point?.customdata;
  return Number.isInteger(k) ? k : null;
};

if (table) {
  if (rows.length) rows[0].tabIndex = 0;
  table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && getSelection().isCollapsed) choose(rankOf(row)); // marking text is no choice
  });
  table.tBodies[0].addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(rankOf(row));
    else if (step) {
      const next = passed[passed.indexOf(row) + step];
      if (!next) return;
      reveal(passed.indexOf(next) + 1);
      rows.forEach((each) => { each.tabIndex = each === next ? 0 : -1; });
      next.focus();
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && chosen !== null) choose(null); });
}
