/* Filters as rectangles in the plane of two attributes: choosing and brushing, both ways with the graph. */
(function () {
  "use strict";

  const NS = "http://www.w3.org/2000/svg", LEFT = 56, BOTTOM = 40, TOP = 14, RIGHT = 14, TICKS = 6;
  const state = { id: "", data: null, number: null, brush: null };

  function make(parent, name, attributes, text) {
    const made = document.createElementNS(NS, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, String(value)));
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  function scales(host) {
    const [x1, y1, x2, y2] = state.data.box, width = host.clientWidth, height = host.clientHeight;
    const across = width - LEFT - RIGHT, up = height - TOP - BOTTOM;
    return {
      width, height,
      x: (value, end) => LEFT + (value === null ? (end ? 1 : 0) : (value - x1) / (x2 - x1)) * across,
      y: (value, end) => height - BOTTOM - (value === null ? (end ? 1 : 0) : (value - y1) / (y2 - y1)) * up,
    };
  }

  function place(scale, each) {
    const left = scale.x(each.x[0], false), right = scale.x(each.x[1], true);
    const bottom = scale.y(each.y[0], false), top = scale.y(each.y[1], true);
    return { x: left, y: top, width: Math.max(2, right - left), height: Math.max(2, bottom - top) };
  }

  function ticks(low, high) {
    const rough = (high - low) / TICKS, power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
    const found = [];
    for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(Number(value.toPrecision(12)));
    return found;
  }

  function axes(svg, scale) {
    const [x1, y1, x2, y2] = state.data.box, floor = scale.height - BOTTOM;
    ticks(x1, x2).forEach((value) => {
      make(svg, "line", { x1: scale.x(value), x2: scale.x(value), y1: TOP, y2: floor });
      make(svg, "text", { x: scale.x(value), y: floor + 17, "text-anchor": "middle" }, value);
    });
    ticks(y1, y2).forEach((value) => {
      make(svg, "line", { x1: LEFT, x2: scale.width - RIGHT, y1: scale.y(value), y2: scale.y(value) });
      make(svg, "text", { x: LEFT - 6, y: scale.y(value) + 5, "text-anchor": "end" }, value);
    });
    make(svg, "text", { x: scale.width - RIGHT, y: scale.height - 6, "text-anchor": "end", "font-weight": "bold" }, state.data.names[0]);
    make(svg, "text", { x: 6, y: TOP + 10, "font-weight": "bold" }, state.data.names[1]);
  }

  function paint() {
    const host = document.getElementById(state.id);
    if (!host || !state.data || !host.clientWidth) return;
    const scale = scales(host), svg = document.createElementNS(NS, "svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", state.data.rectangles.length + " rectangles over " + state.data.names.join(" and "));
    axes(svg, scale);
    const near = new Set(state.data.near[String(state.number)] || []);
    /* Large ones first: what lies inside another is on top, and can be clicked. */
    const placed = state.data.rectangles.map((each) => ({ each, at: place(scale, each) }))
      .sort((one, other) => other.at.width * other.at.height - one.at.width * one.at.height);
    placed.forEach(({ each, at }) => {
      const hue = "var(--hue-" + each.hue % 8 + ")", classes = ["rectangle"];
      if (each.root) classes.push("root");
      if (each.number === state.number) classes.push("picked");
      else if (near.has(each.number)) classes.push("near");
      if (state.brush && !state.brush.has(each.number)) classes.push("away");
      const made = make(svg, "rect", Object.assign({ "class": classes.join(" "), fill: hue, stroke: hue, "data-pick": "plane " + each.number }, at));
      make(made, "title", {}, each.text);
    });
    state.data.mergers.forEach((each) => make(make(svg, "rect", Object.assign({ "class": "merger" }, place(scale, each))), "title", {}, each.text));
    if (state.data.point) {
      const [x, y] = state.data.point;
      make(make(svg, "circle", { "class": "notification", cx: scale.x(x), cy: scale.y(y), r: 8 }), "title", {}, "the notification");
    }
    host.replaceChildren(svg);
    host.dataset.drawn = String(state.data.rectangles.length);
    listen(host, svg, placed);
  }

  /* Drag over the ground, or over rectangles, to mark in the graph all that is touched. */
  function listen(host, svg, placed) {
    svg.addEventListener("pointerdown", (event) => {
      const box = host.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      let brush = null;
      const move = (next) => {
        const u = next.clientX - box.left, v = next.clientY - box.top;
        if (!brush && Math.hypot(u - x, v - y) < 6) return;
        brush = brush || make(svg, "rect", { "class": "brush" });
        Object.entries({ x: Math.min(x, u), y: Math.min(y, v), width: Math.abs(u - x), height: Math.abs(v - y) })
          .forEach(([name, value]) => brush.setAttribute(name, value));
      };
      const stop = (last) => {
        document.removeEventListener("pointermove", move);
        document.removeEventListener("pointerup", stop);
        if (brush) {
          move(last);
          const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(brush.getAttribute(name)));
          const inside = placed.filter(({ at }) => at.x < left + width && at.x + at.width > left && at.y < top + height && at.y + at.height > top);
          mark(new Set(inside.map(({ each }) => each.number)));
        } else if (!event.target.dataset || !event.target.dataset.pick) mark(null);
      };
      document.addEventListener("pointermove", move);
      document.addEventListener("pointerup", stop);
    });
  }

  function mark(numbers) {
    state.brush = numbers;
    window.posetlib.graphs.brush(numbers ? Array.from(numbers) : null);
    paint();
  }

  function draw(id, data, number) {
    const host = document.getElementById(id);
    if (!host || !data) return;
    if (data !== state.data) state.brush = null;
    Object.assign(state, { id, data, number: number === undefined ? null : number });
    if (!host.dataset.watched) {
      host.dataset.watched = "yes";
      new ResizeObserver(paint).observe(host);
    }
    paint();
  }

  /* The chart as a picture with its legend; the drawing of the graph beside it knows its table. */
  function saved(panel, drawings) {
    const live = document.querySelector("#" + state.id + " svg"), drawing = drawings["plane-graph"];
    if (panel !== "plane-chart" || !live || !drawing || !state.data) return null;
    const meaning = ["A rectangle is what a filter allows of both attributes; a thick border is a root.",
      "One inside another is covered, as far as these two go."];
    if (state.data.mergers.length) meaning.push("Dashed: two roots together, where that is one filter.");
    if (state.data.point) meaning.push("The dot is the notification.");
    const title = (drawing.title || "") + ": " + state.data.names.join(" and ");
    return window.posetlib.saving.ofChart(live, Object.assign({}, drawing, { title }), meaning);
  }

  window.posetlib = Object.assign(window.posetlib || {}, { plane: { draw, saved } });
})();
