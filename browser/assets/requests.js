/* A request that fails is seen: the page says so, and its controls go back to what was answered last. */
(function () {
  "use strict";

  const fetchAsBefore = window.fetch.bind(window);
  const answered = new Map();  // the values of inputs that the server has answered to
  const MOMENTARY = new Set(["n_clicks", "n_intervals", "contents"]);  // what is no state of a control

  function banner() {
    let place = document.getElementById("banner");
    if (!place) {
      place = document.createElement("div");
      place.id = "banner";
      place.className = "banner";
      place.setAttribute("role", "alert");
      place.hidden = true;
      document.body.prepend(place);
    }
    return place;
  }

  function say(text) {
    const place = banner();
    place.textContent = text;
    place.hidden = !text;
  }

  function asked(options) {
    try { return JSON.parse(options.body); } catch (error) { return null; }
  }

  /* Inputs as "id.property" with their values; those of pattern-matching ids are lists, and are left out. */
  function values(request) {
    return ((request && request.inputs) || []).filter((each) => !Array.isArray(each))
      .map((each) => [typeof each.id === "string" ? each.id : "", each.property, each.value]);
  }

  function restore(request) {
    const changed = new Set((request && request.changedPropIds) || []);
    values(request).forEach(([id, property, value]) => {
      const key = id + "." + property;
      if (!id || MOMENTARY.has(property) || !changed.has(key) || !answered.has(key)) return;
      const before = answered.get(key);
      if (JSON.stringify(before) === JSON.stringify(value)) return;
      window.dash_clientside.set_props(id, { [property]: before });
    });
  }

  function failed(request, reason) {
    say("The server did not answer (" + reason + "): what is shown is as it was before. " +
      "Try again, or reload the page.");
    restore(request);
  }

  window.fetch = function (resource, options) {
    const address = typeof resource === "string" ? resource : (resource && resource.url) || "";
    if (!address.includes("_dash-update-component")) return fetchAsBefore(resource, options);
    const request = asked(options);
    return fetchAsBefore(resource, options).then((response) => {
      if (response.status >= 400) failed(request, "status " + response.status);
      else {
        values(request).forEach(([id, property, value]) => answered.set(id + "." + property, value));
        say("");
      }
      return response;
    }, (error) => {
      failed(request, "no connection");
      throw error;
    });
  };
})();
