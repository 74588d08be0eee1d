// Steps through a game drawn by the server: keys and clicks move the pieces of its SVG. Without
// this script, every step is a link.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

/** A board in the page, with its current ply. */
class Viewer {
  constructor(root) {
    this.root = root;
    this.svg = root.querySelector("svg.board");
    this.pieces = this.svg.querySelector(".board-pieces");
    this.lastMove = this.svg.querySelector(".board-last");
    this.flipped = root.dataset.flipped === "true";
    this.line = root.dataset.line ? root.dataset.line.split(" ") : [];
    this.start = Viewer.read(root.dataset.start);
    this.ply = Number(root.dataset.ply);
    // The page holds a part of a long game; other plies are loaded.
    [this.from, this.to] = [Number(root.dataset.from), Number(root.dataset.to)];
    root.addEventListener("click", (event) => this.click(event));
    document.addEventListener("keydown", (event) => this.key(event));
    const graph = root.querySelector("svg.graph");
    if (graph) {
      graph.addEventListener("click", (event) => {
        const box = graph.getBoundingClientRect();
        this.go(Math.round(((event.clientX - box.left) / box.width) * Number(graph.dataset.plies)));
      });
    }
    this.reveal();
  }

  /** Parses a FEN's board: letters by points, counted from Red's left corner. */
  static read(fen) {
    const board = new Array(90).fill("");
    fen.split(" ")[0].split("/").forEach((row, index) => {
      let file = 0;
      for (const letter of row) {
        const empty = Number(letter);
        if (empty) file += empty;
        else board[(9 - index) * 9 + file++] = { E: "B", e: "b", H: "N", h: "n" }[letter] || letter;
      }
    });
    return board;
  }

  static point(text) {
    return Number(text[1]) * 9 + text.charCodeAt(0) - 97;
  }

  place(point) {
    const file = point % 9;
    const rank = Math.floor(point / 9);
    return this.flipped ? [50 + (8 - file) * 60, 42 + rank * 60] : [50 + file * 60, 42 + (9 - rank) * 60];
  }

  click(event) {
    const target = event.target.closest("[data-ply], [data-step]");
    if (!target || target === this.root || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (target.dataset.step === "flip") return;
    event.preventDefault();
    this.go(target.dataset.ply ? Number(target.dataset.ply) : this.step(target.dataset.step));
  }

  step(name) {
    return { first: 0, back: this.ply - 1, on: this.ply + 1, last: this.line.length }[name];
  }

  /**
   * Left and right step, unless a scrollable element has the focus. The other keys step only while
   * the board has the focus; otherwise they scroll the page.
   */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    const steps = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1 };
    const onBoard = {
      ArrowUp: 0, ArrowDown: this.line.length, Home: 0, End: this.line.length, PageUp: this.ply - 10, PageDown: this.ply + 10,
    };
    const board = this.root.querySelector(".viewer-board");
    const scrolls = event.target !== board && event.target.matches("[tabindex='0']");
    if (event.key in steps && !scrolls) {
      event.preventDefault();
      this.go(steps[event.key]);
    } else if (event.key in onBoard && board.contains(event.target)) {
      event.preventDefault();
      this.go(onBoard[event.key]);
    } else if (event.key === "f" || event.key === "F") {
      this.turn();
    }
  }

  /** Flips the board; the judge's form is resubmitted with the current ply. */
  turn() {
    const box = document.querySelector("form.judge #flip");
    const link = this.root.querySelector("[data-step=flip]");
    if (link) {
      link.click();
    } else if (box) {
      box.checked = !box.checked;
      const ply = Object.assign(document.createElement("input"), { type: "hidden", name: "ply", value: this.ply });
      box.form.append(ply);
      box.form.requestSubmit();
    }
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(this.line.length, ply));
    if (this.ply < this.from || this.ply > this.to) {
      this.load();
      return;
    }
    const board = this.start.slice();
    for (const move of this.line.slice(0, this.ply)) {
      const from = Viewer.point(move);
      board[Viewer.point(move.slice(2))] = board[from];
      board[from] = "";
    }
    this.pieces.replaceChildren(...board.flatMap((letter, point) => {
      if (!letter) return [];
      const piece = document.createElementNS(SVG, "use");
      const [x, y] = this.place(point);
      piece.setAttribute("href", `#piece-${letter}`);
      piece.setAttribute("x", x);
      piece.setAttribute("y", y);
      return [piece];
    }));
    this.markMove();
    for (const marks of this.svg.querySelectorAll(".board-marks")) {
      marks.setAttribute("display", Number(marks.dataset.ply) === this.ply ? "inline" : "none");
    }
    this.update();
  }

  /** Loads the page for a ply outside of this part. */
  load() {
    location.assign(Viewer.at(location.href, this.ply));
  }

  /** An address with its ply parameter set. */
  static at(address, ply) {
    const at = new URL(address, location.href);
    at.searchParams.set("ply", ply);
    return at;
  }

  markMove() {
    this.lastMove.setAttribute("display", this.ply ? "inline" : "none");
    if (!this.ply) return;
    const move = this.line[this.ply - 1];
    [move, move.slice(2)].forEach((text, index) => {
      const [x, y] = this.place(Viewer.point(text));
      this.lastMove.children[index].setAttribute("cx", x);
      this.lastMove.children[index].setAttribute("cy", y);
    });
  }

  /** Updates everything that depends on the current ply. */
  update() {
    let now = null;
    for (const link of this.root.querySelectorAll(".move[data-ply]")) {
      if (Number(link.dataset.ply) === this.ply) {
        link.setAttribute("aria-current", "true");
        now = link;
      } else {
        link.removeAttribute("aria-current");
      }
    }
    for (const row of this.root.querySelectorAll("[data-row]")) {
      row.classList.toggle("now", Number(row.dataset.row) === this.ply);
    }
    const caption = this.root.querySelector(".said");
    caption.textContent = now ? `${this.ply} · ${now.textContent.trim().replace(/\s+/g, " ")}` : caption.dataset.said;
    this.svg.querySelector("title").textContent = caption.textContent;
    this.root.querySelector("[data-now]").textContent = this.ply;
    const graph = this.root.querySelector("svg.graph");
    if (graph) {
      const x = (600 * this.ply) / Math.max(1, Number(graph.dataset.plies));
      graph.querySelector(".graph-cursor").setAttribute("transform", `translate(${x} 0)`);
    }
    history.replaceState(null, "", Viewer.at(location.href, this.ply));
    this.root.dataset.at = this.ply;
    this.root.dispatchEvent(new Event("ply"));
    for (const step of this.root.querySelectorAll("[data-step]")) {
      if (step.dataset.step !== "flip") Viewer.point_to(step, this.step(step.dataset.step), this.line.length);
      else Viewer.point_to(step, this.ply, this.line.length);
    }
    for (const link of document.querySelectorAll("[data-keeps-ply]")) Viewer.point_to(link, this.ply, this.line.length);
    this.reveal();
  }

  /** Sets a step's target, so that it works without the script and can be copied. */
  static point_to(step, ply, last) {
    const within = String(Math.max(0, Math.min(last, ply)));
    if (step.tagName === "A") step.href = Viewer.at(step.href, within);
    else step.value = within;
  }

  /** Scrolls the list, and nothing else, to the current move. */
  reveal() {
    const list = this.root.querySelector(".movelist");
    const now = list && list.querySelector("[aria-current]");
    if (now) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
}

for (const root of document.querySelectorAll(".viewer[data-line]")) new Viewer(root);

/**
 * The live board arrives rendered, once a second at most. Only changed parts are replaced, within
 * frames that keep their focus and scroll position.
 */
class LiveBoard {
  constructor(root) {
    this.root = root;
    this.toEnd();
  }

  list() {
    return this.root.querySelector(".movelist");
  }

  isAtEnd() {
    const list = this.list();
    return !list || list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  }

  toEnd() {
    const list = this.list();
    if (list) list.scrollTop = list.scrollHeight;
  }

  /** Whether the selection touches a part, which then stays. */
  static isMarked(part) {
    const selection = document.getSelection();
    return !selection.isCollapsed && selection.containsNode(part, true);
  }

  show(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const fresh = new Map([...page.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    const shown = [...this.root.querySelectorAll("[data-part]")];
    const follows = this.isAtEnd();
    if (!shown.length || shown.some((part) => !fresh.has(part.dataset.part))) {
      this.root.replaceChildren(...page.body.childNodes);
      this.toEnd();
      return;
    }
    for (const part of shown) {
      const { innerHTML } = fresh.get(part.dataset.part);
      if (part.innerHTML !== innerHTML && !LiveBoard.isMarked(part)) part.innerHTML = innerHTML;
    }
    if (follows) this.toEnd();
  }
}

for (const live of document.querySelectorAll(".live[data-events]")) {
  const lost = document.querySelector(".live-lost");
  const shown = new LiveBoard(live);
  const board = (event) => shown.show(event.data);
  window.chuhe.listen(live.dataset.events, { board }, (isLost) => lost.classList.toggle("is-hidden", !isLost));
}
