// Plays leased games in this browser, each thread as a worker of its own.

const KEY = "chuhe-token";
const root = document.getElementById("play");
const [form, table, rows] = ["form", ".table", "tbody"].map((part) => root.querySelector(part));
const stop = root.querySelector("[data-do=stop]");
const template = root.querySelector("template");
// Names the browser among the machines of the account, without saying which it is.
const NAME = "chuhe-browser";
let threads = [];

const { hardwareConcurrency = 1 } = navigator;
form.threads.value = Math.max(1, Math.floor(hardwareConcurrency / 2));
form.threads.max = hardwareConcurrency;
form.token.value = localStorage.getItem(KEY) ?? "";

function myName() {
  const name = localStorage.getItem(NAME) ?? `browser-${Math.random().toString(36).slice(2, 8)}`;
  localStorage.setItem(NAME, name);
  return name;
}

function show(row, state) {
  for (const part of row.querySelectorAll("[data-state]")) part.hidden = part.dataset.state !== state.state;
  for (const part of row.querySelectorAll("[data-show]")) {
    const value = state[part.dataset.show];
    if (value !== undefined) part.textContent = typeof value === "number" ? value.toLocaleString(document.documentElement.lang) : value;
  }
}

function begin(index, token) {
  const row = template.content.firstElementChild.cloneNode(true);
  rows.append(row);
  show(row, { thread: index + 1, state: "starting" });
  const worker = new Worker(`${root.dataset.engine}/worker.js`, { type: "module" });
  const thread = { worker, isRunning: true };
  const end = () => {
    worker.terminate();
    thread.isRunning = false;
    if (threads.every((one) => !one.isRunning)) running(false);
  };
  worker.onmessage = ({ data: { state, error } }) => {
    if (state) show(row, state);
    if (error !== undefined) show(row, { state: "failed", detail: error });
    if (error !== undefined || state?.state === "finished") end();
  };
  worker.onerror = (event) => {
    show(row, { state: "failed", detail: event.message ?? "" });
    end();
  };
  worker.postMessage({ load: {} });
  const name = `${myName()}-${index + 1}`;
  worker.postMessage({ volunteer: { server: location.origin, token, name, seconds: 60 } });
  return thread;
}

function running(is) {
  form.querySelector("button.main").disabled = is;
  form.token.disabled = form.threads.disabled = is;
  stop.classList.toggle("is-hidden", !is);
  stop.disabled = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const token = form.token.value.trim();
  localStorage.setItem(KEY, token);
  table.classList.remove("is-hidden");
  rows.replaceChildren();
  const count = Number(form.threads.value);
  running(true);
  threads = [];
  for (let index = 0; index < count; index += 1) threads.push(begin(index, token));
});

stop.addEventListener("click", () => {
  stop.disabled = true;
  for (const { worker } of threads) worker.postMessage({ finish: true });
});

addEventListener("beforeunload", (event) => {
  if (threads.some((thread) => thread.isRunning)) event.preventDefault();
});
