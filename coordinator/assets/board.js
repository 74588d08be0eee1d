// Steps through a game that the server has drawn: keys and clicks move the pieces of its picture. Without this script
// every step is a link.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

/** A board in the page, and where it stands. */
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

  /** What stands where: letters of a FEN by points counted from Red's left corner. */
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

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    const steps = {
      ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, ArrowUp: 0, ArrowDown: this.line.length,
      Home: 0, End: this.line.length, PageUp: this.ply - 10, PageDown: this.ply + 10,
    };
    if (event.key in steps) {
      event.preventDefault();
      this.go(steps[event.key]);
    } else if (event.key === "f" || event.key === "F") {
      const box = document.querySelector("form.judge #flip");
      const link = this.root.querySelector("[data-step=flip]");
      if (link) link.click();
      else if (box) { box.checked = !box.checked; box.form.requestSubmit(); }
    }
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(this.line.length, ply));
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
    this.tell();
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

  /** All that says where the game stands. */
  tell() {
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
    const said = this.root.querySelector(".said");
    said.textContent = now ? `${this.ply} · ${now.textContent.trim().replace(/\s+/g, " ")}` : said.dataset.said;
    this.svg.querySelector("title").textContent = said.textContent;
    this.root.querySelector("[data-now]").textContent = this.ply;
    const graph = this.root.querySelector("svg.graph");
    if (graph) {
      const x = (600 * this.ply) / Math.max(1, Number(graph.dataset.plies));
      graph.querySelector(".graph-cursor").setAttribute("transform", `translate(${x} 0)`);
    }
    const address = new URL(location.href);
    address.searchParams.set("ply", this.ply);
    history.replaceState(null, "", address);
    for (const step of this.root.querySelectorAll("[data-step]")) {
      if (step.dataset.step !== "flip") Viewer.point_to(step, this.step(step.dataset.step), this.line.length);
      else Viewer.point_to(step, this.ply, this.line.length);
    }
    for (const link of document.querySelectorAll("[data-keeps-ply]")) Viewer.point_to(link, this.ply, this.line.length);
    this.reveal();
  }

  /** A link or button that steps somewhere goes there without the script as well: it can be copied. */
  static point_to(step, ply, last) {
    const within = String(Math.max(0, Math.min(last, ply)));
    if (step.tagName === "A") step.search = step.search.replace(/ply=\d+/, `ply=${within}`);
    else step.value = within;
  }

  /** Brings the move into view within the list, and moves nothing else. */
  reveal() {
    const list = this.root.querySelector(".movelist");
    const now = list && list.querySelector("[aria-current]");
    if (now) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
}

for (const root of document.querySelectorAll(".viewer[data-line]")) new Viewer(root);

// The live board comes drawn, once a second at most.
for (const live of document.querySelectorAll(".live[data-events]")) {
  const lost = document.querySelector(".live-lost");
  const toEnd = () => {
    const list = live.querySelector(".movelist");
    if (list) list.scrollTop = list.scrollHeight;
  };
  const board = (event) => {
    live.innerHTML = event.data;
    toEnd();
  };
  window.chuhe.listen(live.dataset.events, { board }, (isLost) => lost.classList.toggle("is-hidden", !isLost));
  toEnd();
}
