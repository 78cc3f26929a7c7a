/* A graph as a picture to take along: SVG of all of it, with a legend, and PNG of the same. */
(function () {
  "use strict";

  const NS = "http://www.w3.org/2000/svg";
  const MARGIN = 24, LINE = 20, MOST = 8000, INTERFACES = 40;
  const FONT = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function make(parent, name, attributes, text) {
    const made = document.createElementNS(NS, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, String(value)));
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  const short = (value) => Math.round(value * 10) / 10;

  function dashes(style, width) {
    return style === "dashed" ? { "stroke-dasharray": 4 * width + " " + 2 * width }
      : style === "dotted" ? { "stroke-dasharray": width + " " + width } : {};
  }

  function drawEdge(group, edge) {
    const from = edge.sourceEndpoint(), to = edge.targetEndpoint();
    if (!from || !to) return;
    const width = parseFloat(edge.style("width")), stroke = edge.style("line-color");
    const bend = edge.style("curve-style") === "bezier" && edge.controlPoints && edge.controlPoints();
    const way = bend && bend.length
      ? `M${short(from.x)} ${short(from.y)}Q${short(bend[0].x)} ${short(bend[0].y)} ${short(to.x)} ${short(to.y)}`
      : `M${short(from.x)} ${short(from.y)}L${short(to.x)} ${short(to.y)}`;
    make(group, "path", Object.assign({ d: way, fill: "none", stroke, "stroke-width": width, "class": "edge" },
      dashes(edge.style("line-style"), width)));
    if (edge.style("target-arrow-shape") === "none") return;
    const start = bend && bend.length ? bend[0] : from;
    const angle = Math.atan2(to.y - start.y, to.x - start.x), size = 5 + 2 * width;
    const corner = (turn) => short(to.x - size * Math.cos(angle + turn)) + "," + short(to.y - size * Math.sin(angle + turn));
    make(group, "polygon", { points: `${short(to.x)},${short(to.y)} ${corner(.4)} ${corner(-.4)}`, fill: edge.style("target-arrow-color") });
    const label = edge.style("label");
    if (label) write(group, label, (from.x + to.x) / 2, (from.y + to.y) / 2, 16, colour("text"));
  }

  function write(group, label, x, y, size, fill) {
    const lines = label.split("\n"), top = y - (lines.length - 1) * size * .6;
    const text = make(group, "text", { "text-anchor": "middle", "font-size": short(size), fill, "font-family": FONT });
    lines.forEach((line, i) => make(text, "tspan", { x: short(x), y: short(top + i * size * 1.2 + size * .35) }, line));
  }

  function drawNode(group, node, drawing) {
    const at = node.position(), width = node.width(), height = node.height();
    const border = parseFloat(node.style("border-width")), round = node.style("shape") === "ellipse";
    const hues = drawing.text ? node.data("hues") || [] : [];
    const mark = node.style("background-fill") === "linear-gradient"
      ? (node.style("background-gradient-stop-colors") || "").trim().split(/\s+(?=rgb|#)/).pop() : "";
    const box = { fill: mark || node.style("background-color"), stroke: node.style("border-color"), "stroke-width": border };
    const shape = make(group, "g", { "class": "node" });
    make(shape, "title", {}, node.data("filter") || node.data("label") || node.id());
    const line = dashes(node.style("border-style"), border);
    if (round) make(shape, "ellipse", Object.assign({ cx: short(at.x), cy: short(at.y), rx: short(width / 2), ry: short(height / 2) }, box, line));
    else make(shape, "rect", Object.assign({ x: short(at.x - width / 2), y: short(at.y - height / 2), width: short(width), height: short(height), rx: 6 }, box, line));
    hues.forEach((hue, i) => make(shape, "rect", { x: short(at.x - width / 2 + i * width * .04 + 1), y: short(at.y - height / 2 + 2),
      width: short(width * .04), height: short(height - 4), fill: colour("hue-" + hue % 8) }));
    const size = node.is(".broker, .client, .load") ? parseFloat(node.style("font-size")) : drawing.text ? 14 : 12;
    write(shape, node.data("label") || "", at.x, at.y, size, node.style("color"));
  }

  /* Lines by mark, as places of parent and child, and where a place is: as elements have it, or a canvas. */
  function drawLines(group, lines, at, look) {
    lines.forEach(({ mark, places }) => {
      const ways = [];
      for (let i = 0; i < places.length; i += 2) {
        const from = at(places[i]), to = at(places[i + 1]);
        ways.push(`M${short(from.x)} ${short(from.y)}L${short(to.x)} ${short(to.y)}`);
      }
      const style = look(mark);
      make(group, "path", Object.assign({ d: ways.join(""), fill: "none", stroke: style.colour, "stroke-width": 1, "class": "edges" },
        dashes(style.dashed ? "dashed" : "", 2)));
    });
  }

  /* A filter of a large graph: its box with the colour of the first interface, and its number. */
  function drawPlace(group, view, place) {
    const { width, height } = view.drawing, hue = view.hue(place);
    const mark = (view.marks.get(place) || []).map((each) => view.markLook(each)).find(Boolean);
    const shape = make(group, "g", { "class": "node" });
    make(shape, "title", {}, view.data.texts[place]);
    make(shape, "rect", { x: short(view.x[place] - width / 2), y: short(view.y[place] - height / 2), width, height, rx: 3,
      fill: mark ? mark.ground : view.look.node, stroke: mark ? mark.colour : view.look.hues[hue] || view.look["node-line"],
      "stroke-width": view.roots.has(place) ? 5 : 3 });
    write(shape, view.head(place), view.x[place], view.y[place], 12, view.look.text);
  }

  /* The levels: a line where each begins, and its name. */
  function drawBands(svg, drawing, box) {
    if (!drawing.bands) return;
    const group = make(svg, "g", { "class": "bands", "font-family": FONT, "font-size": 14, fill: colour("muted") });
    drawing.bands.forEach((band) => {
      const ends = drawing.sideways ? { x1: band.from, x2: band.from, y1: box.y1, y2: box.y2 } : { x1: box.x1, x2: box.x2, y1: band.from, y2: band.from };
      make(group, "line", Object.assign(ends, { stroke: colour("line"), "stroke-dasharray": "4 3" }));
      const at = drawing.sideways ? { x: band.from + 4, y: box.y1 + 10 } : { x: box.x1, y: band.from + 15 };
      make(group, "text", at, band.name + " · " + band.count);
    });
  }

  /* What is told beside a graph on the page: its name, its sizes, its marks, its interfaces; and what its lines mean. */
  function legend(svg, drawing, meaning, x, y, width) {
    const group = make(svg, "g", { "class": "legend", "font-family": FONT, "font-size": 14, fill: colour("text") });
    let row = y;
    const line = (text, attributes) => { make(group, "text", Object.assign({ x, y: row }, attributes || {}), text); row += LINE; };
    line(drawing.title || "", { "font-weight": "bold" });
    if (drawing.stats) line(drawing.stats);
    const words = new Map(), names = new Map();
    drawing.elements.forEach((each) => {
      (each.data.marks || []).forEach((word) => words.set(word, (each.data.label || "").split(" ")[0]));
      (each.data.hues || []).forEach((hue, i) => names.set(each.data.interfaces[i], hue));
    });
    if (drawing.wide) {
      drawing.wide.names.forEach((name, i) => names.set(name, drawing.wide.hues[i]));
      Object.values(drawing.wide.signs).forEach(([sign, word]) => words.set(word, sign));
    }
    (drawing.chips || []).forEach(([, text]) => line(text));
    words.forEach((sign, word) => line(sign + " " + word));
    meaning.forEach((each) => line(each));
    let at = x;
    Array.from(names.keys()).slice(0, INTERFACES).forEach((name) => {
      const room = 30 + 8.5 * name.length;
      if (at + room > x + width && at > x) { at = x; row += LINE; }
      make(group, "rect", { x: at, y: row - 11, width: 12, height: 12, fill: colour("hue-" + names.get(name) % 8), stroke: colour("node-line") });
      make(group, "text", { x: at + 17, y: row }, name);
      at += room;
    });
    if (names.size) row += LINE;
    if (names.size > INTERFACES) line("and " + (names.size - INTERFACES) + " more interfaces");
    return row;
  }

  function boxOf(nodes) {
    const box = { x1: Infinity, y1: Infinity, x2: -Infinity, y2: -Infinity };
    nodes.forEach((node) => {
      const at = node.position(), w = node.width() / 2 + 6, h = node.height() / 2 + 6;
      box.x1 = Math.min(box.x1, at.x - w); box.x2 = Math.max(box.x2, at.x + w);
      box.y1 = Math.min(box.y1, at.y - h); box.y2 = Math.max(box.y2, at.y + h);
    });
    return box;
  }

  /* Of what Cytoscape draws, or a canvas of a large graph. */
  function svgOf(cy, drawing, look) {
    const box = cy.wide ? Object.assign({}, cy.box) : boxOf(cy.nodes());
    if (!(box.x1 <= box.x2)) Object.assign(box, { x1: 0, y1: 0, x2: 300, y2: 20 });
    (drawing.bands || []).forEach((band) => {
      if (drawing.sideways) box.x1 = Math.min(box.x1, band.from); else box.y1 = Math.min(box.y1, band.from);
    });
    const svg = document.createElementNS(NS, "svg");
    drawBands(svg, drawing, box);
    const edges = make(svg, "g", {});
    const boxes = make(svg, "g", {});
    if (cy.wide) {
      drawLines(edges, cy.groups, (place) => ({ x: cy.x[place], y: cy.y[place] }), look);
      cy.data.numbers.forEach((_, place) => drawPlace(boxes, cy, place));
    } else {
      const lines = Object.entries(drawing.lines || {}).map(([mark, places]) => ({ mark, places }));
      drawLines(edges, lines, (place) => drawing.elements[place].position, look);
      cy.edges().forEach((edge) => drawEdge(edges, edge));
      cy.nodes().forEach((node) => drawNode(boxes, node, drawing));
    }
    return withLegend(svg, drawing, ["An edge leads from a filter to what it covers; a thick border is a root."], box);
  }

  /* What is drawn in a box as a file of its own, with its ground behind it and its legend below. */
  function withLegend(svg, drawing, meaning, box) {
    const width = Math.max(560, box.x2 - box.x1) + 2 * MARGIN, left = box.x1 - MARGIN, top = box.y1 - MARGIN;
    const height = legend(svg, drawing, meaning, box.x1, box.y2 + 2 * MARGIN, width - 2 * MARGIN) - top + MARGIN / 2;
    const ground = make(svg, "rect", { x: left, y: top, width, height, fill: colour("ground") });
    svg.prepend(ground);
    Object.entries({ xmlns: NS, width: short(width), height: short(height), viewBox: [left, top, width, height].map(short).join(" ") })
      .forEach(([name, value]) => svg.setAttribute(name, value));
    return { text: '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg), width, height };
  }

  /* A chart that is SVG on the page: its style becomes part of it. */
  const STYLE = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family"];
  function ofChart(live, drawing, meaning) {
    const svg = document.createElementNS(NS, "svg"), group = make(svg, "g", { "class": "chart" });
    const copy = (from, to) => Array.from(from.children).forEach((each) => {
      const made = each.cloneNode(false), style = getComputedStyle(each);
      if (!each.children.length) made.textContent = each.textContent;
      if (each.tagName !== "title") STYLE.forEach((name) => made.setAttribute(name, style.getPropertyValue(name)));
      to.append(made);
      copy(each, made);
    });
    copy(live, group);
    return withLegend(svg, drawing, meaning, { x1: 0, y1: 0, x2: live.clientWidth, y2: live.clientHeight });
  }

  function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  function save(what, made, name) {
    const blob = new Blob([made.text], { type: "image/svg+xml" });
    if (what === "svg") return download(blob, name + ".svg");
    const scale = Math.min(2, MOST / made.width, MOST / made.height);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = Math.max(1, Math.round(made.width * scale));
      canvas.height = Math.max(1, Math.round(made.height * scale));
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((png) => download(png, name + ".png"), "image/png");
      URL.revokeObjectURL(image.src);
    };
    image.src = URL.createObjectURL(blob);
    return undefined;
  }

  window.posetlib.saving = { ofChart, save, svgOf };
})();
