// The path of the published net, which is inside the package.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const source = readFileSync(new URL("../../engine/src/published.rs", import.meta.url), "utf8");
export const PUBLISHED = resolve("nets", source.match(/const NAME: &str = "([^"]+)"/)[1], "net.nnue");
