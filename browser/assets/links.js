/* What is near a filter in a drawing, whether its edges are elements or lines on a canvas. */
(function () {
  "use strict";

  const known = new WeakMap();

  /* The parents and children of each filter of a drawing, by id; made once. */
  function linksOf(drawing) {
    if (known.has(drawing)) return known.get(drawing);
    const links = { parents: new Map(), children: new Map() };
    const put = (map, from, to) => { if (map.has(from)) map.get(from).push(to); else map.set(from, [to]); };
    const link = (parent, child) => { put(links.children, parent, child); put(links.parents, child, parent); };
    drawing.elements.forEach((each) => { if (!each.position) link(each.data.source, each.data.target); });
    Object.values(drawing.lines || {}).forEach((ends) => {
      for (let i = 0; i < ends.length; i += 2) link(drawing.elements[ends[i]].data.id, drawing.elements[ends[i + 1]].data.id);
    });
    known.set(drawing, links);
    return links;
  }

  /* In a large whole graph, the filters some levels above and below the chosen one: all else is dim. */
  function near(drawing, number) {
    const id = String(number);
    if (!drawing || !drawing.reach || number === null || !drawing.elements.some((each) => each.data.id === id)) return null;
    const found = new Set([id]);
    ["parents", "children"].forEach((side) => {
      const links = linksOf(drawing)[side];
      let ring = [id];
      for (let level = 0; level < drawing.reach; level += 1) {
        ring = ring.flatMap((each) => links.get(each) || []).filter((each) => !found.has(each));
        ring.forEach((each) => found.add(each));
      }
    });
    return found;
  }

  window.posetlib = Object.assign(window.posetlib || {}, { links: { near } });
})();
