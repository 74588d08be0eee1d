// An engine on a thread of its own: UCI over messages.

/**
 * Lines go in by `send` and come out by `onLine`. `stop` ends a search at once where the page is
 * isolated (COOP and COEP). Elsewhere it starts another thread, whose table is empty, and answers
 * `bestmove` with the first move of the last line.
 */
export class Engine {
  #worker = null;
  #flag = null;
  #options = new Map();
  #net = null;
  #position = null;
  // The searches begun, and those that have ended.
  #begun = 0;
  #ended = 0;
  #best = null;

  constructor({ onLine = () => {}, onError = () => {}, module = undefined, worker = undefined } = {}) {
    Object.assign(this, { onLine, onError, module });
    this.workerAddress = worker ?? new URL("./worker.js", import.meta.url);
    if (globalThis.crossOriginIsolated) this.#flag = new Int32Array(new SharedArrayBuffer(4));
    this.#start();
  }

  #start() {
    this.#worker = new Worker(this.workerAddress, { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = (event) => this.onError(event.message || "the engine could not be loaded");
    this.#worker.postMessage({ load: { module: this.module && String(this.module), flag: this.#flag } });
    if (this.#net) this.#worker.postMessage({ net: this.#net });
    for (const line of this.#options.values()) this.#worker.postMessage({ line });
    if (this.#position) this.#worker.postMessage({ line: this.#position });
  }

  #receive({ line, error }) {
    if (error !== undefined) return this.onError(error);
    if (line.startsWith("bestmove")) this.#ended += 1;
    const [, first] = / pv (\S+)/.exec(line) ?? [];
    this.#best = first ?? this.#best;
    this.onLine(line);
  }

  /** Sends a line of UCI. */
  send(line) {
    const [, word, name] = /^\s*(\S*)(?:\s+name\s+(.*?)(?:\s+value\b.*)?$)?/.exec(line) ?? [];
    if (word === "stop") return this.stop();
    if (word === "setoption" && name) this.#options.set(name.toLowerCase(), line);
    if (word === "position") this.#position = line;
    if (word === "go") {
      this.#begun += 1;
      this.#best = null;
    }
    this.#worker.postMessage({ line, search: this.#begun });
  }

  /** Lets the engine play with a net, given as bytes. */
  setNet(bytes) {
    this.#net = bytes;
    this.#worker.postMessage({ net: bytes });
  }

  /** Ends the search. */
  stop() {
    if (this.#ended === this.#begun) return;
    if (this.#flag) {
      // Also a search that the thread has not begun yet.
      Atomics.store(this.#flag, 0, this.#begun);
      return;
    }
    this.#worker.terminate();
    this.#ended = this.#begun;
    this.#start();
    this.onLine(`bestmove ${this.#best ?? "(none)"}`);
  }

  /** Ends the thread. */
  terminate() {
    this.#worker.terminate();
  }
}
