/* Draws what the server has laid out, into graphs that Dash mounts; and what a pointer does there. All
   text goes in as text, never as HTML. */
(function () {
  "use strict";

  const { edges, bands } = window.posetlib, { colour, lookOf, styleOf } = window.posetlib.appearance;
  const state = { drawings: {}, node: null, query: "", only: "", brushed: null, serial: 0, moved: new WeakSet(), rooms: {} };

  /* What draws in a panel: the canvas for large graphs (assets/wide.js) where it is shown, else Cytoscape. */
  function instance(panel) {
    const wide = window.posetlib.wide.view(panel);
    return wide || cytoscape(panel);
  }

  function cytoscape(panel) {
    const host = document.getElementById("cy-" + panel);
    return host && host._cyreg && host._cyreg.cy && !host._cyreg.cy.destroyed() ? host._cyreg.cy : null;
  }

  function pageOf(panel) {
    return panel.slice(0, panel.indexOf("-"));
  }

  function whenMounted(panel, action, tries) {
    const cy = cytoscape(panel);
    if (cy) action(cy);
    else if ((tries || 0) < 300) setTimeout(() => whenMounted(panel, action, (tries || 0) + 1), 20);
  }

  function prepared(elements, text) {
    if (text) return elements;
    /* Small boxes have no room for stripes: the colour of the first interface is their border. */
    return elements.map((e) => e.data.hues && e.data.hues.length
      ? Object.assign({}, e, { classes: (e.classes || "") + " h" + (e.data.hues[0] % 8) }) : e);
  }

  function drawWide(cy, panel, drawing) {
    if (cy.elements().nonempty()) cy.elements().remove();
    edges.show(cy, { elements: [] }, lookOf());
    bands.show(cy, { elements: [] });
    window.posetlib.minimap.show(cy, panel, { elements: [] }, null);
    tell(panel, drawing);
    state.serial += 1;
    const serial = state.serial, view = window.posetlib.wide.show(panel, true), frame = view.frame;
    view.draw(drawing, () => { frame.dataset.drawn = drawing.nodes + "/" + drawing.edges; frame.dataset.serial = serial; });
    pick(view, panel);
    find(view, panel);
  }

  function drawOne(cy, panel, drawing) {
    if (drawing.wide) return drawWide(cy, panel, drawing);
    window.posetlib.wide.show(panel, false);
    const animate = drawing.text && !drawing.lines && cy.nodes().length > 0 &&
      !matchMedia("(prefers-reduced-motion: reduce)").matches && !document.hidden;
    const before = {};
    if (animate) cy.nodes().forEach((n) => { before[n.id()] = Object.assign({}, n.position()); });
    listen(cy, panel);
    cy.stop(true, true);
    /* Large graphs move as pictures, and are drawn again when they rest. */
    const renderer = cy._private.renderer;
    renderer.textureOnViewport = drawing.nodes > 600;
    tell(panel, drawing);
    cy.resize();
    cy.scratch("_box", bounds(drawing));
    /* Small boxes would hide the names of the bands behind them: these have a place beside the graph, and what is
       called out at the right edge has some, too. */
    cy.scratch("_aside", drawing.bands && !drawing.text && !drawing.sideways ? NAMES : 0);
    cy.scratch("_map", drawing.map ? window.posetlib.minimap.size : null);
    if (!state.moved.has(cy)) fit(cy);
    cy.scratch("_far", isFar(cy, drawing));
    const elements = prepared(drawing.elements, drawing.text);
    const form = [drawing.text, drawing.width, drawing.height].join();
    edges.show(cy, drawing, lookOf());
    bands.show(cy, drawing);
    cy.batch(() => {
      if (cy.scratch("_form") === form) return renew(cy, elements);
      cy.scratch("_form", form);
      cy.elements().remove();
      cy.style(styleOf(drawing));
      return cy.add(elements);
    });
    if (animate) {
      cy.nodes().forEach((n) => {
        const old = before[n.id()], now = Object.assign({}, n.position());
        if (old && (Math.abs(old.x - now.x) > 1 || Math.abs(old.y - now.y) > 1)) {
          n.position(old);
          n.animate({ position: now }, { duration: 350 });
        }
      });
    }
    window.posetlib.minimap.show(cy, panel, drawing, state.node);
    pick(cy, panel);
    find(cy, panel);
    state.serial += 1;
    const serial = state.serial;
    const frame = cy.container().closest(".graph");
    cy.one("render", () => { frame.dataset.drawn = drawing.nodes + "/" + drawing.edges; frame.dataset.serial = serial; });
    cy.forceRender();
    return undefined;
  }

  /* From one step to the next most stays: what does is neither made nor styled anew. */
  function renew(cy, elements) {
    const wanted = new Map(elements.map((each) => [each.data.id, each]));
    cy.elements().filter((each) => !wanted.has(each.id())).remove();
    const fresh = [];
    wanted.forEach((each, id) => {
      const there = cy.$id(id);
      if (!there.nonempty()) return fresh.push(each);
      const classes = (each.classes || "").split(" ").filter(Boolean);
      const had = there.classes();
      if (classes.length !== had.length || classes.some((name) => !had.includes(name))) there.classes(classes);
      if (each.position) {
        if (["label", "filter", "tip"].some((name) => there.data(name) !== each.data[name])) {
          there.removeData("marks hidden why");
          there.data(each.data);
        }
        const at = there.position();
        if (at.x !== each.position.x || at.y !== each.position.y) there.position(each.position);
      } else if (there.data("label") !== each.data.label) there.data(each.data);
      return undefined;
    });
    cy.add(fresh);
  }

  /* The width and height that the graphs of a page have. A new shape is told, and all is laid out for it; a
     small change is not worth that everything moves. */
  const PADDING = 12, RESHAPED = 1.25, NAMES = 66;
  function measure(page, tell) {
    const frame = document.querySelector("#page .graph[id^=graph-" + page + "]");
    const box = frame && frame.getBoundingClientRect();
    const known = state.rooms[page];
    if (!box || box.width < 80 || box.height < 80) return known || null;
    /* What stands above a graph comes with its first drawing, and takes of its height. */
    const told = document.querySelector("#page .stats"), grid = frame.closest(".grid");
    const least = grid ? parseFloat(getComputedStyle(grid).getPropertyValue("--least")) * 16 || 0 : 0;
    const less = told && !told.textContent ? Math.min(56, Math.max(0, box.height - least)) : 0;
    const room = [Math.round(box.width - 2 * PADDING), Math.round(box.height - less - 2 * PADDING)];
    const apart = (one, other) => Math.max(one / other, other / one);
    /* A neighbourhood has as much text as its room holds, and in a smaller one less of it is read. */
    const tighter = known && isNear() && room.some((side, i) => side < .98 * known[i]);
    const changed = !known || tighter || apart(room[0] / room[1], known[0] / known[1]) > RESHAPED || apart(room[0], known[0]) > RESHAPED;
    if (changed) state.rooms[page] = room;
    if (changed && tell && !document.fullscreenElement) window.dash_clientside.set_props(page + "-room", { data: room });
    return state.rooms[page];
  }

  function isNear() {
    return Object.values(state.drawings).some((each) => each.around !== undefined);
  }

  /* By the positions that the server gave, which needs no look at thousands of edges. A small map that is
     always there has its place beside or below the graph. */
  function fit(cy) {
    if (cy.wide) return cy.fit();
    state.moved.delete(cy);
    const box = cy.scratch("_box"), map = cy.scratch("_map");
    if (!box || !cy.width() || !cy.height()) return undefined;
    const width = box.x2 - box.x1, height = box.y2 - box.y1, aside = cy.scratch("_aside") || 0;
    const rooms = map ? [[cy.width() - map[0], cy.height()], [cy.width(), cy.height() - map[1]]] : [[cy.width(), cy.height()]];
    const levels = rooms.map(([w, h]) => Math.min(1.15, (w - 2 * PADDING - 1.4 * aside) / width, (h - 2 * PADDING) / height));
    const best = levels.indexOf(Math.max(...levels)), level = Math.max(cy.minZoom(), levels[best]);
    return cy.viewport({ zoom: level, pan: {
      x: rooms[best][0] / 2 + .3 * aside - level * (box.x1 + box.x2) / 2,
      y: rooms[best][1] / 2 - level * (box.y1 + box.y2) / 2 } });
  }

  /* From afar a filter shows its number alone, in letters that can be read; from near, if it is
     small, also who holds it. */
  function isFar(cy, drawing) {
    return Boolean(drawing) && cy.zoom() < (drawing.far || (drawing.text ? 0.65 : 1));
  }

  function follow(cy, panel) {
    const drawing = state.drawings[panel], far = isFar(cy, drawing);
    if (!drawing) return;
    if (far !== cy.scratch("_far")) {
      cy.scratch("_far", far);
      callOut(cy, panel);
      cy.nodes().updateStyle();
    } else if (far) cy.nodes(".called").updateStyle();
  }

  /* From afar, what a step changed and what is chosen are read all the same: their text is as large as any
     on the screen, and lies over what is beside them. */
  const CHANGED = [".added", ".removed", ".changed", ".moved", ".relinked"], CALLED = 6;
  function callOut(cy, panel) {
    const drawing = state.drawings[panel];
    let called = cy.collection();
    if (drawing && drawing.bands && cy.scratch("_far")) {
      CHANGED.forEach((mark) => {
        const more = cy.nodes(mark);
        if (called.union(more).length <= CALLED) called = called.union(more);
        else if (called.empty()) called = more.slice(0, CALLED);
      });
      called = called.union(cy.nodes(".picked"));
    }
    cy.batch(() => {
      cy.nodes(".called").not(called).removeClass("called");
      called.addClass("called");
    });
  }

  function bounds(drawing) {
    /* Room for what comes later is kept, so that the view stays as it is from step to step. */
    const [x1, y1, x2, y2] = drawing.box || [Infinity, Infinity, -Infinity, -Infinity], box = { x1, y1, x2, y2 };
    drawing.elements.forEach((each) => {
      if (!each.position) return;
      box.x1 = Math.min(box.x1, each.position.x - drawing.width / 2);
      box.x2 = Math.max(box.x2, each.position.x + drawing.width / 2);
      box.y1 = Math.min(box.y1, each.position.y - drawing.height / 2);
      box.y2 = Math.max(box.y2, each.position.y + drawing.height / 2);
    });
    (drawing.bands || []).forEach((band) => {
      const [low, high] = drawing.sideways ? ["x1", "x2"] : ["y1", "y2"];
      box[low] = Math.min(box[low], band.from);
      box[high] = Math.max(box[high], band.to);
    });
    return box.x1 <= box.x2 ? box : null;
  }

  /* What is said about a drawing above it, and for those who cannot see it. */
  function tell(panel, drawing) {
    const put = (name, text) => {
      const place = document.getElementById(name + "-" + panel);
      if (place) place.textContent = text || "";
    };
    put("stats", drawing.stats);
    put("note", drawing.note);
    const note = document.getElementById("note-" + panel);
    if (note) note.classList.toggle("quiet", drawing.around !== undefined);
    const chips = document.getElementById("chips-" + panel);
    if (chips) chips.replaceChildren(...(drawing.chips || []).map(([mark, text]) => {
      const chip = document.createElement("button");
      chip.className = "chip " + mark;
      chip.textContent = text;
      chip.dataset.chip = mark;
      chip.title = "Show these alone, or all again";
      chip.setAttribute("aria-pressed", String(state.only === mark));
      return chip;
    }));
    document.querySelectorAll("#save-" + panel + " a[data-format]").forEach((link) => {
      link.hidden = !drawing.save;
      if (drawing.save) link.href = link.dataset.format + drawing.save;
    });
    const frame = document.getElementById("graph-" + panel);
    if (frame) frame.setAttribute("aria-label", drawing.about || (drawing.title || panel) + ": graph of " + drawing.nodes +
      " filters and " + drawing.edges + " edges. Arrow keys go from the chosen filter to its parents, children and siblings, with Shift they move the graph, plus and minus zoom, F fits, Enter folds or unfolds the chosen filter. The list beside it has the same filters.");
  }

  function listen(cy, panel) {
    if (cy.scratch("_listening")) return;
    cy.scratch("_listening", true);
    cy.autoungrabify(true);
    cy.autounselectify(true);
    cy.boxSelectionEnabled(false);
    cy.on("tap", "node", (event) => {
      const number = numberOf(event.target);
      if (Number.isInteger(number)) chosen(panel, number);
    });
    cy.on("dbltap", "node", (event) => askToFold(panel, event.target));
    cy.on("mouseover", "node", (event) => hover(event));
    cy.on("mousemove", "node", (event) => hover(event));
    cy.on("mouseout pan zoom tapstart", () => tooltip().setAttribute("hidden", ""));
    cy.on("zoom", () => follow(cy, panel));
    cy.on("dragpan scrollzoom pinchzoom", () => state.moved.add(cy));
    const observer = new ResizeObserver(() => {
      if (cy.destroyed()) return observer.disconnect();
      cy.resize();
      if (!state.moved.has(cy)) fit(cy);
      clearTimeout(state.measuring);
      state.measuring = setTimeout(() => measure(pageOf(panel), true), 250);
      return undefined;
    });
    observer.observe(cy.container());
  }

  function chosen(panel, number) {
    window.dash_clientside.set_props(pageOf(panel) + "-node", { data: number });
  }

  /* A filter of several rectangles is several elements, with one number. */
  function numberOf(node) {
    return Number(node.data("number") || node.id());
  }

  function askToFold(panel, node) {
    const number = Number(node.id()), drawing = state.drawings[panel];
    if (!Number.isInteger(number) || node.is(".broker, .client, .rect") || !drawing || drawing.around !== undefined) return;
    request([panel], number, node.hasClass("folded") ? "unfold" : "fold");
  }

  function request(asked, number, act) {
    const page = pageOf(asked[0]), names = asked.map((panel) => panel.slice(page.length + 1));
    window.dash_clientside.set_props(page + "-fold_request", { data: { names, number, act, at: Date.now() } });
  }

  function tooltip() {
    let place = document.getElementById("tooltip");
    if (!place) {
      place = document.createElement("div");
      place.id = "tooltip";
      place.className = "tooltip";
      place.setAttribute("role", "status");
      place.setAttribute("hidden", "");
      document.body.appendChild(place);
    }
    return place;
  }

  function hover(event) {
    tip(event.target.data(), event.originalEvent);
  }

  /* Say something about a filter beside the pointer; about none, say nothing. */
  function tip(data, at) {
    const place = tooltip();
    if (!data) return place.setAttribute("hidden", "");
    if (data.filter === undefined && !data.tip) return undefined;
    const lines = data.tip ? [data.tip]
      : [(data.name || "#" + data.id) + " " + data.filter, "Interfaces: " + (data.interfaces || []).join(", ")];
    if (data.marks) lines.push(data.marks.join("; "));
    if (data.why) lines.push(data.why);
    if (data.hidden) lines.push(data.hidden + " below are folded; double-click unfolds");
    place.textContent = lines.join("\n");
    place.removeAttribute("hidden");
    const box = place.getBoundingClientRect();
    place.style.left = Math.max(4, Math.min(at.clientX + 14, innerWidth - box.width - 8)) + "px";
    place.style.top = Math.max(4, Math.min(at.clientY + 14, innerHeight - box.height - 8)) + "px";
    return undefined;
  }

  /* The lines of a filter by their mark, and what is at their other ends. */
  function around(panel, node) {
    const drawing = state.drawings[panel], lines = {}, others = new Set();
    if (!drawing || !drawing.lines || !node.nonempty()) return { lines, others };
    const nodes = drawing.elements, place = nodes.findIndex((each) => each.data.id === node.id());
    Object.entries(drawing.lines).forEach(([mark, ends]) => {
      for (let i = 0; i < ends.length; i += 2) {
        if (ends[i] !== place && ends[i + 1] !== place) continue;
        lines[mark] = lines[mark] || [];
        [ends[i], ends[i + 1]].forEach((end) => lines[mark].push(nodes[end].position.x, nodes[end].position.y));
        others.add(nodes[ends[i] === place ? ends[i + 1] : ends[i]].data.id);
      }
    });
    return { lines, others };
  }

  function neighbours(cy, panel, node) {
    const near = around(panel, node).others;
    return node.neighborhood("node").union(cy.nodes().filter((each) => near.has(each.id())));
  }

  function pick(cy, panel) {
    if (cy.wide) return cy.pick(state.node);
    const node = state.node === null ? cy.collection() : cy.$id(String(state.node));
    cy.batch(() => {
      cy.elements(".picked, .near").removeClass("picked near");
      node.addClass("picked");
      if (node.is(".rect")) cy.nodes("[number = " + state.node + "]").not(".inside").addClass("picked");
      if (node.is(".broker, .client")) return;  // whose neighbours are seen as it is
      node.connectedEdges().addClass("near");
      if (node.nonempty()) neighbours(cy, panel, node).addClass("near");
    });
    edges.pick(cy, around(panel, node).lines);
    callOut(cy, panel);
    window.posetlib.minimap.pick(cy, state.node);
    return node;
  }

  /* What was searched on another page dims nothing here, if here is no box to change it in. */
  function queryOf(panel) {
    return document.getElementById(pageOf(panel) + "-search") ? state.query.trim().toLowerCase() : "";
  }

  /* The filters that meet the expression of the page, where these are to be marked. */
  function metOf(panel) {
    const drawing = state.drawings[panel];
    if (!drawing || !drawing.found) return null;
    drawing.met_set = drawing.met_set || new Set(drawing.found.map(String));
    return drawing.met_set;
  }

  /* The numbers of what is found on the canvas; the rest of it is dimmed. */
  function findWide(view, query, only, met) {
    const looked = Boolean(query || only || met || state.brushed), names = view.data.numbers;
    const found = !looked ? [] : view.placesWith((place) => (!met || met.has(String(names[place]))) && (!only || (view.marks.get(place) || []).includes(only)) &&
      (!state.brushed || state.brushed.has(String(names[place]))) && (!query || view.searched(place).includes(query)));
    view.show(looked ? found : null);
    return found.map((place) => names[place]);
  }

  function find(cy, panel) {
    const query = queryOf(panel), only = state.only, met = metOf(panel);
    if (cy.wide) return findWide(cy, query, only, met);
    const near = query || only || met || state.brushed ? null : window.posetlib.links.near(state.drawings[panel], state.node);
    let found = cy.collection();
    cy.batch(() => {
      cy.elements(".found, .dim").removeClass("found dim");
      if (near) {
        const kept = cy.nodes().filter((n) => near.has(n.id()));
        cy.elements().not(kept.union(kept.edgesWith(kept))).addClass("dim");
      }
      if (!query && !only && !met && !state.brushed) return;
      found = cy.nodes().filter((n) => (!only || n.hasClass(only)) && (!met || met.has(n.id())) && (!state.brushed || state.brushed.has(n.id())));
      if (query) {
        found = found.filter((n) => (("#" + n.id() + " " + (n.data("filter") || "") + " " +
          (n.data("interfaces") || []).join(" ")).toLowerCase()).includes(query));
      }
      const kept = only ? found.union(cy.edges("." + only)) : found;
      cy.elements().not(kept).addClass("dim");
      found.addClass("found");
    });
    edges.dim(cy, Boolean(query || only || met || state.brushed || near));
    return found;
  }

  /* Show the filters of one mark alone, or all again; the rows of lists that are about a mark too. */
  function toggleOnly(mark) {
    state.only = state.only === mark ? "" : mark;
    everywhere((cy, panel) => find(cy, panel));
    showOnly();
  }

  /* Mark some filters, by number, in every graph of the page; none: all again. */
  function brush(numbers) {
    state.brushed = numbers ? new Set(numbers.map(String)) : null;
    everywhere((cy, panel) => find(cy, panel));
  }

  function showOnly() {
    const only = state.only;
    document.querySelectorAll("[data-chip]").forEach((chip) =>
      chip.setAttribute("aria-pressed", String(Boolean(only) && chip.dataset.chip === only)));
    document.querySelectorAll("tr[class*='kind-']").forEach((row) => {
      row.hidden = Boolean(only) && !row.classList.contains("kind-" + only);
    });
    window.posetlib.lists.renew();
  }

  function panels() {
    return Object.keys(state.drawings);
  }

  function everywhere(action) {
    panels().forEach((panel) => { const cy = instance(panel); if (cy) action(cy, panel); });
  }

  function zoom(cy, factor) {
    if (cy.wide) return cy.zoomBy(factor);
    state.moved.add(cy);
    return cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  }

  function lookAt(number) {
    everywhere((cy, panel) => {
      if (cy.wide) return cy.lookAt([number]);
      const node = cy.$id(String(number));
      if (!node.nonempty()) return undefined;
      state.moved.add(cy);
      return fitTo(cy, node.union(neighbours(cy, panel, node)));
    });
  }

  /* Bring some filters into view, no larger than their text is made for. */
  function fitTo(cy, nodes) {
    const box = nodes.boundingBox({ includeLabels: false }), padding = 50;
    const zoom = Math.max(cy.minZoom(), Math.min(1.15, (cy.width() - 2 * padding) / box.w, (cy.height() - 2 * padding) / box.h));
    const pan = { x: cy.width() / 2 - zoom * (box.x1 + box.x2) / 2, y: cy.height() / 2 - zoom * (box.y1 + box.y2) / 2 };
    cy.stop().animate({ zoom, pan }, { duration: 250 });
  }

  /* Choose the first of some filters, and bring all of them into view with what is next to them. */
  function show(page, numbers) {
    window.dash_clientside.set_props(page + "-node", { data: numbers[0] });
    everywhere((cy, panel) => {
      if (cy.wide) return cy.lookAt(numbers);
      const nodes = numbers.reduce((all, each) => all.union(cy.$id(String(each))), cy.collection());
      if (!nodes.nonempty()) return undefined;
      state.moved.add(cy);
      const near = nodes.reduce((all, each) => all.union(neighbours(cy, panel, each)), nodes);
      return fitTo(cy, near.length < 40 ? near : nodes);
    });
  }

  function save(what, panel) {
    const cy = instance(panel), drawing = state.drawings[panel], { saving, plane } = window.posetlib;
    if (cy && drawing) return saving.save(what, saving.svgOf(cy, drawing, lookOf()), panel);
    const chart = plane.saved(panel, state.drawings);
    return chart && saving.save(what, chart, panel);
  }

  /* From the chosen filter to a parent, a child, or one beside it; whether there was one to go to. */
  function step(panel, way) {
    const cy = instance(panel), here = String(state.node);
    if (!cy || state.node === null || !(cy.wide ? cy.place.has(state.node) : cy.$id(here).nonempty())) return false;
    let to = null;
    if (way === "up") to = linked(panel, here, "parents")[0];
    if (way === "down") to = linked(panel, here, "children")[0];
    if (way === "left" || way === "right") {
      const parent = linked(panel, here, "parents")[0];
      const roots = () => (cy.wide ? cy.rootNumbers().map(String) : cy.nodes(".root").map((each) => each.id()));
      const beside = parent ? linked(panel, parent, "children") : roots();
      const place = beside.indexOf(here);
      to = beside[place + (way === "right" ? 1 : -1)];
    }
    if (to === undefined || to === null) return false;
    chosen(panel, Number(to));
    return true;
  }

  /* The ids of parents or children, from left to right, whether edges are elements or lines. */
  function linked(panel, id, side) {
    const wide = window.posetlib.wide.view(panel);
    if (wide) return wide.linked(Number(id), side).map(String);
    const drawing = state.drawings[panel], found = [], at = {};
    drawing.elements.forEach((each) => {
      if (each.position) at[each.data.id] = each.position;
      else if (side === "parents" && each.data.target === id) found.push(each.data.source);
      else if (side === "children" && each.data.source === id) found.push(each.data.target);
    });
    const nodes = drawing.elements;
    Object.values(drawing.lines || {}).forEach((ends) => {
      for (let i = 0; i < ends.length; i += 2) {
        const parent = nodes[ends[i]].data.id, child = nodes[ends[i + 1]].data.id;
        if (side === "parents" && child === id) found.push(parent);
        if (side === "children" && parent === id) found.push(child);
      }
    });
    return found.sort((one, other) => at[one].x - at[other].x || at[one].y - at[other].y);
  }

  /* Go from filter to filter as the walk of a notification did; again: stop. */
  function walk() {
    const walked = panels().filter((panel) => state.drawings[panel].walk);
    if (state.walking) return stopWalk();
    let at = 0;
    const longest = Math.max(...walked.map((panel) => state.drawings[panel].walk.length), 0);
    const next = () => {
      walked.forEach((panel) => {
        const cy = instance(panel), order = (state.drawings[panel] || {}).walk || [];
        if (!cy) return;
        if (cy.wide) { cy.walk(order.slice(0, at + 1)); return; }
        cy.nodes(".walking").removeClass("walking").addClass("walked");
        if (at < order.length) cy.$id(String(order[at])).addClass("walking");
      });
      at += 1;
      if (at > longest) stopWalk();
    };
    state.walking = setInterval(next, 450);
    next();
    return undefined;
  }

  function stopWalk() {
    clearInterval(state.walking);
    state.walking = 0;
    everywhere((cy) => (cy.wide ? cy.walk([]) : cy.nodes(".walking, .walked").removeClass("walking walked")));
  }

  function pan(cy, by) {
    if (cy.wide) return cy.panBy(by);
    state.moved.add(cy);
    return cy.panBy(by);
  }

  function fold(panel) {
    const cy = instance(panel);
    if (!cy || state.node === null) return;
    if (cy.wide) cy.fold(state.node); else askToFold(panel, cy.$id(String(state.node)));
  }

  function draw(drawings, number) {
    const before = Object.keys(state.drawings)[0], now = Object.keys(drawings)[0];
    /* What was asked of one page is not asked of the next. */
    if (before && now && pageOf(before) !== pageOf(now)) { state.only = ""; state.brushed = null; }
    state.node = number === undefined ? null : number;
    state.drawings = drawings;
    panels().forEach((panel) => whenMounted(panel, (cy) => {
      if (state.drawings[panel] === drawings[panel]) drawOne(cy, panel, drawings[panel]);
    }));
  }

  /* Mark the chosen filter everywhere; where it is folded away, ask for it. */
  function choose(number) {
    state.node = number === undefined ? null : number;
    const asked = [];
    everywhere((cy, panel) => {
      const node = pick(cy, panel);
      if (state.drawings[panel].reach && !cy.wide) find(cy, panel);
      if (cy.wide && node) return cy.bringIntoView();
      if (cy.wide || !node.nonempty()) {
        if (state.node !== null && !state.drawings[panel].whole && state.drawings[panel].around === undefined) asked.push(panel);
        return undefined;
      }
      const box = node.renderedBoundingBox();
      if (box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height()) cy.center(node);
      return undefined;
    });
    if (asked.length) request(asked, state.node, "reveal");
  }

  function search(query) {
    state.query = query || "";
    const numbers = new Set(), wanted = Boolean(state.query.trim());
    everywhere((cy, panel) => {
      const found = find(cy, panel);
      found.forEach((n) => numbers.add(cy.wide ? String(n) : n.id()));
      if (cy.wide) {
        if (found.length && found.length <= 12) cy.lookAt(found); else if (!wanted && cy.searching) cy.fit();
        cy.searching = wanted;
        return;
      }
      if (found.nonempty() && found.length <= 12) {
        state.moved.add(cy);
        fitTo(cy, found.reduce((all, each) => all.union(neighbours(cy, panel, each)), found));
      } else if (!wanted && cy.scratch("_searched")) fit(cy);
      cy.scratch("_searched", wanted);
    });
    if (!wanted) return "";
    const all = panels().every((panel) => state.drawings[panel].whole);
    return numbers.size + (all ? " found" : " found of those drawn");
  }

  function restyle() {
    everywhere((cy, panel) => {
      if (cy.wide) { cy.restyle(); return; }
      cy.style(styleOf(state.drawings[panel]));
      edges.restyle(cy, lookOf());
      window.posetlib.minimap.restyle(cy);
    });
  }

  function atStep(step) {
    return Object.values(state.drawings).every((each) => each.step === undefined || each.step === step);
  }

  window.posetlib.graphs = { atStep, brush, choose, chosen, draw, fit, fold, instance, isNear, lookAt, measure, only: () => state.only, pan, request, restyle, save, search, show, showOnly, step, tip, toggleOnly, walk, zoom };
})();
