// The module's functions as methods, for browsers and Node.js.

/** The address of the module beside this file. */
export const MODULE = new URL("./chuhe.wasm", import.meta.url);

const text = new TextDecoder();

async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return WebAssembly.compileStreaming(response);
}

/** An instance: one engine, one lease at a time. A search or game blocks its thread. */
export class Chuhe {
  #exports;
  #lines = [];
  #file = null;

  /**
   * `source` is an address, bytes or a compiled module. `stop` is asked during a search, and
   * between the moves of a game, whether to end it.
   */
  static async load(source = MODULE, { stop = () => false } = {}) {
    const chuhe = new Chuhe();
    const bytes = (at, count) => new Uint8Array(chuhe.#exports.memory.buffer, at, count);
    const host = {
      write: (at, count) => chuhe.#write(text.decode(bytes(at, count))),
      take: (at, count) => (chuhe.#file = bytes(at, count).slice()),
      now: () => performance.now(),
      stop: () => Number(Boolean(stop())),
    };
    const instance = await WebAssembly.instantiate(await compile(source), { host });
    chuhe.#exports = instance.exports;
    return chuhe;
  }

  #write = (line) => this.#lines.push(line);

  #call(name, input) {
    const bytes = typeof input === "string" ? new TextEncoder().encode(input) : new Uint8Array(input);
    const at = this.#exports.buffer(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    return this.#exports[name]();
  }

  #ask(name, input) {
    this.#lines = [];
    const done = this.#call(name, input);
    const answer = this.#lines.pop() ?? "";
    if (!done) throw new Error(answer);
    return answer;
  }

  /** Executes a line of UCI. Each line of the answer goes to `onLine`; returns false after `quit`. */
  uci(line, onLine = () => {}) {
    this.#write = onLine;
    try {
      return this.#call("uci", line) !== 0;
    } finally {
      this.#write = (line) => this.#lines.push(line);
    }
  }

  /** Lets UCI play with the net in these bytes; returns its hash. */
  setNet(bytes) {
    return this.#ask("set_net", bytes);
  }

  /** The nodes of the bench. */
  bench(depth = 13, { plain = false } = {}) {
    return this.#exports.bench(depth, Number(plain));
  }

  /** Judges a game: `{fen, moves, rules}`, each optional. */
  judge(game = {}) {
    return JSON.parse(this.#ask("judge", JSON.stringify(game)));
  }

  /** Takes the body of a server's answer to a request for leases; returns what it asks for. */
  takeLease(answer) {
    return JSON.parse(this.#ask("take_lease", answer));
  }

  /** Keeps a net for leases; returns its hash. */
  keepNet(bytes) {
    return this.#ask("keep_net", bytes);
  }

  /** Keeps a book for leases; returns its hash. */
  keepBook(bytes) {
    return this.#ask("keep_book", bytes);
  }

  /** Plays the next game of the lease; returns its nodes, or null if it was stopped. */
  play() {
    this.#lines = [];
    const nodes = this.#exports.play();
    if (nodes === -2) throw new Error(this.#lines.pop());
    return nodes === -1 ? null : nodes;
  }

  /** The shard of the games played so far, `{bytes, sha256}`. */
  shard() {
    this.#lines = [];
    if (!this.#exports.shard()) throw new Error(this.#lines.pop());
    const bytes = this.#file;
    this.#file = null;
    return { bytes, sha256: this.#lines.pop() };
  }
}
