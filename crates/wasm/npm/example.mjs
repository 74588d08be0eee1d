// node example.mjs
import { Chuhe } from "chuhe";

const chuhe = await Chuhe.load();

// The arbiter: a chariot that chases a horse for ever loses, by the rules of the Chinese Xiangqi
// Association.
const fen = "3k5/9/9/9/9/2n6/9/2R6/9/4K4 w";
const judged = chuhe.judge({ fen, moves: ["c2d2"] });
console.log(judged.fen, judged.legal_moves.length, judged.verdict);

// The engine.
chuhe.uci("position startpos moves h2e2");
chuhe.uci("go nodes 100000", console.log);
