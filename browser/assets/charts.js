/* Figures of Plotly in the colours of the page. */
(function () {
  "use strict";

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  const DASHES = ["solid", "dash", "dot", "dashdot"];

  /* What is not measured yet shows no axes, which would look like a result. */
  function waiting() {
    const hidden = { visible: false }, ground = colour("surface");
    return { paper_bgcolor: ground, plot_bgcolor: ground, xaxis: hidden, yaxis: hidden, annotations: [
      { text: "Working …", showarrow: false, xref: "paper", yref: "paper", x: .5, y: .5, font: { color: colour("muted"), size: 16 } }] };
  }

  /* Curves differ by colour and by their dashes; a vertical line is where the slider is. */
  function themed(figure) {
    if (!figure) return { data: [], layout: waiting() };
    const traces = figure.data.map((each, i) => Object.assign({}, each, {
      line: { color: colour("hue-" + i % 8), width: 2.5, dash: DASHES[i % DASHES.length] },
      marker: { color: colour("hue-" + i % 8), size: 6 },
    }));
    const axis = { gridcolor: colour("line"), linecolor: colour("control"), zerolinecolor: colour("control"), color: colour("text"), automargin: true };
    const layout = Object.assign({}, figure.layout, {
      paper_bgcolor: colour("surface"), plot_bgcolor: colour("surface"), autosize: true,
      font: { color: colour("text"), size: 14, family: "system-ui, sans-serif" },
      /* The title is at the left, and the buttons below each other: none covers it. */
      title: Object.assign({ x: 0, xref: "container", xanchor: "left", pad: { l: 12 }, y: .97, yanchor: "top" }, figure.layout.title,
        { font: { size: 16 } }),
      margin: { l: 60, r: 34, t: 60, b: 44 }, modebar: { orientation: "v" }, legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom" },
      hoverlabel: { bgcolor: colour("surface"), font: { color: colour("text") } },
      xaxis: Object.assign({}, axis, figure.layout.xaxis), yaxis: Object.assign({}, axis, figure.layout.yaxis),
    });
    if (figure.step !== undefined) layout.shapes = [{ type: "line", x0: figure.step, x1: figure.step, yref: "paper", y0: 0, y1: 1,
      line: { color: colour("focus"), width: 2, dash: "dash" } }];
    return { data: traces, layout };
  }

  window.posetlib = Object.assign(window.posetlib || {}, { charts: { themed } });
})();
