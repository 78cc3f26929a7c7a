/* Long lists, made of text nodes: as components of Dash they would take seconds. Of a list of more than a few
   screens only the rows in sight, and some around them, are in the document; a very long one is asked for in
   windows. All text goes in as text, never as HTML. */
(function () {
  "use strict";

  const WHOLE = 150;  // rows up to which all are in the document, each as high as its text
  const AROUND = 30;  // rows beyond those in sight, on each side
  const lists = new WeakMap();

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
      button.setAttribute("aria-label", "Choose " + (cell.what || "filter") + " " + cell.text);
      return place.append(button);
    }
    if (cell.chip) return place.append(element("span", "chip " + cell.chip, cell.text));
    if (cell.code) return place.append(element("span", "filter", cell.text));
    return place.append(element("div", "muted", cell.text));
  }

  function headOf(table, data) {
    if (data.caption) table.append(element("caption", "", data.caption));
    if (!data.columns.length) return;
    const head = element("thead"), row = element("tr");
    data.columns.forEach((name) => {
      const cell = element("th", "", name);
      cell.scope = "col";
      row.append(cell);
    });
    head.append(row);
    table.append(head);
  }

  function rowOf(cells, className, place) {
    const row = element("tr", className || "");
    cells.forEach((cell) => {
      const made = element("td"), inside = place === undefined ? made : element("div", "cell");
      fill(inside, cell);
      if (inside !== made) { inside.title = inside.textContent; made.append(inside); }
      row.append(made);
    });
    if (place !== undefined) row.setAttribute("aria-rowindex", String(place + 2));
    return row;
  }

  /* A list of which only a part is in the document. Its rows are all of one height. */
  class Window {
    constructor(place) {
      this.place = place;
      this.asked = null;
      this.wanted = null;
      place.addEventListener("scroll", () => this.scrolled());
    }

    /* Take a list whole, or a window of one that the server has: rows from the one numbered first, of a total. */
    take(data) {
      const here = this.place.scrollTop;
      this.data = data;
      this.asked = null;
      this.only = "";
      this.table = element("table", "window");
      headOf(this.table, data);
      this.body = element("tbody");
      this.table.append(this.body);
      this.order = null;
      this.choose();
      this.table.setAttribute("aria-rowcount", String(this.total() + 1));
      const parts = [this.table];
      if (data.note) parts.push(element("p", "muted", data.note));
      const focused = this.focused();
      this.shown = null;
      this.place.replaceChildren(...parts);
      this.show(true);
      this.place.scrollTop = data.top ? 0 : here;
      this.show(false);
      this.refocus(focused);
    }

    /* Of a list that is here whole, the rows of one kind alone. */
    choose() {
      const only = window.posetlib.graphs.only();
      const kinds = this.data.classes.some((each) => each.includes("kind-"));
      this.order = this.data.ask || !only || !kinds ? null
        : this.data.rows.map((_, i) => i).filter((i) => (this.data.classes[i] || "").split(" ").includes("kind-" + only));
    }

    total() {
      if (this.data.ask) return this.data.total;
      return this.order ? this.order.length : this.data.rows.length;
    }

    /* Where the rows begin, and how many are in sight. A row is as high as the style says. */
    geometry() {
      const style = getComputedStyle(this.table), high = parseFloat(style.getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
      const top = this.body.offsetTop, at = Math.max(0, Math.floor((this.place.scrollTop - top) / high));
      return { high, at, count: Math.ceil(this.place.clientHeight / high) + 1 };
    }

    scrolled() {
      if (this.waiting || !this.table || !this.table.isConnected) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        const focused = this.focused();
        this.show(false);
        this.refocus(focused);
      });
    }

    show(first) {
      const { high, at, count } = this.geometry(), total = this.total();
      const from = Math.max(0, Math.min(at, total - count) - AROUND), to = Math.min(total, from + count + 2 * AROUND);
      const held = this.data.ask ? { from: this.data.first, to: this.data.first + this.data.rows.length } : { from: 0, to: total };
      if (this.data.ask && !first) this.ask(at, Math.min(total, at + count), held);
      const rows = { from: Math.max(from, held.from), to: Math.min(to, held.to) };
      if (rows.from >= rows.to) Object.assign(rows, { from, to: from });
      /* Rows that are there stay, with what has the focus among them, as long as all in sight are there. */
      const there = this.shown, last = Math.min(total, at + count);
      if (!first && there && there.from <= Math.min(at, Math.max(0, total - count)) && there.to >= last) return;
      if (!first && there && there.from === rows.from && there.to === rows.to) return;
      this.shown = rows;
      const made = [spacer(rows.from * high)];
      for (let i = rows.from; i < rows.to; i += 1) {
        const place = this.data.ask ? i - this.data.first : this.order ? this.order[i] : i;
        made.push(rowOf(this.data.rows[place], this.data.classes[place], i));
      }
      made.push(spacer((total - rows.to) * high));
      this.body.replaceChildren(...made);
      this.rove();
    }

    /* Ask the server for other rows, when those in sight are not all here; one question at a time. */
    ask(from, to, held) {
      if (from >= held.from && to <= held.to) return;
      const first = Math.max(0, Math.round((from + to - this.data.size) / 2));
      if (this.asked === first) return;
      this.asked = first;
      window.dash_clientside.set_props(this.data.ask, { data: first });
    }

    /* One button takes part in the order of the tabulator: the one that was come to last, or the first. */
    rove() {
      const buttons = Array.from(this.body.querySelectorAll("button[data-pick]"));
      const kept = buttons.find((each) => each.dataset.pick === this.wanted) || buttons[0];
      buttons.forEach((each) => { each.tabIndex = each === kept ? 0 : -1; });
    }

    focused() {
      const active = document.activeElement;
      if (active && this.place.contains(active) && active.dataset.pick) { this.wanted = active.dataset.pick; return active.dataset.pick; }
      return null;
    }

    refocus(pick) {
      if (!pick || (this.place.contains(document.activeElement) && document.activeElement !== this.place)) return;
      const button = Array.from(this.body.querySelectorAll("button[data-pick]")).find((each) => each.dataset.pick === pick);
      if (button) button.focus({ preventScroll: true });
    }

    /* To the first or the last row of all, also of those that are not here. */
    end(last) {
      this.place.scrollTop = last ? this.place.scrollHeight : 0;
    }
  }

  function spacer(height) {
    const row = element("tr", "spacer"), cell = element("td");
    row.setAttribute("aria-hidden", "true");
    cell.colSpan = 20;
    cell.style.height = Math.max(0, height) + "px";
    row.append(cell);
    row.hidden = height <= 0;
    return row;
  }

  function make(place, data) {
    if (!place || !data) return;
    if (data.ask || data.rows.length > WHOLE) {
      if (!lists.has(place)) lists.set(place, new Window(place));
      lists.get(place).take(data);
      return;
    }
    const windowed = lists.get(place);
    if (windowed) windowed.table = null;
    const table = element("table"), body = element("tbody");
    headOf(table, data);
    data.rows.forEach((cells, i) => body.append(rowOf(cells, data.classes[i])));
    table.append(body);
    const parts = data.rows.length ? [table] : [];
    if (data.note) parts.push(element("p", "muted", data.note));
    place.replaceChildren(...parts);
    window.posetlib.graphs.showOnly();
  }

  /* Rows of one kind alone, or all again, in the lists that are not whole in the document. */
  function renew() {
    document.querySelectorAll("table.window").forEach((table) => {
      const found = lists.get(table.parentElement);
      if (found && found.table === table && !found.data.ask) { found.choose(); found.show(true); }
    });
  }

  function end(place, last) {
    const found = lists.get(place);
    if (!found || !found.table) return false;
    found.end(last);
    return true;
  }

  window.posetlib = Object.assign(window.posetlib || {}, { lists: { end, make, renew } });
})();
