/* The keys of the pages, the dialog that shows them, and the guide for a first visit. */
(function () {
  "use strict";

  const guide = { at: 0 };

  function dialog(id) {
    return document.getElementById(id);
  }

  function open(id) {
    const place = dialog(id);
    if (place && !place.open) place.showModal();
  }

  function point(about) {
    document.querySelectorAll(".pointed").forEach((each) => each.classList.remove("pointed"));
    const place = about && document.querySelector(about);
    if (!place) return;
    place.classList.add("pointed");
    place.scrollIntoView({ block: "nearest" });
  }

  function showStop(at) {
    const stops = Array.from(document.querySelectorAll("#guide .stop"));
    guide.at = Math.max(0, Math.min(stops.length - 1, at));
    stops.forEach((stop, i) => { stop.hidden = i !== guide.at; });
    document.getElementById("guide-back").disabled = guide.at === 0;
    document.getElementById("guide-next").textContent = guide.at === stops.length - 1 ? "Done" : "Next";
    point(stops[guide.at].dataset.about);
  }

  function openGuide() {
    const place = dialog("guide");
    if (!place || place.open) return;
    place.show();  // beside the page, which stays in sight
    showStop(0);
    document.getElementById("guide-next").focus();
  }

  function closeGuide() {
    dialog("guide").close();
    point("");
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button");
    if (!button) return;
    if (button.id === "help-open") open("help");
    if (button.id === "help-close") dialog("help").close();
    if (button.id === "guide-open") openGuide();
    if (button.id === "guide-close") closeGuide();
    if (button.id === "guide-back") showStop(guide.at - 1);
    if (button.id === "guide-next") {
      const last = document.querySelectorAll("#guide .stop").length - 1;
      if (guide.at === last) closeGuide(); else showStop(guide.at + 1);
    }
  });

  function isTyping(target) {
    return target.closest && target.closest("input, textarea, select, [contenteditable]");
  }

  /* In a list one line has the focus; arrows go on to the next, and the tabulator leaves the list. */
  function rove(event) {
    const list = event.target.closest && event.target.closest(".scroll");
    if (!list || !event.target.matches("button[data-pick]")) return false;
    const buttons = Array.from(list.querySelectorAll("button[data-pick]"));
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -buttons.length, End: buttons.length }[event.key];
    if (step === undefined) return false;
    if (step && Math.abs(step) === buttons.length && window.posetlib.lists.end(list, step > 0)) return true;
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, buttons.indexOf(event.target) + step))];
    buttons.forEach((each) => { each.tabIndex = each === next ? 0 : -1; });
    next.focus();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && dialog("guide") && dialog("guide").open) return closeGuide();
    if (rove(event)) return event.preventDefault();
    if (isTyping(event.target)) return undefined;
    if (event.key === "/") {
      const search = document.querySelector("main input[type=search]");
      if (!search) return undefined;
      search.focus();
      search.select();
      return event.preventDefault();
    }
    if (event.key === "?") {
      open("help");
      return event.preventDefault();
    }
    return undefined;
  });
})();
