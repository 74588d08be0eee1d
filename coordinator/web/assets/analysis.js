// Analyses the shown position with the engine in the browser. Nothing is loaded before it is asked.

const SVG = "http://www.w3.org/2000/svg";
const LINES = 3;

class Analysis {
  constructor(root) {
    this.root = root;
    this.viewer = root.closest(".viewer");
    this.engine = null;
    this.lines = [];
    this.isOn = false;
    this.waiting = false;
    [this.start, this.stop] = ["start", "stop"].map((name) => root.querySelector(`[data-do=${name}]`));
    this.start.addEventListener("click", () => this.begin());
    this.stop.addEventListener("click", () => this.end());
    this.viewer.addEventListener("ply", () => this.isOn && this.search());
    root.classList.remove("is-hidden");
  }

  async begin() {
    this.toggle(true);
    this.say("");
    try {
      if (!this.engine) await this.load();
      this.search();
    } catch (error) {
      this.fail(error.message);
    }
  }

  /** Loads the engine, and the champion's net by its hash. */
  async load() {
    const { Engine } = await import(`${this.root.dataset.engine}/engine.js`);
    const get = async (path) => {
      const answer = await fetch(`/api/v1${path}`);
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
      return answer;
    };
    const { champion } = (await (await get("/campaigns")).json()).find((campaign) => campaign.champion) ?? {};
    const net = champion && (await (await get(`/nets/${champion}`)).arrayBuffer());
    this.engine = new Engine({ onLine: (line) => this.read(line), onError: (text) => this.fail(text) });
    this.engine.send(`setoption name MultiPV value ${LINES}`);
    this.engine.send("setoption name Hash value 64");
    this.engine.send(`setoption name Rules value ${this.root.dataset.rules}`);
    if (net) this.engine.setNet(net);
  }

  search() {
    const { start, line } = this.viewer.dataset;
    const ply = Number(this.viewer.dataset.at ?? this.viewer.dataset.ply);
    const moves = line ? line.split(" ").slice(0, ply) : [];
    this.isRed = (start.split(" ")[1] !== "b") === (ply % 2 === 0);
    this.lines = [];
    this.waiting = true;
    this.engine.stop();
    this.engine.send("isready");
    this.next = `position fen ${start}${moves.length ? ` moves ${moves.join(" ")}` : ""}`;
  }

  read(line) {
    if (line === "readyok") {
      // Lines of the search before it have all come.
      this.waiting = false;
      if (!this.isOn) return;
      this.engine.send(this.next);
      this.engine.send("go infinite");
      return;
    }
    const found = /^info depth (\d+).* multipv (\d+) score (cp|mate) (-?\d+)(?: \w+bound)?.* nps (\d+).* pv (.+)$/.exec(line);
    if (!found || this.waiting || !this.isOn) return;
    const [, depth, number, kind, value, speed, moves] = found;
    this.lines[number - 1] = { depth, kind, value: this.isRed ? Number(value) : -Number(value), moves: moves.split(" ") };
    this.speed = Number(speed);
    this.show();
  }

  show() {
    const cell = (text, kind) => Object.assign(document.createElement("td"), { textContent: text, className: kind });
    const rows = this.lines.filter(Boolean).map(({ depth, kind, value, moves }) => {
      const row = document.createElement("tr");
      const score = kind === "cp" ? (value > 0 ? "+" : "") + (value / 100).toFixed(2) : this.mate(value);
      row.append(cell(depth, "n"), cell(score, "n"), cell(moves.slice(0, 12).join(" "), ""));
      return row;
    });
    this.root.querySelector("tbody").replaceChildren(...rows);
    this.root.querySelector(".table").classList.remove("is-hidden");
    this.say(`${this.speed.toLocaleString(document.documentElement.lang)} ${this.root.dataset.speed}`);
    this.point(this.lines[0]?.moves[0]);
  }

  mate(moves) {
    return (moves < 0 ? "−" : "+") + this.root.dataset.mate.replace("{}", Math.abs(moves));
  }

  /** Draws the best move on the board. */
  point(move) {
    const svg = this.viewer.querySelector("svg.board");
    svg.querySelector(".board-best")?.remove();
    if (!move) return;
    const isFlipped = this.viewer.dataset.flipped === "true";
    const [from, to] = [move, move.slice(2)].map((text) => {
      const [file, rank] = [text.charCodeAt(0) - 97, Number(text[1])];
      return isFlipped ? [50 + (8 - file) * 60, 42 + rank * 60] : [50 + file * 60, 42 + (9 - rank) * 60];
    });
    const line = document.createElementNS(SVG, "line");
    const places = { x1: from[0], y1: from[1], x2: to[0], y2: to[1] };
    for (const [name, value] of Object.entries(places)) line.setAttribute(name, value);
    line.setAttribute("class", "board-best");
    svg.append(line);
  }

  end() {
    this.toggle(false);
    this.engine?.stop();
    this.point(null);
  }

  toggle(isOn) {
    this.isOn = isOn;
    this.start.classList.toggle("is-hidden", isOn);
    this.stop.classList.toggle("is-hidden", !isOn);
  }

  say(text) {
    this.root.querySelector("[role=status]").textContent = text;
  }

  fail(text) {
    this.end();
    this.say(text);
  }
}

for (const root of document.querySelectorAll(".analysis[data-engine]")) new Analysis(root);
