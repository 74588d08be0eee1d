// node example.mjs
import { Chuhe } from "chuhe";

const chuhe = await Chuhe.load();

// The arbiter: two chariots mate.
const fen = "4k4/R8/7R1/9/9/9/9/9/9/3K5 w";
console.log(chuhe.judge({ fen, moves: ["h7h9"] }).verdict);

// The engine.
chuhe.uci("position startpos moves h2e2");
chuhe.uci("go nodes 100000", console.log);
