/* The bands of the levels behind a graph, each with its name at the edge; they move with the graph. */
(function () {
  "use strict";

  const layers = new WeakMap();
  const LOW = 13;  // pixels below which a band is too low for its name

  function layerOf(cy) {
    let layer = layers.get(cy);
    if (layer) return layer;
    const place = document.createElement("div");
    place.className = "bands";
    place.setAttribute("aria-hidden", "true");
    (cy.bandsIn || cy.container().closest(".graph")).prepend(place);
    layer = { cy, place, bands: [] };
    layers.set(cy, layer);
    cy.on("viewport", () => follow(layer));
    return layer;
  }

  /* Show the bands of a drawing; one without bands clears them. */
  function show(cy, drawing) {
    if (!drawing.bands && !layers.has(cy)) return;
    const layer = layerOf(cy);
    layer.sideways = Boolean(drawing.sideways);
    layer.place.classList.toggle("sideways", layer.sideways);
    layer.bands = (drawing.bands || []).map((band) => {
      const element = document.createElement("div"), name = document.createElement("span");
      element.className = "band";
      name.textContent = band.name + " · " + band.count + (band.of > band.count ? " of " + band.of : "");
      element.append(name);
      return { band, element, name };
    });
    layer.place.replaceChildren(...layer.bands.map((each) => each.element));
    follow(layer);
  }

  function follow(layer) {
    const { cy, sideways } = layer;
    if (cy.destroyed()) return;
    const zoom = cy.zoom(), start = sideways ? cy.pan().x : cy.pan().y;
    layer.bands.forEach(({ band, element, name }) => {
      const from = start + zoom * band.from, size = zoom * (band.to - band.from);
      element.style[sideways ? "left" : "top"] = from + "px";
      element.style[sideways ? "width" : "height"] = size + "px";
      name.hidden = size < LOW;
    });
  }

  /* What draws on a canvas of its own (assets/wide.js), as far as bands and the small map ask. */
  function like(view) {
    const moved = [];
    const extent = () => {
      const w = view.width() / view.zoom, h = view.height() / view.zoom, x1 = -view.x0 / view.zoom, y1 = -view.y0 / view.zoom;
      return { x1, y1, x2: x1 + w, y2: y1 + h, w, h };
    };
    return {
      view, bandsIn: view.host, container: () => view.host, width: () => view.width(), height: () => view.height(),
      zoom: () => view.zoom, pan: () => ({ x: view.x0, y: view.y0 }), extent, scratch: () => view.box,
      destroyed: () => !view.host.isConnected, on: (_, act) => moved.push(act), move: () => moved.forEach((act) => act()),
    };
  }

  window.posetlib = Object.assign(window.posetlib || {}, { bands: { like, show } });
})();
