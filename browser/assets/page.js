/* The page around the graphs: its buttons and keys, its themes, and what Dash calls. All
   text goes in as text, never as HTML. */
(function () {
  "use strict";

  const graphs = window.posetlib.graphs;
  const KEYS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };

  /* dash-cytoscape always hands over how fast the wheel zooms, the default too, and Cytoscape warns of
     whoever does: nothing that the reader of a console could do anything about. */
  const warn = console.warn;
  console.warn = function (first) {
    if (!String(first).startsWith("You have set a custom wheel sensitivity")) warn.apply(console, arguments);
  };

  /* -- pointer and keyboard on what is not Dash's ------------------------------------------------- */

  document.addEventListener("click", (event) => {
    const chosen = event.target.closest && event.target.closest("[data-pick]");
    if (chosen) {
      const [page, number] = chosen.dataset.pick.split(" ");
      window.dash_clientside.set_props(page + "-node", { data: Number(number) });
      if (chosen.dataset.look) graphs.lookAt(Number(number));
      return;
    }
    /* A link, which the browser itself opens elsewhere when a key asks for that. */
    const witness = event.target.closest && event.target.closest("[data-witness]");
    if (witness) {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      window.dash_clientside.set_props("runs-witness", { data: witness.dataset.witness });
      return;
    }
    const shown = event.target.closest && event.target.closest("[data-show]");
    if (shown) {
      const [page, ...numbers] = shown.dataset.show.split(" ");
      graphs.show(page, numbers.map(Number));
      return;
    }
    if (event.target.closest && event.target.closest("[data-walk]")) {
      graphs.walk();
      return;
    }
    const chip = event.target.closest && event.target.closest("[data-chip]");
    if (chip) {
      graphs.toggleOnly(chip.dataset.chip);
      return;
    }
    const button = event.target.closest && event.target.closest("[data-graph]");
    if (button) {
      const [what, panel] = button.dataset.graph.split(" ");
      const cy = graphs.instance(panel);
      if (what === "svg" || what === "png") graphs.save(what, panel);
      if (!cy) return;
      if (what === "fit") graphs.fit(cy);
      if (what === "in") graphs.zoom(cy, 1.3);
      if (what === "out") graphs.zoom(cy, 1 / 1.3);
      if (what === "fold") graphs.fold(panel);
      if (what === "full") {
        const place = button.closest(".panel");
        if (document.fullscreenElement) document.exitFullscreen(); else place.requestFullscreen();
      }
      return;
    }
    if (event.target.closest && event.target.closest("#theme")) {
      setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true);
    }
    if (event.target.closest && event.target.closest("#toggle-sources")) foldSources();
    if (event.target.closest && event.target.closest("#present, #present-end")) present();
  });

  /* Fold the panel of sources away, or bring it back. */
  function foldSources(hidden) {
    const body = document.querySelector(".body"), button = document.getElementById("toggle-sources");
    if (!body || !button) return;
    const within = document.getElementById("sources").contains(document.activeElement);
    const now = body.classList.toggle("sources-hidden", hidden);
    button.setAttribute("aria-expanded", String(!now));
    if (now && within) button.focus({ preventScroll: true });
  }

  /* Graphs and steps alone, larger, on the whole screen; again, or Escape: the page as it was. */
  function present(on) {
    const root = document.documentElement, now = root.classList.toggle("presenting", on);
    if (now && root.requestFullscreen && !document.fullscreenElement) root.requestFullscreen().catch(() => undefined);
    if (!now && document.fullscreenElement === root) document.exitFullscreen();
    const button = document.getElementById(now ? "present-end" : "present");
    if (button) button.focus({ preventScroll: true });
  }
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement && document.documentElement.classList.contains("presenting")) present(false);
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, textarea, select, dialog, .graph");
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && !typing && event.key.toLowerCase() === "p") present();
    if (event.key === "Escape" && document.documentElement.classList.contains("presenting")) present(false);
  });

  document.addEventListener("keydown", (event) => {
    const frame = event.target.classList && event.target.classList.contains("graph") ? event.target : null;
    if (!frame) return;
    const panel = frame.id.replace("graph-", ""), cy = graphs.instance(panel);
    if (!cy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (KEYS[event.key] && !event.shiftKey && graphs.step(panel, event.key.slice(5).toLowerCase())) event.stopPropagation();
    else if (KEYS[event.key]) graphs.pan(cy, { x: KEYS[event.key][0], y: KEYS[event.key][1] });
    else if (event.key === "+" || event.key === "=") graphs.zoom(cy, 1.3);
    else if (event.key === "-") graphs.zoom(cy, 1 / 1.3);
    else if (event.key === "f" || event.key === "F") graphs.fit(cy);
    else if (event.key === "Enter" || event.key === " ") graphs.fold(panel);
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
    graphs.restyle();
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

  /* The values of inputs, then the view: the view with these in it, each under a name made of its id. */
  function remembered(values, nameOf) {
    const view = Object.assign({}, values[values.length - 1]);
    const inputs = window.dash_clientside.callback_context.inputs_list;
    for (let i = 0; i < values.length - 1; i += 1) {
      const value = values[i], id = inputs[i] && inputs[i].id;
      if (!id || typeof id !== "string") continue;
      const name = nameOf(id);
      if (value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length)) delete view[name];
      else view[name] = Array.isArray(value) ? value.join(",") : String(value);
    }
    return view;
  }

  /* The source that the address was written for last. "Back" to another one opens that anew. */
  let lastSource = null;
  window.addEventListener("popstate", (event) => {
    const source = event.state && event.state.source;
    if (source && lastSource !== null && source !== lastSource) window.location.reload();
  });

  function unedited(source) {
    return JSON.stringify(Object.assign({}, JSON.parse(source), { edits: "" }));
  }

  function this_page() {
    return window.dash_clientside.callback_context.outputs_list.id.split("-")[0];
  }

  /* -- what Dash calls ----------------------------------------------------------------------------- */

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.posets = {
    draw: function (drawings, number) {
      if (drawings) graphs.draw(drawings, number);
      return window.dash_clientside.no_update;
    },
    pick: function (number) {
      graphs.choose(number);
      return window.dash_clientside.no_update;
    },
    list: function (data) {
      const input = window.dash_clientside.callback_context.inputs_list[0];
      window.posetlib.lists.make(document.getElementById(input.id.replace(/_data$/, "")), data);
      return window.dash_clientside.no_update;
    },
    room: function () {
      return graphs.measure(this_page());
    },
    centre: function (number) {
      return graphs.isNear() && number !== null ? number : window.dash_clientside.no_update;
    },
    search: function (query) {
      return graphs.search(query);
    },
    plane: function (data, number) {
      const input = window.dash_clientside.callback_context.inputs_list[0];
      window.posetlib.plane.draw(input.id.replace(/_data$/, ""), data, number);
      return window.dash_clientside.no_update;
    },
    /* Figures come without colours: they are those of the page, in its theme. */
    figure: function (data) {
      return window.posetlib.charts.themed(data);
    },
    /* A click on a curve goes to its step. */
    to_step: function (click) {
      const point = click && click.points && click.points[0];
      return point && typeof point.x === "number" ? point.x : window.dash_clientside.no_update;
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
        if (!graphs.atStep(at)) return [no, no, no];
        return at < max ? [at + 1, no, no] : [no, true, "▶ Play"];
      }
      const next = { first: 0, back: Math.max(0, at - 1), forward: Math.min(max, at + 1), last: max }[by];
      return [next === undefined ? no : next, true, "▶ Play"];
    },
    remember: function () {
      return remembered(arguments, (id) => id.slice(id.indexOf("-") + 1));
    },
    remember_apart: function () {
      return remembered(arguments, (id) => id);
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
      const source = JSON.stringify(recipe), isNew = lastSource !== null && lastSource !== source;
      /* The panel of sources has been used, and folds away; an edit by hand is made elsewhere. */
      if (isNew && unedited(lastSource) !== unedited(source)) foldSources(true);
      lastSource = source;
      if (target.length < 14000 && target !== window.location.pathname + window.location.search) {
        /* Another source is another entry of the history, so that "back" undoes it. */
        if (isNew) window.history.pushState({ source }, "", target);
        else window.history.replaceState(Object.assign({}, window.history.state, { source }), "", target);
      }
      return window.dash_clientside.no_update;
    },
    nav: function (pathname) {
      document.querySelectorAll(".nav a").forEach((link) => {
        const here = link.getAttribute("href") === pathname;
        if (here) {
          link.setAttribute("aria-current", "page");
          document.title = link.textContent + " · " + document.querySelector(".brand").textContent;
        }
        else link.removeAttribute("aria-current");
      });
      const button = document.getElementById("theme");
      if (button) button.setAttribute("aria-pressed", String(document.documentElement.dataset.theme === "dark"));
      nameSliders(0);
      return window.dash_clientside.no_update;
    },
  };
})();
