/* A small map of all filters in the corner of a graph: what is near the chosen one, or in view, stands out
   and the rest is dim. A click goes there. */
(function () {
  "use strict";

  const WIDTH = 138, HEIGHT = 92, EDGE = 4, LEAST = 30;  // pixels; filters from which a map is of use
  const maps = new WeakMap();

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function mapOf(cy, panel) {
    let map = maps.get(cy);
    if (map) return map;
    const canvas = document.createElement("canvas"), ratio = window.devicePixelRatio || 1;
    canvas.className = "minimap";
    canvas.width = WIDTH * ratio;
    canvas.height = HEIGHT * ratio;
    canvas.style.width = WIDTH + "px";
    canvas.style.height = HEIGHT + "px";
    canvas.title = "All filters of the table; click to go there";
    canvas.hidden = true;
    cy.container().closest(".graph").append(canvas);
    map = { cy, canvas, ratio, timer: 0, base: document.createElement("canvas") };
    map.base.width = canvas.width;
    map.base.height = canvas.height;
    maps.set(cy, map);
    cy.on("viewport", () => later(map));
    canvas.addEventListener("click", (event) => go(map, panel, event));
    return map;
  }

  /* Where everything is: in a map that came with the drawing, or in the drawing itself. */
  function placesOf(drawing) {
    if (drawing.map) return { ids: drawing.map.ids, at: drawing.map.at, w: drawing.map.width, h: drawing.map.height };
    const ids = [], at = [];
    if (drawing.wide) {
      drawing.wide.numbers.forEach((id, i) => { ids.push(id); at.push(drawing.wide.x[i], drawing.wide.y[i]); });
      return { ids, at, w: drawing.width, h: drawing.height };
    }
    drawing.elements.forEach((each) => {
      if (!each.position) return;
      ids.push(Number(each.data.id));
      at.push(each.position.x, each.position.y);
    });
    return { ids, at, w: drawing.width, h: drawing.height };
  }

  function show(cy, panel, drawing, picked) {
    if (!drawing.bands && !maps.has(cy)) return;
    const map = mapOf(cy, panel);
    map.drawing = drawing;
    map.places = drawing.bands ? placesOf(drawing) : null;
    map.near = new Set(drawing.map ? drawing.elements.filter((each) => each.position).map((each) => Number(each.data.id)) : []);
    const wide = drawing.wide;
    map.changed = new Set(wide ? ["added", "removed", "changed"].flatMap((mark) => (wide.marks[mark] || []).map((i) => wide.numbers[i])) : drawing.elements.filter((each) => each.position && /\b(added|removed|changed)\b/.test(each.classes || ""))
      .map((each) => Number(each.data.id)));
    pick(cy, picked);
  }

  function pick(cy, picked) {
    const map = maps.get(cy);
    if (!map) return;
    map.picked = picked;
    map.stale = true;
    paint(map);
  }

  function later(map) {
    cancelAnimationFrame(map.timer);
    map.timer = requestAnimationFrame(() => paint(map));
  }

  function scaleOf({ at, w, h }) {
    let x1 = Infinity, y1 = Infinity, x2 = -Infinity, y2 = -Infinity;
    for (let i = 0; i < at.length; i += 2) {
      x1 = Math.min(x1, at[i] - w / 2); x2 = Math.max(x2, at[i] + w / 2);
      y1 = Math.min(y1, at[i + 1] - h / 2); y2 = Math.max(y2, at[i + 1] + h / 2);
    }
    const by = Math.min((WIDTH - 2 * EDGE) / (x2 - x1), (HEIGHT - 2 * EDGE) / (y2 - y1));
    return { by, x: WIDTH / 2 - by * (x1 + x2) / 2, y: HEIGHT / 2 - by * (y1 + y2) / 2 };
  }

  function paint(map) {
    const { cy, canvas, drawing, places, ratio } = map;
    if (cy.destroyed()) return;
    const whole = drawing && !drawing.map && seesAll(cy);
    canvas.hidden = !places || whole || (cy.view && cy.view.host.hidden) || (!drawing.map && places.ids.length < LEAST);
    if (canvas.hidden) return;
    if (map.stale) paintAll(map);
    const context = canvas.getContext("2d"), scale = map.scale;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(map.base, 0, 0);
    if (!drawing.map) {
      const seen = cy.extent();
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.strokeStyle = colour("accent");
      context.lineWidth = 2;
      context.strokeRect(seen.x1 * scale.by + scale.x, seen.y1 * scale.by + scale.y, seen.w * scale.by, seen.h * scale.by);
    }
  }

  /* All filters, once for a drawing: while the view moves, this is a picture. */
  function paintAll(map) {
    const { drawing, places, ratio } = map, scale = map.scale = scaleOf(places), context = map.base.getContext("2d");
    map.stale = false;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    const box = (i, name) => {
      const w = Math.max(2, places.w * scale.by), h = Math.max(2, places.h * scale.by);
      context.fillStyle = name;
      context.fillRect(places.at[2 * i] * scale.by + scale.x - w / 2, places.at[2 * i + 1] * scale.by + scale.y - h / 2, w, h);
    };
    const dim = colour("line"), near = colour("accent"), plain = colour("control"), changed = colour("good"), chosen = colour("focus");
    const above = [];
    places.ids.forEach((id, i) => {
      if (id === map.picked || id === drawing.around || map.changed.has(id)) above.push([id, i]);
      else box(i, drawing.map ? (map.near.has(id) ? near : dim) : plain);
    });
    above.forEach(([id, i]) => box(i, id === map.picked || id === drawing.around ? chosen : changed));
  }

  function seesAll(cy) {
    const box = cy.scratch("_box"), seen = cy.extent();
    return !box || (seen.x1 <= box.x1 + 1 && seen.y1 <= box.y1 + 1 && seen.x2 >= box.x2 - 1 && seen.y2 >= box.y2 - 1);
  }

  /* To the filter that is nearest to the pointer, or to that part of the drawing. */
  function go(map, panel, event) {
    const { cy, drawing, places, scale } = map, frame = map.canvas.getBoundingClientRect();
    const x = (event.clientX - frame.left - scale.x) / scale.by, y = (event.clientY - frame.top - scale.y) / scale.by;
    if (!drawing.map) {
      window.posetlib.graphs.pan(cy.view || cy, { x: cy.width() / 2 - x * cy.zoom() - cy.pan().x, y: cy.height() / 2 - y * cy.zoom() - cy.pan().y });
      return;
    }
    let best = 0, least = Infinity;
    places.ids.forEach((id, i) => {
      const far = (places.at[2 * i] - x) ** 2 + (places.at[2 * i + 1] - y) ** 2;
      if (far < least) { least = far; best = id; }
    });
    window.dash_clientside.set_props(panel.slice(0, panel.indexOf("-")) + "-node", { data: best });
  }

  function restyle(cy) {
    if (!maps.has(cy)) return;
    maps.get(cy).stale = true;
    paint(maps.get(cy));
  }

  window.posetlib = Object.assign(window.posetlib || {}, { minimap: { pick, restyle, show, size: [WIDTH, HEIGHT] } });
})();
