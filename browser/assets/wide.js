/* Graphs of thousands of filters, painted on a canvas. A painting is somewhat larger than what is seen; while
   the view moves, it moves as a picture, and the next one is painted beside it in slices of a few milliseconds,
   so that no frame waits for thousands of lines. */
(function () {
  "use strict";

  const SLICE = 9;  // milliseconds of calls in one frame
  const FRAME = 26;  // milliseconds of a frame that is too long: a browser paints what was called after the calls
  const FIRST = 60, MOST = 400;  // batches in a frame, while there is nothing to see yet, and ever
  const MARGIN = .35;  // how far a painting reaches beyond what is seen, on each side, in terms of its size
  const BATCH = 200;  // lines to a stroke, and boxes between two looks at the clock
  const NEAREST = 4, FARTHEST = .004;  // zoom
  const LEAST = 7;  // pixels that a marked box has at least
  const HUES = 8;

  const graphs = () => window.posetlib.graphs;
  const views = new Map();

  /* The sums of differences: places of parent and child in turns. */
  function ends(differences) {
    const found = Int32Array.from(differences);
    for (let i = 2; i < found.length; i += 1) found[i] += found[i - 2];
    return found;
  }

  /* The neighbours of each place, all in one array, with where each one's begin. */
  function neighboursOf(count, groups, from, to) {
    const starts = new Int32Array(count + 1);
    groups.forEach(({ places }) => { for (let i = from; i < places.length; i += 2) starts[places[i] + 1] += 1; });
    for (let i = 0; i < count; i += 1) starts[i + 1] += starts[i];
    const next = starts.slice(0, count), all = new Int32Array(starts[count]), marks = new Array(starts[count]);
    groups.forEach(({ mark, places }) => {
      for (let i = 0; i < places.length; i += 2) {
        const place = next[places[i + from]];
        next[places[i + from]] += 1;
        all[place] = places[i + to];
        marks[place] = mark;
      }
    });
    return { of: (place) => all.subarray(starts[place], starts[place + 1]), marks: (place) => marks.slice(starts[place], starts[place + 1]) };
  }

  /* Which boxes lie where, in cells about as large as a box with its surroundings. */
  function cellsOf(x, y, width, height) {
    const cells = new Map(), wide = width + 20, high = height + 18;
    const key = (column, row) => column * 1e6 + row;
    x.forEach((left, i) => {
      const name = key(Math.floor(left / wide), Math.floor(y[i] / high));
      if (!cells.has(name)) cells.set(name, []);
      cells.get(name).push(i);
    });
    return (x1, y1, x2, y2) => {
      const found = [];
      for (let c = Math.floor(x1 / wide); c <= Math.floor(x2 / wide); c += 1) {
        for (let r = Math.floor(y1 / high); r <= Math.floor(y2 / high); r += 1) found.push(...(cells.get(key(c, r)) || []));
      }
      return found;
    };
  }

  function canvasIn(host) {
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    host.append(canvas);
    return canvas;
  }

  /* Texts on lines that fit into a width, at most as many as there is room for; what is cut ends in a mark. */
  function wrapped(text, chars, most) {
    const lines = [""];
    text.split(" ").forEach((word) => {
      const last = lines[lines.length - 1];
      if (!last) lines[lines.length - 1] = word;
      else if (last.length + 1 + word.length <= chars) lines[lines.length - 1] = last + " " + word;
      else lines.push(word);
    });
    const cut = lines.map((line) => (line.length > chars ? line.slice(0, Math.max(1, chars - 1)) + "…" : line));
    return cut.length <= most ? cut : cut.slice(0, most - 1).concat(["…"]);
  }

  class View {
    constructor(panel, frame) {
      this.wide = true;
      this.panel = panel;
      this.frame = frame;
      this.host = document.createElement("div");
      this.host.className = "wide";
      frame.append(this.host);
      this.front = canvasIn(this.host);
      this.back = canvasIn(this.host);
      this.back.style.visibility = "hidden";
      this.over = canvasIn(this.host);
      this.zoom = 1;
      this.x0 = 0;  // where the origin lies on the screen
      this.y0 = 0;
      this.moved = false;
      this.picked = null;
      this.found = null;
      this.walking = [];
      this.painted = null;
      this.job = null;
      this.share = FIRST;
      this.beside = window.posetlib.bands.like(this);  // bands, and a small map
      this.observer = new ResizeObserver(() => this.resized());
      this.observer.observe(this.host);
      this.listen();
    }

    width() { return this.host.clientWidth; }

    height() { return this.host.clientHeight; }

    /* -- what there is to paint --------------------------------------------------------------------- */

    draw(drawing, done) {
      const data = drawing.wide;
      this.drawing = drawing;
      this.data = data;
      this.count = data.numbers.length;
      this.place = new Map(data.numbers.map((number, i) => [number, i]));
      this.x = Float64Array.from(data.x);
      this.y = Float64Array.from(data.y);
      this.groups = Object.entries(drawing.lines).map(([mark, differences]) => ({ mark, places: ends(differences) }))
        .sort((one, other) => one.mark.length - other.mark.length);  // what is marked comes on top
      this.below = neighboursOf(this.count, this.groups, 0, 1);
      this.above = neighboursOf(this.count, this.groups, 1, 0);
      this.cells = cellsOf(this.x, this.y, drawing.width, drawing.height);
      this.roots = new Set(data.roots);
      this.marks = new Map();  // the names of the marks of a place
      Object.entries(data.marks).forEach(([mark, places]) => places.forEach((place) =>
        this.marks.set(place, (this.marks.get(place) || []).concat([mark]))));
      this.box = this.boxOf(Array.from({ length: this.count }, (_, i) => i));
      this.walking = [];
      this.restyle();
      window.posetlib.bands.show(this.beside, drawing);
      window.posetlib.minimap.show(this.beside, this.panel, drawing, null);
      if (!this.moved) this.fit();
      this.paint(done);
    }

    holders(place) {
      const held = this.data.holders[place];
      return (Array.isArray(held) ? held : [held]).map((each) => this.data.names[each]);
    }

    hue(place) {
      const held = this.data.holders[place], first = Array.isArray(held) ? held[0] : held;
      return first === undefined ? -1 : this.data.hues[first] % HUES;
    }

    head(place) {
      const number = this.data.numbers[place], name = number < 0 ? "id " + (-1 - number) : "#" + number;
      const signs = (this.marks.get(place) || []).map((mark) => (this.data.signs[mark] || [""])[0]).join("");
      return (signs ? signs + " " : "") + name + (this.data.folded[place] ? "▸" : "");
    }

    /* What is told when the pointer rests on a filter, under the names that elements have. */
    told(place) {
      const number = this.data.numbers[place], marks = this.marks.get(place);
      return {
        id: String(number), name: number < 0 ? "id " + (-1 - number) : "", filter: this.data.texts[place],
        interfaces: this.holders(place), hidden: this.data.folded[place], why: this.data.notes[place],
        marks: marks && marks.map((mark) => (this.data.signs[mark] || ["", mark])[1]),
      };
    }

    boxOf(places) {
      const box = { x1: Infinity, y1: Infinity, x2: -Infinity, y2: -Infinity };
      const wide = this.drawing.width / 2, high = this.drawing.height / 2;
      places.forEach((i) => {
        box.x1 = Math.min(box.x1, this.x[i] - wide);
        box.x2 = Math.max(box.x2, this.x[i] + wide);
        box.y1 = Math.min(box.y1, this.y[i] - high);
        box.y2 = Math.max(box.y2, this.y[i] + high);
      });
      return box;
    }

    restyle() {
      const { colour, lookOf, markColours } = window.posetlib.appearance;
      const names = ["ground", "node", "node-line", "edge", "text", "muted", "line", "accent", "focus"];
      this.look = Object.fromEntries(names.map((name) => [name, colour(name)]));
      this.look.hues = Array.from({ length: HUES }, (_, i) => colour("hue-" + i));
      this.lineLook = lookOf();
      this.markLook = markColours;
      window.posetlib.minimap.restyle(this.beside);
      if (this.painted) this.paint();
    }

    /* -- where one looks ---------------------------------------------------------------------------- */

    viewport(zoom, x0, y0) {
      this.zoom = Math.max(FARTHEST, Math.min(NEAREST, zoom));
      this.x0 = x0;
      this.y0 = y0;
      this.follow();
    }

    lookAtBox(box, padding, largest) {
      if (!this.width() || !this.height() || !(box.x1 <= box.x2)) return;
      const zoom = Math.max(FARTHEST, Math.min(largest, (this.width() - 2 * padding) / (box.x2 - box.x1),
        (this.height() - 2 * padding) / (box.y2 - box.y1)));
      this.viewport(zoom, this.width() / 2 - zoom * (box.x1 + box.x2) / 2, this.height() / 2 - zoom * (box.y1 + box.y2) / 2);
    }

    fit() {
      this.moved = false;
      this.lookAtBox(this.box, 16, 1.15);
    }

    zoomBy(factor, x, y) {
      const zoom = Math.max(FARTHEST, Math.min(NEAREST, this.zoom * factor)), scale = zoom / this.zoom;
      const atX = x === undefined ? this.width() / 2 : x, atY = y === undefined ? this.height() / 2 : y;
      this.moved = true;
      this.viewport(zoom, atX - (atX - this.x0) * scale, atY - (atY - this.y0) * scale);
    }

    panBy(by) {
      this.moved = true;
      this.viewport(this.zoom, this.x0 + by.x, this.y0 + by.y);
    }

    /* Some filters with what is next to them, no larger than their text is made for. */
    lookAt(numbers) {
      const places = numbers.map((number) => this.place.get(number)).filter((place) => place !== undefined);
      if (!places.length) return;
      const near = places.flatMap((place) => [place, ...this.near(place)]);
      this.moved = true;
      this.lookAtBox(this.boxOf(near.length < 200 ? near : places), 50, 1.6);
    }

    near(place) {
      return [...this.above.of(place), ...this.below.of(place)];
    }

    resized() {
      if (!this.host.isConnected) return this.observer.disconnect();
      if (!this.drawing || !this.width()) return undefined;
      if (this.moved) this.paint(); else { this.fit(); this.paint(); }
      return undefined;
    }

    /* The place of a filter on the page, for pointers. */
    pointOf(number) {
      const place = this.place.get(number), box = this.host.getBoundingClientRect();
      if (place === undefined) return null;
      return [box.left + this.x0 + this.zoom * this.x[place], box.top + this.y0 + this.zoom * this.y[place]];
    }

    at(clientX, clientY) {
      const rect = this.host.getBoundingClientRect(), near = 7 / this.zoom;
      const x = (clientX - rect.left - this.x0) / this.zoom, y = (clientY - rect.top - this.y0) / this.zoom;
      const wide = this.drawing.width / 2, high = this.drawing.height / 2;
      const around = this.cells(x - wide - near, y - high - near, x + wide + near, y + high + near);
      let best = null, least = near;
      around.forEach((i) => {
        const away = Math.max(Math.abs(this.x[i] - x) - wide, Math.abs(this.y[i] - y) - high, 0);
        if (away < least || (away === 0 && best === null)) { best = i; least = away; }
      });
      return best;
    }

    /* -- choosing and finding ----------------------------------------------------------------------- */

    /* Mark a filter; whether it is here. */
    pick(number) {
      const place = number === null ? undefined : this.place.get(number);
      this.picked = place === undefined ? null : place;
      window.posetlib.minimap.pick(this.beside, number);
      this.paintOver();
      return place !== undefined;
    }

    bringIntoView() {
      if (this.picked === null) return;
      const x = this.x0 + this.zoom * this.x[this.picked], y = this.y0 + this.zoom * this.y[this.picked];
      if (x > 0 && y > 0 && x < this.width() && y < this.height()) return;
      this.moved = true;
      this.viewport(this.zoom, this.x0 + this.width() / 2 - x, this.y0 + this.height() / 2 - y);
    }

    /* Dim all but some places; null dims nothing. */
    show(places) {
      const before = this.found;
      this.found = places === null ? null : new Set(places);
      if (before || this.found) this.paint();
    }

    searched(place) {
      return ("#" + this.data.numbers[place] + " " + this.data.texts[place] + " " + this.holders(place).join(" ")).toLowerCase();
    }

    placesWith(test) {
      const found = [];
      for (let i = 0; i < this.count; i += 1) if (test(i)) found.push(i);
      return found;
    }

    /* The numbers of parents or children, from left to right. */
    linked(number, side) {
      const place = this.place.get(number);
      if (place === undefined) return [];
      return this.inOrder((side === "parents" ? this.above : this.below).of(place));
    }

    rootNumbers() {
      return this.inOrder(this.roots);
    }

    inOrder(places) {
      return Array.from(places).sort((one, other) => this.x[one] - this.x[other] || this.y[one] - this.y[other])
        .map((place) => this.data.numbers[place]);
    }

    /* The filters that a walk has visited, the last of them now. */
    walk(numbers) {
      this.walking = numbers.map((number) => this.place.get(number)).filter((place) => place !== undefined);
      this.paintOver();
    }

    /* -- painting ----------------------------------------------------------------------------------- */

    follow() {
      if (this.following) return;
      this.following = true;
      requestAnimationFrame(() => {
        this.following = false;
        if (!this.painted) return;
        this.move();
        /* A painting in work at this zoom is finished first: else none would be, while the view moves. */
        if (!(this.job && this.job.zoom === this.zoom) && this.isStale()) this.paint();
      });
    }

    move() {
      const at = this.painted, scale = this.zoom / at.zoom;
      const transform = `matrix(${scale},0,0,${scale},${this.x0 - at.x * scale},${this.y0 - at.y * scale})`;
      this.front.style.transform = transform;
      this.over.style.transform = transform;
      this.beside.move();
    }

    /* Whether the painting no longer has what is seen now, or not at this zoom. */
    isStale() {
      const at = this.painted;
      if (at.zoom !== this.zoom) return true;
      const half = MARGIN / 2, left = at.x - this.x0, top = at.y - this.y0;
      const x = left - at.marginX, y = top - at.marginY;
      return Math.abs(x) > half * this.width() || Math.abs(y) > half * this.height();
    }

    paint(done) {
      if (!this.width() || !this.height()) return;
      const whenDone = [this.job && this.job.done, done].filter(Boolean);
      if (this.job) cancelAnimationFrame(this.job.frame);
      const ratio = window.devicePixelRatio || 1;
      const marginX = Math.round(MARGIN * this.width()), marginY = Math.round(MARGIN * this.height());
      const job = {
        zoom: this.zoom, x: this.x0 + marginX, y: this.y0 + marginY, marginX, marginY, ratio,
        width: this.width() + 2 * marginX, height: this.height() + 2 * marginY,
        done: () => whenDone.forEach((each) => each()),
      };
      this.job = job;
      sized(this.back, job);
      const context = this.back.getContext("2d");
      context.setTransform(job.zoom * ratio, 0, 0, job.zoom * ratio, job.x * ratio, job.y * ratio);
      const work = this.painting(context, job);
      if (!this.painted) this.share = FIRST;
      let last = 0;
      const slice = (now) => {
        /* As many batches to a frame as let frames be short. */
        if (last && this.painted) this.share = now - last > FRAME ? Math.max(1, this.share / 2) : Math.min(MOST, this.share * 1.2);
        last = now;
        const end = performance.now() + SLICE;
        let step = work.next();
        for (let i = 1; !step.done && i < this.share && (performance.now() < end || !this.painted); i += 1) step = work.next();
        if (!step.done) { job.frame = requestAnimationFrame(slice); return; }
        this.share = Math.min(this.share, 8);
        job.frame = requestAnimationFrame(() => this.swap(job));
      };
      job.frame = requestAnimationFrame(slice);
    }

    /* The new painting takes the place of the old one. Its origin is where it was painted for. */
    swap(job) {
      [this.front, this.back] = [this.back, this.front];
      this.front.style.visibility = "";
      this.back.style.visibility = "hidden";
      this.painted = job;
      this.job = null;
      this.host.append(this.over);  // above both
      this.move();
      this.paintOver();
      job.done();
      if (this.isStale()) this.paint();
    }

    * painting(context, job) {
      const seen = { x1: -job.x / job.zoom, y1: -job.y / job.zoom,
                     x2: (job.width - job.x) / job.zoom, y2: (job.height - job.y) / job.zoom };
      const thousands = this.groups.reduce((sum, { places }) => sum + this.countSeen(places, seen), 0) / 1000;
      for (const { mark, places } of this.groups) {
        const style = this.lineLook(mark);
        /* The more lines, the fainter each: thousands of them are still seen through. */
        context.globalAlpha = mark && !this.found ? 1 : Math.max(.07, Math.min(.6, 2.5 / thousands)) * (this.found ? .4 : 1);
        context.strokeStyle = style.colour;
        context.lineWidth = (mark ? 2 : 1) / job.zoom;
        context.setLineDash(style.dashed ? [6 / job.zoom, 4 / job.zoom] : []);
        yield* this.lines(context, places, seen);
      }
      context.globalAlpha = 1;
      context.setLineDash([]);
      yield* this.boxes(context, job, seen);
    }

    countSeen(places, seen) {
      const { x, y } = this;
      let count = 0;
      for (let i = 0; i < places.length; i += 2) {
        const from = places[i], to = places[i + 1];
        if (Math.max(x[from], x[to]) >= seen.x1 && Math.min(x[from], x[to]) <= seen.x2 &&
            Math.max(y[from], y[to]) >= seen.y1 && Math.min(y[from], y[to]) <= seen.y2) count += 1;
      }
      return count;
    }

    * lines(context, places, seen) {
      const { x, y } = this;
      let count = 0;
      context.beginPath();
      for (let i = 0; i < places.length; i += 2) {
        const from = places[i], to = places[i + 1];
        const x1 = x[from], y1 = y[from], x2 = x[to], y2 = y[to];
        if (Math.max(x1, x2) < seen.x1 || Math.min(x1, x2) > seen.x2 ||
            Math.max(y1, y2) < seen.y1 || Math.min(y1, y2) > seen.y2) continue;
        context.moveTo(x1, y1);
        context.lineTo(x2, y2);
        count += 1;
        if (count % BATCH === 0) { context.stroke(); yield; context.beginPath(); }
      }
      context.stroke();
    }

    * boxes(context, job, seen) {
      const wide = this.drawing.width / 2, high = this.drawing.height / 2, later = [];
      let count = 0;
      for (let i = 0; i < this.count; i += 1) {
        if (this.x[i] + wide < seen.x1 || this.x[i] - wide > seen.x2 || this.y[i] + high < seen.y1 || this.y[i] - high > seen.y2) continue;
        if (this.marks.has(i) || (this.found && this.found.has(i))) { later.push(i); continue; }
        this.oneBox(context, job.zoom, i);
        count += 1;
        if (count % BATCH === 0) yield;
      }
      /* What is marked or found lies above the rest, and is never too small to be seen. */
      for (const i of later) {
        this.oneBox(context, job.zoom, i, later.length);
        count += 1;
        if (count % BATCH === 0) yield;
      }
    }

    oneBox(context, zoom, i, marked) {
      const look = this.look, found = this.found && this.found.has(i), dim = this.found && !found;
      const mark = (this.marks.get(i) || []).map((each) => this.markLook(each)).find(Boolean);
      const hue = this.hue(i);
      let border = hue < 0 ? look["node-line"] : look.hues[hue], ground = look.node;
      if (dim) { border = look.line; ground = look.ground; }
      else if (found) border = look.focus;
      else if (mark) { border = mark.colour; ground = mark.ground; }
      else if (this.marks.has(i)) { border = look["node-line"]; ground = look.ground; }
      const least = marked ? LEAST / zoom : 1.5 / zoom;
      const width = Math.max(this.drawing.width, least), height = Math.max(this.drawing.height, least);
      const left = this.x[i] - width / 2, top = this.y[i] - height / 2;
      context.fillStyle = border;
      context.fillRect(left, top, width, height);
      const edge = Math.max(1 / zoom, this.roots.has(i) ? 5 : 3) + (mark || found ? 2 : 0);
      if ((height - 2 * edge) * zoom > (marked ? 6 : 1)) {
        context.fillStyle = ground;
        context.fillRect(left + edge, top + edge, width - 2 * edge, height - 2 * edge);
        if (this.data.folded[i]) this.secondLine(context, left, top, width, height, edge, border);
      }
      if (zoom > .5 && !dim) this.write(context, zoom, i, look.text);
      else if (marked && marked <= 60 && !dim) this.nameBelow(context, zoom, i, top + height, look);
      else if (zoom > .5) this.write(context, zoom, i, look.muted);
    }

    secondLine(context, left, top, width, height, edge, colour) {
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.strokeRect(left + edge + 1.5, top + edge + 1.5, width - 2 * edge - 3, height - 2 * edge - 3);
    }

    /* From afar the number; from near also who holds it; from nearer the filter itself. */
    write(context, zoom, i, colour) {
      const width = this.drawing.width - 8, holders = this.holders(i).join(", ");
      let size = 12, lines = [this.head(i)];
      if (zoom > 1.6) {
        size = Math.max(3.2, 11 / zoom);
        const chars = Math.floor(width / (.54 * size)), room = Math.floor((this.drawing.height - 8) / (1.2 * size));
        lines = wrapped(this.head(i) + " " + holders, chars, 1).concat(wrapped(this.data.texts[i], chars, Math.max(1, room - 1)));
      } else if (zoom > 1) {
        size = 10;
        lines.push(...wrapped(holders, 9, 1));
      }
      size = Math.min(size, width / (.56 * Math.max(...lines.map((line) => line.length))));
      context.font = size + "px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillStyle = colour;
      lines.forEach((line, row) => context.fillText(line, this.x[i], this.y[i] + (row - (lines.length - 1) / 2) * 1.2 * size));
    }

    nameBelow(context, zoom, i, bottom, look) {
      context.font = 13 / zoom + "px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "top";
      context.lineWidth = 4 / zoom;
      context.strokeStyle = look.ground;
      context.strokeText(this.head(i), this.x[i], bottom + 2 / zoom);
      context.fillStyle = look.text;
      context.fillText(this.head(i), this.x[i], bottom + 2 / zoom);
    }

    /* The chosen filter with its lines, and the walk of a notification, on a canvas above the painting. */
    paintOver() {
      const at = this.painted;
      if (!at) return;
      const needed = this.picked !== null || this.walking.length > 0;
      this.over.style.display = needed ? "" : "none";
      if (!needed) return;
      sized(this.over, at);
      const context = this.over.getContext("2d"), look = this.look, zoom = at.zoom;
      context.setTransform(zoom * at.ratio, 0, 0, zoom * at.ratio, at.x * at.ratio, at.y * at.ratio);
      if (this.picked !== null) {
        [this.above, this.below].forEach((side) => {
          const others = side.of(this.picked), marks = side.marks(this.picked);
          others.forEach((other, i) => {
            const style = this.lineLook(marks[i] || "near");
            context.strokeStyle = style.colour;
            context.lineWidth = 3 / zoom;
            context.setLineDash(style.dashed ? [6 / zoom, 4 / zoom] : []);
            context.beginPath();
            context.moveTo(this.x[this.picked], this.y[this.picked]);
            context.lineTo(this.x[other], this.y[other]);
            context.stroke();
          });
        });
        context.setLineDash([]);
        const near = this.near(this.picked);
        near.forEach((place) => this.outlined(context, zoom, place, look.accent, 3, near.length));
        this.outlined(context, zoom, this.picked, look.accent, 7, 1);
      }
      this.walking.forEach((place, i) => this.outlined(context, zoom, place, look.focus, i === this.walking.length - 1 ? 10 : 3, 1));
    }

    outlined(context, zoom, place, colour, width, many) {
      const least = 9 / zoom, wide = Math.max(this.drawing.width, least), high = Math.max(this.drawing.height, least);
      this.oneBox(context, zoom, place, many);
      context.strokeStyle = colour;
      context.lineWidth = Math.max(width * .7, 2 / zoom);
      context.strokeRect(this.x[place] - wide / 2, this.y[place] - high / 2, wide, high);
    }

    /* -- the pointer -------------------------------------------------------------------------------- */

    listen() {
      const host = this.host, down = new Map();
      let far = 0, dragged = false;
      host.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        down.set(event.pointerId, [event.clientX, event.clientY]);
        dragged = false;
        far = 0;
        graphs().tip(null);
        this.frame.focus({ preventScroll: true });
      });
      host.addEventListener("pointermove", (event) => {
        const before = down.get(event.pointerId);
        if (!before) {
          const place = event.pointerType === "touch" ? null : this.at(event.clientX, event.clientY);
          host.style.cursor = place === null ? "" : "pointer";
          return graphs().tip(place === null ? null : this.told(place), event);
        }
        const by = { x: event.clientX - before[0], y: event.clientY - before[1] };
        far += Math.abs(by.x) + Math.abs(by.y);
        if (far > 5 && !dragged) { dragged = true; host.setPointerCapture(event.pointerId); }
        const others = Array.from(down.entries()).filter(([id]) => id !== event.pointerId);
        down.set(event.pointerId, [event.clientX, event.clientY]);
        if (others.length) return this.pinch(others[0][1], before, event);
        if (dragged) this.panBy(by);
        return undefined;
      });
      const up = (event) => {
        const was = down.delete(event.pointerId);
        if (!was || dragged || event.type !== "pointerup") return;
        const place = this.at(event.clientX, event.clientY);
        if (place !== null) graphs().chosen(this.panel, this.data.numbers[place]);
      };
      ["pointerup", "pointercancel"].forEach((name) => host.addEventListener(name, up));
      host.addEventListener("pointerleave", () => graphs().tip(null));
      host.addEventListener("dblclick", (event) => {
        const place = this.at(event.clientX, event.clientY);
        if (place !== null) this.fold(this.data.numbers[place]);
      });
      host.addEventListener("wheel", (event) => {
        event.preventDefault();
        graphs().tip(null);
        const rect = host.getBoundingClientRect(), lines = event.deltaMode === 1 ? 30 : 1;
        this.zoomBy(Math.exp(-event.deltaY * lines / 400), event.clientX - rect.left, event.clientY - rect.top);
      }, { passive: false });
    }

    pinch(other, before, event) {
      const rect = this.host.getBoundingClientRect();
      const apart = (x, y) => Math.hypot(x - other[0], y - other[1]);
      const factor = apart(event.clientX, event.clientY) / Math.max(1, apart(...before));
      this.zoomBy(factor, (event.clientX + other[0]) / 2 - rect.left, (event.clientY + other[1]) / 2 - rect.top);
    }

    fold(number) {
      const place = this.place.get(number);
      if (place === undefined || (!this.below.of(place).length && !this.data.folded[place])) return;
      graphs().request([this.panel], number, this.data.folded[place] ? "unfold" : "fold");
    }
  }

  function sized(canvas, painting) {
    canvas.width = Math.max(1, Math.round(painting.width * painting.ratio));  // which clears it
    canvas.height = Math.max(1, Math.round(painting.height * painting.ratio));
    canvas.style.width = painting.width + "px";
    canvas.style.height = painting.height + "px";
  }

  /* The canvas of a panel, if it is the one that is shown there. */
  function view(panel) {
    const found = views.get(panel);
    return found && found.host.isConnected && !found.host.hidden ? found : null;
  }

  /* Show the canvas of a panel, made if need be; or hide it, where a drawing needs none. */
  function show(panel, wanted) {
    const frame = document.getElementById("graph-" + panel);
    let found = views.get(panel);
    if (found && found.frame !== frame) { found.observer.disconnect(); views.delete(panel); found = null; }
    if (!found && wanted && frame) { found = new View(panel, frame); views.set(panel, found); }
    if (found) { found.host.hidden = !wanted; found.beside.move(); }
    return wanted ? found : null;
  }

  window.posetlib = Object.assign(window.posetlib || {}, { wide: { ends, show, view } });
})();
