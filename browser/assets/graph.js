/* Draws what the server has laid out, into graphs that Dash mounts; and what a pointer does there. All
   text goes in as text, never as HTML. */
(function () {
  "use strict";

  const edges = window.posetlib.edges;
  const MARKS = { added: "good", matched: "good", removed: "bad", failed: "bad", moved: "move", relinked: "move",
                  changed: "warn", assumed: "warn", witness: "warn", merger: "move", component: "good", covered: "warn",
                  mapped: "move" };
  const state = { drawings: {}, node: null, query: "", only: "", brushed: null, serial: 0, moved: new WeakSet() };

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function instance(panel) {
    const host = document.getElementById("cy-" + panel);
    return host && host._cyreg && host._cyreg.cy && !host._cyreg.cy.destroyed() ? host._cyreg.cy : null;
  }

  function pageOf(panel) {
    return panel.slice(0, panel.indexOf("-"));
  }

  function whenMounted(panel, action, tries) {
    const cy = instance(panel);
    if (cy) action(cy);
    else if ((tries || 0) < 300) setTimeout(() => whenMounted(panel, action, (tries || 0) + 1), 20);
  }

  /* One stripe per interface at the left of a box; the rest of it is the ground for its text. */
  function stripes(node, hues, ground) {
    const shown = node.data("hues") || [];
    const mark = Object.keys(MARKS).find((name) => node.hasClass(name));
    if (mark) ground = colour(MARKS[mark] + "-ground");
    const colours = [], stops = [];
    shown.forEach((hue, i) => {
      colours.push(hues[hue % hues.length], hues[hue % hues.length]);
      stops.push(i * 4 + "%", (i + 1) * 4 + "%");
    });
    const end = shown.length * 4 + "%";
    return [colours.concat([ground, ground]).join(" "), stops.concat([end, "100%"]).join(" ")];
  }

  /* How lines on the canvas of edges look, by their mark. */
  function lookOf() {
    const dashed = { removed: true };
    const colours = { "": colour("edge"), near: colour("accent") };
    Object.entries(MARKS).forEach(([mark, name]) => { colours[mark] = colour(name); });
    return (mark) => ({ colour: colours[mark] || colours[""], dashed: Boolean(dashed[mark]) });
  }

  /* From afar the number alone is as large as its box allows. */
  function letters(node, drawing) {
    if (!node.cy().scratch("_far")) return drawing.text ? 14 : 12;
    const head = node.data("head") || "";
    return Math.min(drawing.text ? 42 : 17, (drawing.width - 12) / (0.68 * Math.max(2, head.length)));
  }

  /* Names of brokers and clients are larger from afar, as far as their boxes allow. */
  function nameLetters(node) {
    const near = node.hasClass("broker") ? 19 : 18;
    if (!node.cy().scratch("_far")) return near;
    return Math.max(near, Math.min(30, 128 / (0.6 * Math.max(2, (node.data("head") || "").length))));
  }

  /* As large as what is written in it, by the usual width of a letter. */
  function boxOf(node) {
    const lines = node.data(node.cy().scratch("_far") ? "head" : "label").split("\n"), letters = nameLetters(node);
    return [letters * (0.58 * Math.max(...lines.map((each) => each.length)) + 0.8), letters * (1.25 * lines.length + 0.4)];
  }

  function styleOf(drawing) {
    const hues = Array.from({ length: 8 }, (_, i) => colour("hue-" + i));
    const ground = colour("node"), line = colour("node-line"), text = colour("text");
    const style = [
      { selector: "node", style: {
        shape: "round-rectangle", width: drawing.width, height: drawing.height,
        "background-color": ground, "border-width": 1.5, "border-color": line,
        label: (n) => (n.cy().scratch("_far") ? n.data("head") : n.data("label")) || n.data("label"), color: text, "text-wrap": "wrap", "text-valign": "center",
        "text-halign": "center", "font-size": (n) => letters(n, drawing), "line-height": 1.2,
        "font-family": "system-ui, sans-serif",
        "min-zoomed-font-size": 4 } },
      { selector: "edge", style: {
        width: 1.5, "line-color": colour("edge"), "curve-style": "straight",
        "target-arrow-shape": "triangle", "target-arrow-color": colour("edge"), "arrow-scale": .8 } },
      { selector: "node.root", style: { "border-width": 3 } },
      { selector: "node.folded", style: { "border-style": "double", "border-width": 5 } },
    ];
    if (drawing.text) {
      style.push({ selector: "node[hues]", style: {
        "background-fill": "linear-gradient", "background-gradient-direction": "to-right",
        "background-gradient-stop-colors": (n) => stripes(n, hues, ground)[0],
        "background-gradient-stop-positions": (n) => stripes(n, hues, ground)[1] } });
    } else {
      hues.forEach((hue, i) => style.push({ selector: "node.h" + i, style: {
        "border-color": hue, "border-width": 4 } }));
    }
    Object.entries(MARKS).forEach(([mark, name]) => {
      style.push({ selector: "node." + mark, style: {
        "border-color": colour(name), "border-width": 5, "z-index": 5,
        "background-color": colour(name + "-ground") } });
      style.push({ selector: "edge." + mark, style: {
        "line-color": colour(name), "target-arrow-color": colour(name), width: 3.5, opacity: 1, "z-index": 5 } });
    });
    style.push(
      { selector: ".removed, .failed", style: { "border-style": "dashed", "line-style": "dashed" } },
      { selector: ".moved", style: { "border-style": "double", "border-width": 7 } },
      { selector: ".relinked", style: { "border-style": "dashed", "border-width": 3 } },
      { selector: ".changed, .assumed", style: { "border-style": "dotted" } },
      { selector: ".unvisited, .skipped, .pruned", style: { "border-style": "dotted" } },
      /* What steps back does so by its box: its text stays as readable as any. */
      { selector: "node.unvisited", style: { color: colour("muted"), "border-color": colour("control"), "border-width": 1, "background-color": colour("ground"), "background-fill": "solid" } },
      { selector: "node.broker", style: { shape: "ellipse", width: 120, height: 64, "font-size": 18, "font-weight": 600,
        "background-fill": "solid", "background-color": ground, "border-width": 3 } },
      { selector: "node.here", style: { shape: "hexagon", width: 140, height: 80 } },
      { selector: "edge.message", style: { label: "data(label)", "font-family": "system-ui, sans-serif", "text-wrap": "wrap", "font-size": 18, color: text,
        "text-background-color": colour("surface"), "text-background-opacity": 1, "text-background-padding": 4,
        "text-background-shape": "round-rectangle", width: 3, "curve-style": "bezier", "target-arrow-shape": "triangle", "arrow-scale": 1.4 } },
      { selector: "node.broker, node.client, node.load", style: { "font-size": (n) => nameLetters(n) } },
      { selector: "node.client", style: { shape: "round-rectangle", width: 118, height: 38,
        "background-fill": "solid", "background-color": colour("raised"), "border-width": 1.5 } },
      { selector: "node.client.matched", style: { "background-color": colour("good-ground"), "border-color": colour("good"), "border-width": 4 } },
      { selector: "node.actor", style: { "border-color": colour("move"), "background-color": colour("move-ground"), "border-width": 4, "border-style": "double" } },
      { selector: "node.broker.passed", style: { "border-color": colour("accent"), "border-width": 5 } },
      { selector: "node.load", style: { shape: "round-rectangle", width: (n) => boxOf(n)[0], height: (n) => boxOf(n)[1],
        "background-color": colour("surface"), "border-color": colour("control"), "border-width": 1, "border-style": "dashed", "z-index": 6 } },
      { selector: "node.load.now", style: { "border-color": colour("move"), "border-width": 3, "border-style": "solid", "background-color": colour("move-ground") } },
      { selector: "edge.link, edge.attachment", style: { "target-arrow-shape": "none", width: 3 } },
      { selector: "edge.attachment", style: { width: 1.5, "line-style": "dotted" } },
      { selector: "edge.way", style: { "line-color": colour("accent"), width: 7 } },
      { selector: "edge.broken", style: { "line-style": "dashed", "line-color": colour("bad") } },
      { selector: "edge.waiting, edge.moving", style: { "curve-style": "bezier", width: 4, "arrow-scale": 1.5, "z-index": 5 } },
      { selector: "edge.waiting", style: { "line-color": colour("control"), "target-arrow-color": colour("control"), "line-style": "dashed" } },
      { selector: "edge.moving", style: { "line-color": colour("move"), "target-arrow-color": colour("move"), width: 6 } },
      { selector: "edge.quiet", style: { "line-style": "dotted", "target-arrow-shape": "none" } },
      { selector: "edge.dim", style: { opacity: .2 } },
      { selector: "node.dim", style: { color: colour("muted"), "background-fill": "solid", "background-color": colour("ground"), "border-color": colour("line"), "border-width": 1, "border-style": "solid" } },
      { selector: "node.found", style: { "border-color": colour("focus"), "border-width": 6, opacity: 1, "z-index": 8 } },
      { selector: "edge.near", style: { "line-color": colour("accent"), "target-arrow-color": colour("accent"), width: 4, opacity: 1, "z-index": 9 } },
      /* The edges of the chosen filter that came and went stay apart from those that were kept. */
      { selector: "edge.near.added", style: { "line-color": colour("good"), "target-arrow-color": colour("good"), width: 5 } },
      { selector: "edge.near.removed", style: { "line-color": colour("bad"), "target-arrow-color": colour("bad"), width: 5, "line-style": "dashed" } },
      { selector: "edge.near.witness", style: { "line-color": colour("warn"), "target-arrow-color": colour("warn"), width: 5 } },
      { selector: "node.near", style: { "border-color": colour("accent"), opacity: 1 } },
      { selector: "node.walked", style: { "border-color": colour("focus"), "border-width": 4 } },
      { selector: "node.walking", style: { "border-color": colour("focus"), "border-width": 11, "z-index": 11 } },
      { selector: "node.picked", style: { "border-color": colour("accent"), "border-width": 8, "border-style": "solid", opacity: 1, "z-index": 10 } },
      /* Rectangles in the plane lie one within the other: they are seen through, the smaller ones on top. */
      { selector: "node.rect", style: { shape: "rectangle", width: "data(w)", height: "data(h)", "background-opacity": "data(faint)", "background-color": colour("hue-0"), "font-size": (n) => (n.cy().scratch("_far") ? 23 : 15),
        "border-width": 1.5, "border-color": colour("hue-0"), "z-index": "data(z)", "text-background-color": colour("surface"), "text-background-opacity": .85, "text-background-padding": 1 } },
      { selector: "node.merger-box", style: { "background-opacity": .06, "border-width": 3.5, "border-color": colour("move"), "text-valign": "top", "text-margin-y": 20 } },
      { selector: "node.inside", style: { events: "no", label: "", "border-width": 0 } },
      { selector: "node.frame", style: { events: "no", "background-opacity": 1, "background-color": colour("surface"), "border-color": colour("control"), "border-width": 1 } },
      { selector: "node.rect.component, node.rect.covered, node.rect.merger", style: { "border-width": 4 } },
      { selector: "node.rect.component, node.rect.merger", style: { "border-color": (n) => colour(n.hasClass("component") ? "good" : "move"), "background-color": (n) => colour(n.hasClass("component") ? "good" : "move") } },
      { selector: "node.rect.covered", style: { "border-color": colour("warn"), "background-color": colour("warn"), "border-style": "dotted" } },
      { selector: "node.rect.picked", style: { "border-color": colour("accent"), "border-width": 6, "border-style": "solid" } },
      { selector: "node.tick", style: { events: "no", width: 1, height: 1, "background-opacity": 0, "border-width": 0, "font-size": (n) => (n.cy().scratch("_far") ? 24 : 16), color: text } }
    );
    return style;
  }

  function prepared(elements, text) {
    if (text) return elements;
    /* Small boxes have no room for stripes: the colour of the first interface is their border. */
    return elements.map((e) => e.data.hues && e.data.hues.length
      ? Object.assign({}, e, { classes: (e.classes || "") + " h" + (e.data.hues[0] % 8) }) : e);
  }

  function drawOne(cy, panel, drawing) {
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
    if (!state.moved.has(cy)) fit(cy);
    cy.scratch("_far", isFar(cy, drawing));
    const elements = prepared(drawing.elements, drawing.text);
    const form = [drawing.text, drawing.width, drawing.height].join();
    edges.show(cy, drawing, lookOf());
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
    pick(cy, panel);
    find(cy, panel);
    state.serial += 1;
    const serial = state.serial;
    const frame = cy.container().closest(".graph");
    cy.one("render", () => { frame.dataset.drawn = drawing.nodes + "/" + drawing.edges; frame.dataset.serial = serial; });
    cy.forceRender();
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

  /* By the positions that the server gave, which needs no look at thousands of edges. */
  function fit(cy) {
    state.moved.delete(cy);
    const box = cy.scratch("_box");
    if (!box || !cy.width() || !cy.height()) return;
    const width = box.x2 - box.x1, height = box.y2 - box.y1;
    const level = Math.max(cy.minZoom(), Math.min(1.15, (cy.width() - 32) / width, (cy.height() - 32) / height));
    cy.viewport({ zoom: level, pan: {
      x: cy.width() / 2 - level * (box.x1 + box.x2) / 2,
      y: cy.height() / 2 - level * (box.y1 + box.y2) / 2 } });
  }

  /* From afar a filter shows its number alone, in letters that can be read; from near, if it is
     small, also who holds it. */
  function isFar(cy, drawing) {
    return Boolean(drawing) && cy.zoom() < (drawing.far || (drawing.text ? 0.65 : 1));
  }

  function follow(cy, panel) {
    const drawing = state.drawings[panel], far = isFar(cy, drawing);
    if (!drawing || far === cy.scratch("_far")) return;
    cy.scratch("_far", far);
    cy.nodes().updateStyle();
  }

  function bounds(drawing) {
    const box = { x1: Infinity, y1: Infinity, x2: -Infinity, y2: -Infinity };
    drawing.elements.forEach((each) => {
      if (!each.position) return;
      box.x1 = Math.min(box.x1, each.position.x - drawing.width / 2);
      box.x2 = Math.max(box.x2, each.position.x + drawing.width / 2);
      box.y1 = Math.min(box.y1, each.position.y - drawing.height / 2);
      box.y2 = Math.max(box.y2, each.position.y + drawing.height / 2);
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
      if (Number.isInteger(number)) window.dash_clientside.set_props(pageOf(panel) + "-node", { data: number });
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
      return undefined;
    });
    observer.observe(cy.container());
  }

  /* A filter of several rectangles is several elements, with one number. */
  function numberOf(node) {
    return Number(node.data("number") || node.id());
  }

  function askToFold(panel, node) {
    const number = Number(node.id());
    if (!Number.isInteger(number) || node.is(".broker, .client, .rect")) return;
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
    const data = event.target.data(), place = tooltip();
    if (data.filter === undefined && !data.tip) return;
    const lines = data.tip ? [data.tip]
      : [(data.name || "#" + data.id) + " " + data.filter, "Interfaces: " + (data.interfaces || []).join(", ")];
    if (data.marks) lines.push(data.marks.join("; "));
    if (data.why) lines.push(data.why);
    if (data.hidden) lines.push(data.hidden + " below are folded; double-click unfolds");
    place.textContent = lines.join("\n");
    place.removeAttribute("hidden");
    const at = event.originalEvent;
    const box = place.getBoundingClientRect();
    place.style.left = Math.max(4, Math.min(at.clientX + 14, innerWidth - box.width - 8)) + "px";
    place.style.top = Math.max(4, Math.min(at.clientY + 14, innerHeight - box.height - 8)) + "px";
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
    return node;
  }

  /* What was searched on another page dims nothing here, if here is no box to change it in. */
  function queryOf(panel) {
    return document.getElementById(pageOf(panel) + "-search") ? state.query.trim().toLowerCase() : "";
  }

  function find(cy, panel) {
    const query = queryOf(panel), only = state.only;
    let found = cy.collection();
    cy.batch(() => {
      cy.elements(".found, .dim").removeClass("found dim");
      if (!query && !only && !state.brushed) return;
      found = cy.nodes().filter((n) => (!only || n.hasClass(only)) && (!state.brushed || state.brushed.has(n.id())));
      if (query) {
        found = found.filter((n) => (("#" + n.id() + " " + (n.data("filter") || "") + " " +
          (n.data("interfaces") || []).join(" ")).toLowerCase()).includes(query));
      }
      const kept = only ? found.union(cy.edges("." + only)) : found;
      cy.elements().not(kept).addClass("dim");
      found.addClass("found");
    });
    edges.dim(cy, Boolean(query || only || state.brushed));
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
  }

  function panels() {
    return Object.keys(state.drawings);
  }

  function everywhere(action) {
    panels().forEach((panel) => { const cy = instance(panel); if (cy) action(cy, panel); });
  }

  function zoom(cy, factor) {
    state.moved.add(cy);
    cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  }

  function lookAt(number) {
    everywhere((cy, panel) => {
      const node = cy.$id(String(number));
      if (!node.nonempty()) return;
      state.moved.add(cy);
      fitTo(cy, node.union(neighbours(cy, panel, node)));
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
      const nodes = numbers.reduce((all, each) => all.union(cy.$id(String(each))), cy.collection());
      if (!nodes.nonempty()) return;
      state.moved.add(cy);
      const near = nodes.reduce((all, each) => all.union(neighbours(cy, panel, each)), nodes);
      fitTo(cy, near.length < 40 ? near : nodes);
    });
  }

  function save(what, panel) {
    const cy = instance(panel), drawing = state.drawings[panel];
    if (cy && drawing) window.posetlib.saving.save(what, cy, drawing, lookOf(), panel);
  }

  /* From the chosen filter to a parent, a child, or one beside it; whether there was one to go to. */
  function step(panel, way) {
    const cy = instance(panel);
    if (!cy || state.node === null) return false;
    const node = cy.$id(String(state.node));
    if (!node.nonempty()) return false;
    const ends = (each, side) => { const found = linked(panel, each, side); return found.length ? found : null; };
    let to = null;
    if (way === "up") to = (ends(node.id(), "parents") || [])[0];
    if (way === "down") to = (ends(node.id(), "children") || [])[0];
    if (way === "left" || way === "right") {
      const parent = (ends(node.id(), "parents") || [])[0];
      const beside = parent ? linked(panel, parent, "children") : cy.nodes(".root").map((each) => each.id());
      const place = beside.indexOf(node.id());
      to = beside[place + (way === "right" ? 1 : -1)];
    }
    if (to === undefined || to === null) return false;
    window.dash_clientside.set_props(pageOf(panel) + "-node", { data: Number(to) });
    return true;
  }

  /* The ids of parents or children, from left to right, whether edges are elements or lines. */
  function linked(panel, id, side) {
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
    everywhere((cy) => cy.nodes(".walking, .walked").removeClass("walking walked"));
  }

  function pan(cy, by) {
    state.moved.add(cy);
    cy.panBy(by);
  }

  function fold(panel) {
    const cy = instance(panel);
    if (cy && state.node !== null) askToFold(panel, cy.$id(String(state.node)));
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
      if (!node.nonempty()) {
        if (state.node !== null && !state.drawings[panel].whole) asked.push(panel);
        return;
      }
      const box = node.renderedBoundingBox();
      if (box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height()) cy.center(node);
    });
    if (asked.length) request(asked, state.node, "reveal");
  }

  function search(query) {
    state.query = query || "";
    const numbers = new Set(), wanted = Boolean(state.query.trim());
    everywhere((cy, panel) => {
      const found = find(cy, panel);
      found.forEach((n) => numbers.add(n.id()));
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
      cy.style(styleOf(state.drawings[panel]));
      edges.restyle(cy, lookOf());
    });
  }

  function atStep(step) {
    return Object.values(state.drawings).every((each) => each.step === undefined || each.step === step);
  }

  window.posetlib.graphs = { atStep, brush, choose, draw, fit, fold, instance, lookAt, pan, restyle, save, search, show, showOnly, step, toggleOnly, walk, zoom };
})();
