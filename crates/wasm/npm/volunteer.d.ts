import type { Chuhe } from "./chuhe.js";

export interface State {
  state: "starting" | "measuring" | "waiting" | "playing" | "uploading" | "retrying" | "finished";
  /** Games played, and those uploaded. */
  games: number;
  uploaded: number;
  nodesPerSecond: number;
  /** A sentence of the server or of the network. */
  detail: string;
}

export interface VolunteerOptions {
  server: string | URL;
  token: string;
  /** The worker's name. */
  name: string;
  /** The length of a lease in seconds, at most. */
  seconds?: number;
  onState?: (state: State) => void;
}

/** Plays leased games until the event `finish` is dispatched on `globalThis`. */
export function volunteer(chuhe: Chuhe, options: VolunteerOptions): Promise<void>;
