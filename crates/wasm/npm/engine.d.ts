/// <reference lib="dom" />

export interface EngineOptions {
  onLine?: (line: string) => void;
  onError?: (sentence: string) => void;
  /** The address of `chuhe.wasm`, if it is not beside the scripts. */
  module?: string | URL;
  /** The address of `worker.js`, if it is not beside the scripts. */
  worker?: string | URL;
}

/** An engine on a thread of its own: UCI over messages. For browsers. */
export class Engine {
  constructor(options?: EngineOptions);
  /** Sends a line of UCI. */
  send(line: string): void;
  /** Lets the engine play with a net, given as bytes. */
  setNet(bytes: ArrayBuffer | ArrayBufferView): void;
  /** Ends the search: at once on an isolated page, elsewhere by another thread with an empty table. */
  stop(): void;
  /** Ends the thread. */
  terminate(): void;
}
