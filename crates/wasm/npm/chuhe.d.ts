/// <reference lib="dom" />

export type RuleSet = "cxr" | "wxf" | "axf" | "wikibook" | "simple";

export interface Verdict {
  outcome: "red_wins" | "black_wins" | "draw";
  reason: string;
  /** The number of moves after which the game was over. */
  ply: number;
  english: string;
  chinese: string;
}

export interface Judgement {
  /** The position after the last move. */
  fen: string;
  /** Its legal moves; none after the end. */
  legal_moves: string[];
  verdict: Verdict | null;
}

/** An answer to a request for leases. */
export type Work =
  | { work: "wait"; seconds: number; reason: string }
  | {
      work: "games";
      token: string;
      /** The number of the first game, which may have more than 53 bits. */
      first: string;
      games: number;
      seconds: number;
      is_match: boolean;
      /** The SHA-256 of the nets and books that are not at hand yet. */
      nets: string[];
      books: string[];
    };

export type Source = string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

/** The address of the module beside this file. */
export const MODULE: URL;

/** An instance: one engine, one lease at a time. A search or game blocks its thread. */
export class Chuhe {
  /** `stop` is asked during a search, and between the moves of a game, whether to end it. */
  static load(source?: Source, options?: { stop?: () => boolean }): Promise<Chuhe>;
  /** Executes a line of UCI. Each line of the answer goes to `onLine`; returns false after `quit`. */
  uci(line: string, onLine?: (line: string) => void): boolean;
  /** Lets UCI play with the net in these bytes; returns its hash. */
  setNet(bytes: ArrayBuffer | ArrayBufferView): string;
  /** The nodes of the bench. */
  bench(depth?: number, options?: { plain?: boolean }): number;
  /** Judges a game. A refused one throws an `Error` that names the move. */
  judge(game?: { fen?: string; moves?: string[]; rules?: RuleSet }): Judgement;
  /** Takes the body of a server's answer to a request for leases. */
  takeLease(answer: string): Work;
  /** Keeps a net for leases; returns its hash. */
  keepNet(bytes: ArrayBuffer | ArrayBufferView): string;
  /** Keeps a book for leases; returns its hash. */
  keepBook(bytes: ArrayBuffer | ArrayBufferView): string;
  /** Plays the next game of the lease; returns its nodes, or null if it was stopped. */
  play(): number | null;
  /** The shard of the games played so far, and its SHA-256. */
  shard(): { bytes: Uint8Array; sha256: string };
}
