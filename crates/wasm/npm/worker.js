// The thread of an engine or of a volunteer. Messages: `load` first; then `line` and `net`, or
// `volunteer` and at last `finish`.

import { Chuhe } from "./chuhe.js";
import { volunteer } from "./volunteer.js";

// Shared with the page: the number of the last search that is to stop.
let flag = null;
let search = 0;
let loaded = null;
const finishing = new AbortController();
// One after another: a message waits until those before it are done.
let queue = Promise.resolve();

async function handle(data) {
  if (data.load) {
    flag = data.load.flag ?? null;
    loaded = Chuhe.load(data.load.module, { stop: () => flag !== null && Atomics.load(flag, 0) >= search });
  }
  const chuhe = await loaded;
  if (data.net) chuhe.setNet(data.net);
  if (data.line !== undefined) {
    search = data.search ?? search;
    chuhe.uci(data.line, (line) => postMessage({ line }));
  }
  if (data.volunteer) {
    const { signal } = finishing;
    await volunteer(chuhe, { ...data.volunteer, signal, onState: (state) => postMessage({ state }) });
  }
}

onmessage = ({ data }) => {
  if (data.finish) return void finishing.abort();
  queue = queue.then(() => handle(data)).catch((error) => postMessage({ error: error.message ?? String(error) }));
};
