// The npm package beside the native program: equal counts, verdicts and bytes. TYPESCRIPT, the folder
// where npm installed TypeScript, lets it test the types too.
//
//   PACKAGE=target/npm CHUHE=target/debug/chuhe node --test crates/wasm/tests

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import { PUBLISHED } from "./published.mjs";

const PACKAGE = resolve(process.env.PACKAGE);
const CHUHE = resolve(process.env.CHUHE);
// A net that is not inside.
const OTHER = resolve("nets/gen1-256/net.nnue");
const { Chuhe } = await import(pathToFileURL(join(PACKAGE, "chuhe.js")));

const folder = mkdtempSync(join(tmpdir(), "chuhe-wasm-"));
after(() => rmSync(folder, { recursive: true }));
const native = (...args) => execFileSync(CHUHE, args, { encoding: "utf8" });
const load = (options) => Chuhe.load(undefined, options);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("the bench has the count of the native engine", async () => {
  const chuhe = await load();
  for (const [depth, plain] of [[8, true], [7, false]]) {
    const args = ["bench", "--json", "--depth", String(depth), ...(plain ? [] : ["--net", PUBLISHED])];
    assert.equal(chuhe.bench(depth, { plain }), JSON.parse(native(...args)).nodes);
  }
});

/** What the native engine writes for these lines of UCI. */
function searched(lines) {
  return new Promise((resolve, reject) => {
    let text = "";
    const engine = spawn(CHUHE, ["uci"]);
    engine.on("error", reject).on("close", () => resolve(text));
    engine.stdout.on("data", (part) => {
      text += part;
      // At the end of its input a session stops the search.
      if (/^bestmove/m.test(text)) engine.stdin.end();
    });
    engine.stdin.write(`${lines.join("\n")}\n`);
  });
}

test("a search writes the lines of the native engine, with the net inside and with another", async () => {
  const lines = ["position startpos moves h2e2 h9g7", "go nodes 30000"];
  const chuhe = await load();
  for (const net of [null, OTHER]) {
    if (net) assert.equal(chuhe.setNet(readFileSync(net)), sha256(readFileSync(net)));
    const written = [];
    for (const line of lines) chuhe.uci(line, (line) => written.push(line));
    const expected = await searched([...(net ? [`setoption name EvalFile value ${net}`] : []), ...lines]);
    // What is left out depends on the clock, and the name of the net on its place.
    const plain = (line) => line.replace(/ nps \d+| time \d+/g, "");
    const kept = (line) => !/^info string playing with net /.test(line);
    assert.ok(written.length > 5);
    assert.deepEqual(written.filter(kept).map(plain), expected.trim().split("\n").filter(kept).map(plain));
    assert.match(written.at(-1), /^bestmove [a-i]\d[a-i]\d/);
  }
  assert.throws(() => chuhe.setNet(new Uint8Array(9)), { message: /not a Chuhe net/ });
});

test("a search ends when the host says stop", async () => {
  let asked = 0;
  const chuhe = await load({ stop: () => (asked += 1) > 3 });
  const written = [];
  chuhe.uci("go infinite", (line) => written.push(line));
  assert.match(written.at(-1), /^bestmove /);
});

/** A lease as a coordinator's answer has it. */
function answer(terms, games) {
  return `{"work":"games","token":"t","terms":${terms},"games":${games},"seconds":900}`;
}

test("the games of a lease are those of the native worker, to the byte", async () => {
  const chuhe = await load();
  const signature = JSON.parse(native("bench", "--json")).nodes;
  for (const file of [null, PUBLISHED, OTHER]) {
    const net = file && sha256(readFileSync(file));
    const out = join(folder, net ?? "plain");
    // The seed has more than 53 bits.
    native(
      "selfplay", "--games", "3", "--first", "5", "--seed", "18446744073709551557", "--rules", "wxf", "--nodes", "400",
      "--hash", "2", "--ply-cap", "120", "--random-plies", "6", "--out", out, ...(net ? ["--net", file] : []),
    );
    const [shard] = readdirSync(out).filter((name) => name.endsWith(".chuhe"));
    const expected = readFileSync(join(out, shard));
    const terms =
      `{"bench_signature":${signature},${net ? `"net":"${net}",` : ""}"rules":"wxf","settings":{"hash_mebibytes":2,` +
      `"hard_nodes":400,"adjudication":{},"ply_cap":120},"openings":{"plies":6},"seed":18446744073709551557,"first_game":5}`;
    const work = chuhe.takeLease(answer(terms, 3));
    assert.deepEqual([work.games, work.first, work.nets], [3, "5", file === OTHER ? [net] : []]);
    if (file === OTHER) assert.equal(chuhe.keepNet(readFileSync(file)), net);
    for (let game = 0; game < 3; game += 1) assert.ok(chuhe.play() > 0);
    assert.deepEqual(Buffer.from(chuhe.shard().bytes), expected);
    assert.equal(chuhe.shard().sha256, sha256(expected));
  }
});

test("what is wrong with a lease is one sentence", async () => {
  const chuhe = await load();
  const settings = `"settings":{"hash_mebibytes":2,"hard_nodes":400,"ply_cap":120},"openings":{"plies":6},"seed":1,"first_game":0`;
  assert.throws(() => chuhe.play(), { message: "there is no lease" });
  assert.throws(() => chuhe.takeLease("{"), { message: /^EOF/ });
  chuhe.takeLease(answer(`{"bench_signature":1,"rules":"cxr",${settings}}`, 1));
  assert.throws(() => chuhe.play(), { message: /bench signature 1; that of this one is/ });
  const signature = chuhe.bench(13, { plain: true });
  const net = "ab".repeat(32);
  const work = chuhe.takeLease(answer(`{"bench_signature":${signature},"net":"${net}","rules":"cxr",${settings}}`, 1));
  assert.deepEqual(work.nets, [net]);
  assert.throws(() => chuhe.play(), { message: `the net ${net} is missing` });
  assert.throws(() => chuhe.keepNet(new Uint8Array(9)), { message: /not a Chuhe net/ });
});

test("the arbiter judges as the native one", async () => {
  const chuhe = await load();
  // Black's horse is to move.
  const fen = "4k4/9/9/9/2n6/9/9/2R6/4A4/4K4 b";
  const start = chuhe.judge({ fen });
  assert.equal(start.verdict, null);
  assert.ok(start.legal_moves.includes("c5e4"));
  const tour = JSON.parse(readFileSync("coordinator/web/assets/tour.json", "utf8"));
  const moves = [...tour.opening, ...tour.moves.map(([move]) => move)];
  const { verdict } = chuhe.judge({ fen: tour.start, moves });
  assert.deepEqual([verdict.outcome, verdict.reason, verdict.ply], ["red_wins", "perpetual_chase", moves.length]);
  assert.match(verdict.chinese, /捉/);
  const simple = chuhe.judge({ fen: tour.start, moves, rules: "simple" });
  assert.equal(simple.verdict?.outcome, "draw");
  assert.throws(() => chuhe.judge({ moves: ["h2e2", "h2e2"] }), { message: /^move 2: `h2e2`/ });
});

test("the package is packed, installed into an empty folder and used", () => {
  const packed = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: PACKAGE, encoding: "utf8" }));
  assert.equal(packed[0].version, native("--version").trim().split(" ").at(-1));
  const names = packed[0].files.map((file) => file.path);
  for (const name of ["chuhe.js", "chuhe.wasm", "chuhe.d.ts", "engine.js", "worker.js", "volunteer.js", "LICENSE-MIT"]) {
    assert.ok(names.includes(name), name);
  }
  const clean = join(folder, "clean");
  mkdirSync(clean);
  writeFileSync(join(clean, "package.json"), "{}");
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, packed[0].filename)], { cwd: clean });
  cpSync(join(PACKAGE, "example.mjs"), join(clean, "example.mjs"));
  const written = execFileSync("node", ["example.mjs"], { cwd: clean, encoding: "utf8" });
  assert.match(written, /'checkmate'[^]*bestmove [a-i]\d[a-i]\d/);
  if (process.env.TYPESCRIPT) {
    cpSync("crates/wasm/tests/types.ts", join(clean, "types.mts"));
    const tsc = resolve(process.env.TYPESCRIPT, "node_modules/typescript/bin/tsc");
    // Without the types of Node.js, and without those of browsers but for what the package names.
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022", "--module", "nodenext"];
    const compiled = spawnSync("node", [tsc, ...options, "types.mts"], { cwd: clean, encoding: "utf8" });
    assert.deepEqual([compiled.status, compiled.stdout], [0, ""]);
  }
  execFileSync("npm", ["publish", "--dry-run", "--offline"], { cwd: PACKAGE, stdio: "ignore" });
});
