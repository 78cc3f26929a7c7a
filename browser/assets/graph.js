/* Draws what the server has laid out, into graphs that Dash mounts; and what a pointer or a key does
   there. All text goes in as text, never as HTML. */
(function () {
  "use strict";

  const KEYS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  const MARKS = { added: "good", matched: "good", removed: "bad", failed: "bad", moved: "move",
                  changed: "warn", assumed: "warn", witness: "warn" };
  const state = { drawings: {}, node: null, query: "", serial: 0, moved: new WeakSet() };

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

  function styleOf(drawing) {
    const hues = Array.from({ length: 8 }, (_, i) => colour("hue-" + i));
    const ground = colour("node"), line = colour("node-line"), text = colour("text");
    const many = drawing.edges > 1500;
    const style = [
      { selector: "node", style: {
        shape: "round-rectangle", width: drawing.width, height: drawing.height,
        "background-color": ground, "border-width": 1.5, "border-color": line,
        label: (n) => (n.cy().scratch("_far") ? n.data("head") : n.data("label")) || n.data("label"), color: text, "text-wrap": "wrap", "text-valign": "center",
        "text-halign": "center", "font-size": (n) => (!drawing.text ? 17 : n.cy().scratch("_far") ? 42 : 14), "line-height": 1.2,
        "font-family": "system-ui, sans-serif",
        "min-zoomed-font-size": 4 } },
      { selector: "edge", style: many
        ? { width: 1, "line-color": colour("edge"), "curve-style": "haystack", "haystack-radius": 0 }  // opaque: three times as fast
        : { width: 1.5, "line-color": colour("edge"), "curve-style": "straight",
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
      { selector: ".changed, .assumed", style: { "border-style": "dotted" } },
      { selector: ".unvisited, .skipped, .pruned", style: { "border-style": "dotted" } },
      { selector: ".unvisited", style: { opacity: .45 } },
      { selector: "node.broker", style: { shape: "ellipse", width: 120, height: 64, "font-size": 18, "font-weight": 600,
        "background-fill": "solid", "background-color": ground, "border-width": 3 } },
      { selector: "node.here", style: { shape: "hexagon", width: 140, height: 80 } },
      { selector: "edge.message", style: { label: "data(label)", "font-family": "system-ui, sans-serif", "text-wrap": "wrap", "font-size": 18, color: text,
        "text-background-color": colour("surface"), "text-background-opacity": 1, "text-background-padding": 4,
        "text-background-shape": "round-rectangle", width: 3, "curve-style": "bezier", "target-arrow-shape": "triangle", "arrow-scale": 1.4 } },
      { selector: "edge.quiet", style: { "line-style": "dotted", "target-arrow-shape": "none" } },
      { selector: ".dim", style: { opacity: .2 } },
      { selector: "node.found", style: { "border-color": colour("focus"), "border-width": 6, opacity: 1, "z-index": 8 } },
      { selector: "edge.near", style: { "line-color": colour("accent"), "target-arrow-color": colour("accent"), width: 4, opacity: 1, "z-index": 9 } },
      { selector: "node.near", style: { "border-color": colour("accent"), opacity: 1 } },
      { selector: "node.picked", style: { "border-color": colour("accent"), "border-width": 8, "border-style": "solid", opacity: 1, "z-index": 10 } }
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
    const animate = drawing.text && cy.nodes().length > 0 &&
      !matchMedia("(prefers-reduced-motion: reduce)").matches && !document.hidden;
    const before = {};
    if (animate) cy.nodes().forEach((n) => { before[n.id()] = Object.assign({}, n.position()); });
    listen(cy, panel);
    cy.stop(true, true);
    /* Large graphs move as pictures, and are drawn again when they rest. */
    const renderer = cy._private.renderer;
    renderer.hideEdgesOnViewport = drawing.edges > 3000;
    renderer.textureOnViewport = drawing.nodes > 600;
    tell(panel, drawing);
    cy.resize();
    cy.scratch("_box", bounds(drawing));
    if (!state.moved.has(cy)) fit(cy);
    cy.scratch("_far", isFar(cy, drawing));
    const elements = prepared(drawing.elements, drawing.text);
    const form = [drawing.text, drawing.width, drawing.height, drawing.edges > 1500].join();
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
    pick(cy);
    find(cy);
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
        if (there.data("label") !== each.data.label || there.data("filter") !== each.data.filter) {
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

  /* From afar a filter shows its number alone, in letters that can be read. */
  function isFar(cy, drawing) {
    return Boolean(drawing && drawing.text && cy.zoom() < 0.42);
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
      const chip = document.createElement("span");
      chip.className = "chip " + mark;
      chip.textContent = text;
      return chip;
    }));
    const frame = document.getElementById("graph-" + panel);
    if (frame) frame.setAttribute("aria-label", (drawing.title || panel) + ": graph of " + drawing.nodes +
      " filters and " + drawing.edges + " edges. Arrow keys move it, plus and minus zoom, F fits. The list beside it has the same filters.");
  }

  function listen(cy, panel) {
    if (cy.scratch("_listening")) return;
    cy.scratch("_listening", true);
    cy.autoungrabify(true);
    cy.autounselectify(true);
    cy.boxSelectionEnabled(false);
    cy.on("tap", "node", (event) => {
      const number = Number(event.target.id());
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

  function askToFold(panel, node) {
    const number = Number(node.id());
    if (!Number.isInteger(number)) return;
    window.dash_clientside.set_props(pageOf(panel) + "-fold_request", { data: { name: panel.slice(pageOf(panel).length + 1), number, open: node.hasClass("folded"), at: Date.now() } });
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
    if (data.filter === undefined) return;
    const lines = ["#" + data.id + " " + data.filter, "Interfaces: " + (data.interfaces || []).join(", ")];
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

  function pick(cy) {
    cy.batch(() => {
      cy.elements(".picked, .near").removeClass("picked near");
      if (state.node === null || state.node === undefined) return;
      const node = cy.$id(String(state.node));
      node.addClass("picked");
      node.connectedEdges().addClass("near").connectedNodes().not(node).addClass("near");
    });
  }

  function find(cy) {
    const query = state.query.trim().toLowerCase();
    let found = cy.collection();
    cy.batch(() => {
      cy.elements(".found, .dim").removeClass("found dim");
      if (!query) return;
      found = cy.nodes().filter((n) => (("#" + n.id() + " " + (n.data("filter") || "") + " " +
        (n.data("interfaces") || []).join(" ")).toLowerCase()).includes(query));
      cy.elements().not(found).addClass("dim");
      found.addClass("found");
    });
    return found;
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
    everywhere((cy) => {
      const node = cy.$id(String(number));
      if (!node.nonempty()) return;
      state.moved.add(cy);
      cy.stop().animate({ fit: { eles: node.closedNeighborhood(), padding: 60 } }, { duration: 250 });
    });
  }

  /* -- pointer and keyboard on what is not Dash's ------------------------------------------------- */

  document.addEventListener("click", (event) => {
    const chosen = event.target.closest && event.target.closest("[data-pick]");
    if (chosen) {
      const [page, number] = chosen.dataset.pick.split(" ");
      window.dash_clientside.set_props(page + "-node", { data: Number(number) });
      if (chosen.dataset.look) lookAt(Number(number));
      return;
    }
    const button = event.target.closest && event.target.closest("[data-graph]");
    if (button) {
      const [what, panel] = button.dataset.graph.split(" ");
      const cy = instance(panel);
      if (!cy) return;
      if (what === "fit") fit(cy);
      if (what === "in") zoom(cy, 1.3);
      if (what === "out") zoom(cy, 1 / 1.3);
      if (what === "fold" && state.node !== null) askToFold(panel, cy.$id(String(state.node)));
      return;
    }
    if (event.target.closest && event.target.closest("#theme")) {
      setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true);
    }
    if (event.target.closest && event.target.closest("#toggle-sources")) {
      const hidden = document.querySelector(".body").classList.toggle("sources-hidden");
      event.target.closest("#toggle-sources").setAttribute("aria-expanded", String(!hidden));
    }
  });

  document.addEventListener("keydown", (event) => {
    const frame = event.target.classList && event.target.classList.contains("graph") ? event.target : null;
    if (!frame) return;
    const cy = instance(frame.id.replace("graph-", ""));
    if (!cy) return;
    if (KEYS[event.key]) { state.moved.add(cy); cy.panBy({ x: KEYS[event.key][0], y: KEYS[event.key][1] }); }
    else if (event.key === "+" || event.key === "=") zoom(cy, 1.3);
    else if (event.key === "-") zoom(cy, 1 / 1.3);
    else if (event.key === "f" || event.key === "F") fit(cy);
    else return;
    event.preventDefault();
  });

  /* A file that is too large is not even read: the page says so at once. */
  function refuseLarge(event) {
    const zone = event.target.closest && event.target.closest("[data-max-bytes]");
    const files = (event.dataTransfer || event.target).files;
    if (!zone || !files) return;
    const limit = Number(zone.dataset.maxBytes);
    const total = Array.from(files).reduce((sum, file) => sum + file.size, 0);
    if (total <= limit) return;
    const name = files[0].name;  // before the list is emptied
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.target.type === "file") event.target.value = "";
    window.dash_clientside.set_props("message", { children: name + ": " + total.toLocaleString("en") +
      " bytes are more than the " + limit.toLocaleString("en") + " that an upload may have" });
  }
  document.addEventListener("change", refuseLarge, true);
  document.addEventListener("drop", refuseLarge, true);

  function setTheme(theme, keep) {
    document.documentElement.dataset.theme = theme;
    try { if (keep) localStorage.setItem("posetlib-theme", theme); } catch (error) { /* private mode */ }
    const button = document.getElementById("theme");
    if (button) button.setAttribute("aria-pressed", String(theme === "dark"));
    everywhere((cy, panel) => { cy.style(styleOf(state.drawings[panel])); });
  }
  function wantedTheme() {
    let kept = null;
    try { kept = localStorage.getItem("posetlib-theme"); } catch (error) { /* private mode */ }
    return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }
  setTheme(wantedTheme(), false);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(wantedTheme(), false));
  /* The slider's thumb has no name of its own that a screen reader could say. */
  function nameSliders(tries) {
    const thumbs = document.querySelectorAll("[data-label] [role=slider]");
    thumbs.forEach((thumb) => thumb.setAttribute("aria-label", thumb.closest("[data-label]").dataset.label));
    if (!thumbs.length && tries < 20) setTimeout(() => nameSliders(tries + 1), 150);
  }

  /* A long list, made of text nodes: as components of Dash it would take seconds. */
  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function fill(place, cell) {
    if (Array.isArray(cell)) return cell.forEach((each) => { fill(place, each); place.append(" "); });
    if (typeof cell === "string") return place.append(cell);
    if (cell.pick) {
      const button = element("button", "link", cell.text);
      button.dataset.pick = cell.pick;
      if (cell.look) button.dataset.look = "yes";
      button.setAttribute("aria-label", "Choose filter " + cell.text);
      return place.append(button);
    }
    if (cell.chip) return place.append(element("span", "chip " + cell.chip, cell.text));
    if (cell.code) return place.append(element("span", "filter", cell.text));
    return place.append(element("div", "muted", cell.text));
  }

  function makeList(place, data) {
    if (!place || !data) return;
    const table = element("table"), body = element("tbody");
    if (data.caption) table.append(element("caption", "", data.caption));
    if (data.columns.length) {
      const head = element("thead"), row = element("tr");
      data.columns.forEach((name) => {
        const cell = element("th", "", name);
        cell.scope = "col";
        row.append(cell);
      });
      head.append(row);
      table.append(head);
    }
    data.rows.forEach((cells, i) => {
      const row = element("tr", data.classes[i] || "");
      cells.forEach((cell) => { const place = element("td"); fill(place, cell); row.append(place); });
      body.append(row);
    });
    table.append(body);
    const parts = data.rows.length ? [table] : [];
    if (data.note) parts.push(element("p", "muted", data.note));
    place.replaceChildren(...parts);
  }

  /* -- what Dash calls ----------------------------------------------------------------------------- */

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.posets = {
    draw: function (drawings, number) {
      if (!drawings) return window.dash_clientside.no_update;
      state.node = number === undefined ? null : number;
      state.drawings = drawings;
      panels().forEach((panel) => whenMounted(panel, (cy) => {
        if (state.drawings[panel] === drawings[panel]) drawOne(cy, panel, drawings[panel]);
      }));
      return window.dash_clientside.no_update;
    },
    pick: function (number) {
      state.node = number === undefined ? null : number;
      everywhere((cy) => {
        pick(cy);
        const node = cy.$id(String(state.node));
        if (!node.nonempty()) return;
        const box = node.renderedBoundingBox();
        if (box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height()) cy.center(node);
      });
      return window.dash_clientside.no_update;
    },
    list: function (data) {
      const input = window.dash_clientside.callback_context.inputs_list[0];
      makeList(document.getElementById(input.id.replace(/_data$/, "")), data);
      return window.dash_clientside.no_update;
    },
    search: function (query) {
      state.query = query || "";
      const numbers = new Set();
      everywhere((cy) => {
        const found = find(cy);
        found.forEach((n) => numbers.add(n.id()));
        if (found.nonempty() && found.length <= 12) { state.moved.add(cy); cy.animate({ fit: { eles: found, padding: 80 } }, { duration: 250 }); }
        else if (!state.query.trim()) fit(cy);
      });
      return state.query.trim() ? numbers.size + " found" : "";
    },
    /* Buttons and the clock move the slider; everything else follows from the slider. */
    transport: function (first, back, play, forward, last, ticks, value, max, stopped) {
      const context = window.dash_clientside.callback_context;
      const no = window.dash_clientside.no_update;
      const by = (context.triggered_id || "").split("-").pop();
      const at = value || 0;
      if (by === "play") {
        const start = stopped;
        return [start && at >= max ? 0 : no, !start, start ? "❚❚ Pause" : "▶ Play"];
      }
      if (by === "tick") {
        if (stopped) return [no, no, no];
        const drawn = Object.values(state.drawings).every((d) => d.step === undefined || d.step === at);
        if (!drawn) return [no, no, no];
        return at < max ? [at + 1, no, no] : [no, true, "▶ Play"];
      }
      const next = { first: 0, back: Math.max(0, at - 1), forward: Math.min(max, at + 1), last: max }[by];
      return [next === undefined ? no : next, true, "▶ Play"];
    },
    remember: function () {
      /* Pairs of a name and a value, then the view: the view with these in it. */
      const view = Object.assign({}, arguments[arguments.length - 1]);
      const inputs = window.dash_clientside.callback_context.inputs_list;
      for (let i = 0; i < arguments.length - 1; i += 1) {
        const input = inputs[i];
        const value = arguments[i];
        const id = input && input.id;
        if (!id || typeof id !== "string") continue;
        const name = id.slice(id.indexOf("-") + 1);
        if (value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length)) delete view[name];
        else view[name] = Array.isArray(value) ? value.join(",") : String(value);
      }
      return view;
    },
    address: function (recipe, view) {
      if (!recipe) return window.dash_clientside.no_update;
      const query = new URLSearchParams();
      const put = (values) => Object.entries(values || {}).forEach(([name, value]) => {
        if (value !== "" && value !== null) query.set(name, value);
      });
      put(recipe);
      put(view);
      const target = window.location.pathname + "?" + query.toString();
      if (target.length < 14000 && target !== window.location.pathname + window.location.search) {
        window.history.replaceState(window.history.state, "", target);
      }
      return window.dash_clientside.no_update;
    },
    nav: function (pathname) {
      document.querySelectorAll(".nav a").forEach((link) => {
        const here = link.getAttribute("href") === pathname;
        if (here) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      });
      const button = document.getElementById("theme");
      if (button) button.setAttribute("aria-pressed", String(document.documentElement.dataset.theme === "dark"));
      nameSliders(0);
      return window.dash_clientside.no_update;
    },
  };
})();
