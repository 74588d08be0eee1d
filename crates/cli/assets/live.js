// Inserts each board as it arrives.
"use strict";

const live = document.querySelector("#live");
const lost = document.querySelector("#lost");
const events = new EventSource("events");
events.addEventListener("open", () => lost.classList.add("is-hidden"));
events.addEventListener("error", () => lost.classList.remove("is-hidden"));
events.addEventListener("board", (event) => {
  live.innerHTML = event.data;
  const list = live.querySelector(".movelist");
  if (list) list.scrollTop = list.scrollHeight;
});
