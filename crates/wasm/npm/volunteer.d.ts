/// <reference lib="dom" />

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
  /** Aborted to end: what is finished is uploaded, the rest released. */
  signal?: AbortSignal;
  /** The length of a lease in seconds, at most. */
  seconds?: number;
  onState?: (state: State) => void;
}

/** Plays leased games until the signal is aborted. */
export function volunteer(chuhe: Chuhe, options: VolunteerOptions): Promise<void>;
