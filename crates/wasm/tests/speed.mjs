// The speed of the module beside the native program, by turns: nodes of the bench per second of
// processor time, so that other programs matter less.
//
//   PACKAGE=target/npm CHUHE=target/release/chuhe node crates/wasm/tests/speed.mjs [DEPTH [ROUNDS]]
//
// The module runs in this process; its compilation by the host ends with a round that is not
// counted. CHUHE_SIMD chooses the native kernel.

import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { PUBLISHED } from "./published.mjs";

const [depth = 9, rounds = 3] = process.argv.slice(2).map(Number);
const { Chuhe } = await import(pathToFileURL(join(resolve(process.env.PACKAGE), "chuhe.js")));
const chuhe = await Chuhe.load();

function wasm(plain) {
  const before = process.cpuUsage();
  const nodes = chuhe.bench(depth, { plain });
  const used = process.cpuUsage(before);
  return nodes / ((used.user + used.system) / 1e6);
}

function native(plain) {
  const net = plain ? "" : `--net ${PUBLISHED}`;
  // The shell's `times` has the processor time of what it started.
  const script = `"$CHUHE" bench --json --depth ${depth} ${net} && times`;
  const run = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(run.stderr);
  const [line, , children] = run.stdout.trim().split("\n");
  const used = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0);
  return JSON.parse(line).nodes / used;
}

for (const plain of [false, true]) {
  wasm(plain);
  const figures = Array.from({ length: rounds }, () => [native(plain), wasm(plain)]);
  for (const [there, here] of figures) {
    console.log(
      `${plain ? "plain evaluation" : "published net"}: native ${Math.round(there / 1000)} k, ` +
        `wasm ${Math.round(here / 1000)} k nodes per second, ratio ${(here / there).toFixed(2)}`,
    );
  }
}
