// A worker of a coordinator: it leases games, plays and uploads them, after docs/PROTOCOL.md.

const SHARD = "application/vnd.chuhe.shard";
/** Seconds to wait after the first failure; doubled by each further one. */
const [FIRST_WAIT, LONGEST_WAIT] = [5, 300];

const sleep = (seconds) => new Promise((wake) => setTimeout(wake, 1000 * seconds));
/** A name for a request that no other has; pages without TLS have no `randomUUID`. */
const nonce = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join("-");

/** A response that says what is wrong: retrying may help for `busy` ones alone. */
class Problem extends Error {
  constructor(status, problem, wait) {
    super(problem.detail ?? `status ${status}`);
    Object.assign(this, { status, code: problem.code, wait });
  }

  get passes() {
    return this.status === 429 || this.status >= 500 || this.status === 408;
  }
}

class Server {
  constructor(address, token) {
    this.root = `${String(address).replace(/\/+$/, "")}/api/v1`;
    this.token = token;
    this.version = "0.0.0";
  }

  async send(method, path, body, more = {}) {
    const headers = { authorization: `Bearer ${this.token}`, "chuhe-version": this.version, ...more };
    if (body !== undefined) headers["content-type"] ??= "application/json";
    const isPlain = body !== undefined && typeof body !== "string" && !ArrayBuffer.isView(body);
    const sent = isPlain ? JSON.stringify(body) : body;
    const response = await fetch(this.root + path, { method, headers, body: sent, cache: "no-store" });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    throw new Problem(response.status, problem, Number(response.headers.get("retry-after")) || 0);
  }

  async ask(method, path, body, more) {
    return (await this.send(method, path, body, more)).json();
  }

  async file(path) {
    return new Uint8Array(await (await this.send("GET", path)).arrayBuffer());
  }
}

/**
 * Plays until `signal` is aborted, then uploads what is finished and releases the rest.
 * `onState` gets what there is to show: `{state, games, uploaded, nodesPerSecond, detail}`.
 */
export async function volunteer(chuhe, { server: address, token, name, signal, seconds, onState = () => {} }) {
  const server = new Server(address, token);
  const shown = { state: "starting", games: 0, uploaded: 0, nodesPerSecond: 0, detail: "" };
  const show = (change) => onState(Object.assign(shown, change) && { ...shown });
  const finishing = () => signal?.aborted ?? false;
  const aborted = new Promise((resolve) => signal?.addEventListener("abort", resolve));
  const pause = (length) => Promise.race([sleep(length), aborted]);

  /** Retries what passes by itself: a network without connection, a busy server. */
  async function insist(work) {
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        return await work();
      } catch (error) {
        // `fetch` fails with a TypeError when there is no connection.
        if (!(error instanceof TypeError || error.passes) || finishing()) throw error;
        show({ state: "retrying", detail: error.message });
        await pause(Math.max(wait, error.wait ?? 0));
      }
    }
  }

  show({});
  server.version = (await insist(() => server.ask("GET", "/server"))).version;
  show({ state: "measuring" });
  const began = performance.now();
  const signature = chuhe.bench(13, { plain: true });
  let speed = signature / ((performance.now() - began) / 1000);
  const machine = {
    name, version: server.version, bench_signature: signature, threads: 1, memory_mebibytes: 1024,
    system: "browser-wasm32", instruction_set: "simd128",
  };
  const { worker } = await insist(() => server.ask("POST", "/workers", machine));
  const heard = new Set();

  function note(notices = []) {
    for (const { shard, text } of notices) {
      if (shard) heard.add(shard);
      show({ detail: text });
    }
  }

  async function request() {
    const ask = {
      worker, nonce: nonce(), threads: 1, nodes_per_second: Math.round(speed), heard: [...heard].slice(0, 100),
    };
    if (seconds !== undefined) ask.most_seconds = seconds;
    const text = await insist(async () => (await server.send("POST", "/leases", ask)).text());
    ask.heard.forEach((shard) => heard.delete(shard));
    note(JSON.parse(text).notices);
    return chuhe.takeLease(text);
  }

  async function play(lease) {
    for (const hash of lease.nets) chuhe.keepNet(await insist(() => server.file(`/nets/${hash}`)));
    for (const hash of lease.books) chuhe.keepBook(await insist(() => server.file(`/books/${hash}`)));
    const path = `/leases/${lease.token}`;
    let [finished, heartbeat] = [0, performance.now() + 30_000];
    while (finished < lease.games && !(finishing() && (!lease.is_match || finished % 2 === 0))) {
      const start = performance.now();
      const nodes = chuhe.play();
      if (nodes === null) break;
      speed += (nodes / ((performance.now() - start) / 1000) - speed) / 8;
      finished += 1;
      show({ state: "playing", games: shown.games + 1, nodesPerSecond: Math.round(speed) });
      if (performance.now() >= heartbeat && finished < lease.games) {
        try {
          const renewed = await server.ask("POST", `${path}/renewal`, { finished });
          heartbeat = performance.now() + 1000 * (renewed.heartbeat_seconds ?? (renewed.seconds * 2) / 3);
        } catch (error) {
          if (error.code === "lease_lost") break;
          heartbeat = performance.now() + 30_000;
        }
      }
      // Messages come in between two games.
      await sleep(0);
    }
    // Half a pair of a match counts for nothing; the module leaves it out.
    if (lease.is_match) finished -= finished % 2;
    if (finished > 0) {
      show({ state: "uploading" });
      const { bytes, sha256 } = chuhe.shard();
      const more = { "content-type": SHARD, "chuhe-sha256": sha256 };
      const receipt = await insist(() => server.ask("PUT", `${path}/games/${lease.first}`, bytes, more));
      show({ uploaded: shown.uploaded + finished });
      note(receipt.notices);
    }
    if (finished < lease.games) {
      // `JSON.stringify` knows no numbers of 64 bits.
      const from = `{"from":${BigInt(lease.first) + BigInt(finished)}}`;
      await insist(() => server.send("POST", `${path}/giving-back`, from));
    }
  }

  while (!finishing()) {
    const lease = await request();
    if (lease.work === "wait") {
      show({ state: "waiting", detail: lease.reason });
      await pause(lease.seconds);
    } else {
      await play(lease);
    }
  }
  show({ state: "finished", detail: "" });
}
