/* How filters, brokers and edges look: colours of the page, sizes of letters, the style of Cytoscape's elements. */
(function () {
  "use strict";

  const MARKS = { added: "good", matched: "good", removed: "bad", failed: "bad", moved: "move", relinked: "move",
                  changed: "warn", assumed: "warn", witness: "warn", merger: "move", component: "good", covered: "warn",
                  mapped: "move" };
  const CALLED_SIZE = 11;  // pixels of text on the screen, for what is called out

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
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
      { selector: "node.called", style: { label: (n) => calledText(n, drawing), "font-size": (n) => CALLED_SIZE / n.cy().zoom(), "z-index": 12,
        "text-background-color": ground, "text-background-opacity": 1, "text-background-padding": 3, "text-background-shape": "round-rectangle",
        "text-border-color": line, "text-border-width": 1, "text-border-opacity": 1 } },
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
      /* What a chosen subscription asks for flows along active links, as their arrows say. */
      { selector: "edge.active", style: { "line-color": text, width: 5 } },
      { selector: "edge.active.forth", style: { "target-arrow-shape": "triangle", "target-arrow-color": text, "arrow-scale": 1.6 } },
      { selector: "edge.active.back", style: { "source-arrow-shape": "triangle", "source-arrow-color": text, "arrow-scale": 1.6 } },
      { selector: "edge.advertised", style: { "line-style": "dashed" } },
      { selector: "edge.idle", style: { "line-style": "dotted", width: 2 } },
      /* Messages beside the tree; the words on them lie on the bow. */
      { selector: "edge.direct", style: { "curve-style": "unbundled-bezier", "control-point-distances": -240, "control-point-weights": .5, "line-style": "dashed" } },
      { selector: "node.client.away, node.client.arriving", style: { "border-style": "dashed", "border-width": 3, "border-color": colour("warn") } },
      { selector: "node.ghost", style: { "background-opacity": .35, "border-style": "dashed", "border-width": 2, "border-color": colour("control"), color: colour("muted") } },
      { selector: "node.ghost.closed", style: { "border-style": "dotted" } },
      { selector: "edge.attachment.ghost", style: { "line-style": "dashed" } },
      { selector: "edge.attachment.away", style: { opacity: .35 } },
      { selector: "node.client.lost", style: { "border-color": colour("bad"), "border-width": 4, "border-style": "dotted" } },
      { selector: "edge.quiet", style: { "line-style": "dotted", "target-arrow-shape": "none" } },
      { selector: "edge.upward", style: { width: 3, "line-color": text, "target-arrow-color": text } },
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

  /* The colours of a mark: of its lines and border, and of its ground; none for those that step back. */
  function markColours(mark) {
    return MARKS[mark] ? { colour: colour(MARKS[mark]), ground: colour(MARKS[mark] + "-ground") } : null;
  }

  /* The text of a filter that is called out: that of its box, or, of a box without text, the filter's own. */
  function calledText(node, drawing) {
    if (drawing.text) return node.data("label");
    const text = node.data("filter") || "", cut = text.length > 72 ? text.slice(0, 71) + "…" : text;
    return [node.data("head"), ...cut.split(" and ")].join("\n");
  }

  window.posetlib = Object.assign(window.posetlib || {}, { appearance: { colour, lookOf, markColours, styleOf } });
})();
