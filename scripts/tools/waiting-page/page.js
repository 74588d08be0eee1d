// Replays a published game on the board, shows the progress of scripts/demo, and reloads the page
// when the coordinator answers.
"use strict";

const MOVE_MS = 900;
const PAUSE_MS = 6000;
const LOOK_MS = 2000;

const place = (point) => [50 + (point.charCodeAt(0) - 97) * 60, 42 + (9 - Number(point[1])) * 60];

/** Plays the game again and again. */
function play(game) {
  const moves = [...game.opening, ...game.moves.map(([move]) => move)];
  const pieces = document.querySelector(".board-pieces");
  const last = document.querySelector(".board-last");
  const start = pieces.innerHTML;
  let ply = 0;
  const step = () => {
    if (ply === moves.length) {
      document.querySelector("#verdict").hidden = false;
      ply = 0;
      setTimeout(step, PAUSE_MS);
      return;
    }
    if (ply === 0) {
      pieces.innerHTML = start;
      document.querySelector("#verdict").hidden = true;
    }
    const [from, to] = [place(moves[ply]), place(moves[ply].slice(2))];
    const at = ([x, y]) => pieces.querySelector(`use[x="${x}"][y="${y}"]`);
    at(to)?.remove();
    const piece = at(from);
    piece.setAttribute("x", to[0]);
    piece.setAttribute("y", to[1]);
    [from, to].forEach(([x, y], index) => {
      last.children[index].setAttribute("cx", x);
      last.children[index].setAttribute("cy", y);
    });
    last.setAttribute("display", "inline");
    ply += 1;
    document.querySelector("#ply").textContent = `${ply} / ${moves.length}`;
    setTimeout(step, MOVE_MS);
  };
  step();
}

/** Shows the progress; the coordinator has no such address. */
async function look() {
  try {
    const health = await fetch("/healthz", { cache: "no-store" });
    if (health.ok) {
      location.reload();
      return;
    }
    const progress = await fetch("/waiting/progress", { cache: "no-store" });
    if (progress.ok) document.querySelector("#progress").textContent = await progress.text();
  } catch {
    // No server answers between this one and the coordinator.
  }
  setTimeout(look, LOOK_MS);
}

fetch("/waiting/game.json").then((answer) => answer.json()).then(play);
look();
