// Progressive enhancement: pages work without it. It reloads changed parts after server-sent
// events, and makes charts interactive. Parts name their topics: data-follow="games events".
"use strict";

(() => {
  const DEBOUNCE_MS = 2000; // changes in quick succession are fetched once
  const MAX_BACKOFF_MS = 60000;

  /**
   * Listens to server-sent events. Browsers give up after a rejection; this reconnects with
   * exponential backoff and jitter. A hidden page holds no stream: browsers open only a few
   * connections to one server, shared by all tabs.
   */
  function listen(address, handlers, lost = () => {}) {
    let wait = 1000;
    let source = null;
    let timer = null;
    function connect() {
      timer = null;
      if (source || document.hidden) return;
      source = new EventSource(address);
      for (const [name, handler] of Object.entries(handlers)) source.addEventListener(name, handler);
      source.addEventListener("open", () => { wait = 1000; lost(false); });
      source.addEventListener("error", (event) => {
        if (event.target !== source) return;
        lost(true);
        if (source.readyState !== EventSource.CLOSED) return; // the browser reconnects on its own
        source = null;
        timer = setTimeout(connect, wait * (0.5 + Math.random()));
        wait = Math.min(2 * wait, MAX_BACKOFF_MS);
      });
    }
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) {
        if (!timer) connect();
      } else if (source) {
        source.close();
        source = null;
      }
    });
    connect();
  }
  window.chuhe = { listen };

  const due = new Set(); // ids of stale parts
  let state = JSON.parse(document.body.dataset.state || "null"); // the page's marks
  let timer = null;
  let failures = 0;

  function changed(topics) {
    for (const part of document.querySelectorAll("[data-follow]")) {
      const follows = part.dataset.follow.split(" ");
      if (topics.some((topic) => follows.includes(topic))) due.add(part.id);
    }
    plan(200 + Math.random() * DEBOUNCE_MS); // jitter: not all listeners at once
  }

  // A hidden page is not updated, nor a part with the focus or with typed text.
  const isEdited = (field) => field.value !== field.defaultValue;
  const isHeld = (part) => part.contains(document.activeElement)
    || [...part.querySelectorAll("input:not([type=hidden]), textarea")].some(isEdited);
  function ready() {
    if (document.hidden) return [];
    return [...due].filter((id) => { const part = document.getElementById(id); return part && !isHeld(part); });
  }

  function plan(wait) {
    if (timer || !ready().length) return;
    timer = setTimeout(() => { timer = null; refresh(); }, wait);
  }

  /** Replaces a part of the page; opened details stay open. */
  function replace(part, text) {
    const opened = [...part.querySelectorAll("details")].map((details) => details.open);
    htmx.swap(part, text, { swapStyle: "outerHTML", swapDelay: 0, settleDelay: 0 }, { select: "#" + part.id });
    const now = document.getElementById(part.id)?.querySelectorAll("details") ?? [];
    if (now.length === opened.length) now.forEach((details, place) => { details.open = opened[place]; });
  }

  /** Fetches the page once, and replaces all stale parts. */
  async function refresh() {
    const ids = ready();
    if (!ids.length) return;
    for (const id of ids) due.delete(id); // later events make it stale again
    try {
      const response = await fetch(location.href, { cache: "no-store" });
      if (!response.ok || response.redirected) throw new Error(response.status);
      const text = await response.text();
      const page = new DOMParser().parseFromString(text, "text/html");
      for (const id of ids) {
        const part = document.getElementById(id);
        if (!part || !page.getElementById(id)) continue;
        if (isHeld(part)) due.add(id);
        else replace(part, text);
      }
      state = JSON.parse(page.body.dataset.state || "null");
      failures = 0;
    } catch {
      for (const id of ids) due.add(id);
      failures += 1;
    }
    plan(failures ? Math.min(DEBOUNCE_MS * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random()) : 0);
  }

  if (document.querySelector("[data-follow]") && window.EventSource) {
    listen(document.body.dataset.live, {
      // The marks at connection: changes since the page was rendered had no event.
      state: (event) => {
        const [before, now] = [state, JSON.parse(event.data)];
        state = now;
        document.body.classList.add("watching");
        changed(Object.keys(now).filter((topic) => !before || before[topic] !== now[topic]));
      },
      changed: (event) => changed(JSON.parse(event.data)),
    });
    // The page becomes visible, or a part loses the focus.
    document.addEventListener("visibilitychange", () => plan(0));
    addEventListener("focus", () => plan(0));
    document.addEventListener("focusout", () => setTimeout(() => plan(0), 0));
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  }

  // Charts: the server's picture, replaced by an interactive one.
  const charts = new Set();

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function draw(figure) {
    const picture = figure.querySelector("svg");
    if (!picture || !window.uPlot || figure.dataset.drawn) return;
    const { x, lines, low, high } = JSON.parse(figure.dataset.chart);
    if (x.length < 2) return;
    figure.dataset.drawn = "yes";
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false },
      font: "13px " + getComputedStyle(document.body).fontFamily };
    const data = [x, ...lines.map((line) => line.values)];
    // The value at the cursor, or the last one.
    const value = (plot, pointed, line) => {
      const shown = pointed ?? plot.data[line].at(-1);
      return Number.isInteger(shown) ? String(shown) : shown.toFixed(2).replace("-", "−");
    };
    const series = lines.map((line) => ({
      label: line.label,
      value,
      stroke: colour(line.bound ? "--gold" : "--river"),
      width: line.bound ? 1.5 : 2.5,
      dash: line.bound ? [6, 4] : undefined,
      points: { show: Boolean(low) },
    }));
    const hooks = {};
    if (low) {
      hooks.draw = [(plot) => {
        const { ctx } = plot;
        ctx.save();
        ctx.strokeStyle = colour("--river");
        ctx.lineWidth = 1.5 * devicePixelRatio;
        x.forEach((at, index) => {
          const left = plot.valToPos(at, "x", true);
          ctx.beginPath();
          ctx.moveTo(left, plot.valToPos(low[index], "y", true));
          ctx.lineTo(left, plot.valToPos(high[index], "y", true));
          ctx.stroke();
        });
        ctx.restore();
      }];
    }
    const width = picture.getBoundingClientRect().width;
    const values = data.slice(1).flat().concat(low || [], high || []);
    const [min, max] = [Math.min(...values), Math.max(...values)];
    const margin = (max - min || 1) * 0.08;
    const plot = new uPlot({
      width, height: Math.max(220, Math.round(width * 0.36)), axes: [{ ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4] }, axis], hooks,
      scales: { x: { time: false }, y: { range: [min - margin, max + margin] } },
      series: [{ label: figure.dataset.x, value }, ...series],
    }, data, figure);
    plot.setLegend({ idx: x.length - 1 });
    picture.setAttribute("hidden", "");
    picture.classList.add("replaced");
    charts.add({ plot, figure });
  }

  /** Destroys the charts of removed figures: uPlot would keep them alive. */
  function sweep() {
    for (const chart of charts) {
      if (chart.figure.isConnected) continue;
      chart.plot.destroy();
      charts.delete(chart);
    }
  }

  function drawAll(root) {
    if (!window.uPlot) return;
    sweep();
    root.querySelectorAll("figure[data-chart]").forEach(draw);
  }

  addEventListener("resize", () => {
    sweep();
    for (const chart of charts) {
      const width = chart.figure.clientWidth - 24;
      chart.plot.setSize({ width, height: Math.max(220, Math.round(width * 0.36)) });
    }
  });
  document.addEventListener("DOMContentLoaded", () => drawAll(document));
  document.addEventListener("htmx:afterSettle", () => drawAll(document));
  if (document.readyState !== "loading") drawAll(document);
})();
