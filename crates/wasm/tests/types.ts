// Uses each type of the package; `package.test.mjs` compiles it.

import { Chuhe, MODULE, type Judgement } from "chuhe";
import { Engine } from "chuhe/engine";
import { volunteer } from "chuhe/volunteer";

const chuhe = await Chuhe.load(MODULE, { stop: () => false });
const judged: Judgement = chuhe.judge({ moves: ["h2e2"], rules: "cxr" });
const engine = new Engine({ onLine: (line: string) => line, module: new URL("https://example.org/chuhe.wasm") });
engine.send(`position fen ${judged.fen}`);
await volunteer(chuhe, { server: "https://example.org", token: "t", name: "n", signal: new AbortController().signal });
// @ts-expect-error: there are no such rules.
chuhe.judge({ rules: "none" });
