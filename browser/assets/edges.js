/* Thousands of edges as lines on one canvas below Cytoscape's own: as elements of a graph they take
   it seconds, to make and at every repaint. While the view moves, the canvas moves as a picture. */
(function () {
  "use strict";

  const REST = 120;  // milliseconds without a move, after which lines are painted anew
  const BATCH = 400;  // lines to a stroke: one stroke of many thousands is slow
  const layers = new WeakMap();

  function layerOf(cy) {
    let layer = layers.get(cy);
    if (layer) return layer;
    const canvas = document.createElement("canvas");
    canvas.className = "edges";
    canvas.setAttribute("aria-hidden", "true");
    cy.container().prepend(canvas);
    layer = { cy, canvas, groups: [], near: null, dim: false, painted: null, timer: 0 };
    layers.set(cy, layer);
    cy.on("viewport", () => follow(layer));
    cy.on("resize", () => paint(layer));
    return layer;
  }

  /* Take lines, as places of parent and child among the nodes, by mark; none clears the canvas. */
  function show(cy, drawing, look) {
    if (!drawing.lines && !layers.has(cy)) return;
    const layer = layerOf(cy), nodes = drawing.elements;
    layer.look = look;
    layer.near = null;
    layer.groups = Object.entries(drawing.lines || {}).map(([mark, ends]) => {
      const points = new Float32Array(ends.length * 2);
      ends.forEach((end, i) => {
        points[2 * i] = nodes[end].position.x;
        points[2 * i + 1] = nodes[end].position.y;
      });
      return { mark, points };
    }).sort((one, other) => one.mark.length - other.mark.length);  // what is marked comes on top
    paint(layer);
  }

  /* The lines of the chosen filter, by mark: those that came and went keep their colour. */
  function pick(cy, lines) {
    const layer = layers.get(cy);
    if (!layer) return;
    const marks = Object.entries(lines);
    layer.near = marks.length ? marks.map(([mark, points]) => ({ mark, points: Float32Array.from(points) })) : null;
    paint(layer);
  }

  function dim(cy, on) {
    const layer = layers.get(cy);
    if (!layer || layer.dim === on) return;
    layer.dim = on;
    paint(layer);
  }

  function restyle(cy, look) {
    const layer = layers.get(cy);
    if (!layer) return;
    layer.look = look;
    paint(layer);
  }

  function follow(layer) {
    const at = layer.painted, cy = layer.cy;
    if (at) {
      const scale = cy.zoom() / at.zoom, pan = cy.pan();
      layer.canvas.style.transform =
        `matrix(${scale},0,0,${scale},${pan.x - at.x * scale},${pan.y - at.y * scale})`;
    }
    clearTimeout(layer.timer);
    layer.timer = setTimeout(() => paint(layer), REST);
  }

  function paint(layer) {
    clearTimeout(layer.timer);
    const { cy, canvas, look } = layer;
    if (cy.destroyed() || !look) return;
    const width = cy.width(), height = cy.height(), ratio = window.devicePixelRatio || 1;
    const zoom = cy.zoom(), pan = cy.pan();
    layer.painted = { zoom, x: pan.x, y: pan.y };
    canvas.style.transform = "";
    canvas.width = Math.max(1, Math.round(width * ratio));  // which clears it
    canvas.height = Math.max(1, Math.round(height * ratio));
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    if (!layer.groups.length) return;
    const context = canvas.getContext("2d");
    context.setTransform(zoom * ratio, 0, 0, zoom * ratio, pan.x * ratio, pan.y * ratio);
    const seen = { x1: -pan.x / zoom, y1: -pan.y / zoom,
                   x2: (width - pan.x) / zoom, y2: (height - pan.y) / zoom };
    layer.groups.forEach(({ mark, points }) => {
      context.globalAlpha = layer.dim ? .15 : mark ? 1 : .55;
      const style = look(mark);
      stroke(context, points, style.colour, (mark ? 2 : 1) / zoom, style.dashed ? [6 / zoom, 4 / zoom] : [], seen);
    });
    if (layer.near) {
      context.globalAlpha = 1;
      layer.near.forEach(({ mark, points }) => {
        const style = look(mark || "near");
        stroke(context, points, style.colour, 3 / zoom, style.dashed ? [6 / zoom, 4 / zoom] : [], seen);
      });
    }
  }

  function stroke(context, points, colour, width, dash, seen) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    let count = 0;
    context.beginPath();
    for (let i = 0; i < points.length; i += 4) {
      const x1 = points[i], y1 = points[i + 1], x2 = points[i + 2], y2 = points[i + 3];
      if (Math.max(x1, x2) < seen.x1 || Math.min(x1, x2) > seen.x2 ||
          Math.max(y1, y2) < seen.y1 || Math.min(y1, y2) > seen.y2) continue;
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      count += 1;
      if (count % BATCH === 0) { context.stroke(); context.beginPath(); }
    }
    context.stroke();
  }

  window.posetlib = Object.assign(window.posetlib || {}, { edges: { show, pick, dim, restyle } });
})();
