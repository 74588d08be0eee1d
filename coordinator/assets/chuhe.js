// Pages are whole without this. It replaces what changed when the coordinator tells of it, and lets charts be read
// by pointing. Parts that follow changes say so: data-follow="games events".
"use strict";

(() => {
  const QUIET = 2000; // what follows quickly is fetched once
  const parts = document.querySelectorAll("[data-follow]");
  const timers = new Map();

  function refresh(id) {
    const part = document.getElementById(id);
    // What somebody is typing in, or pointing at, stays.
    if (!part || document.hidden || part.contains(document.activeElement)) return;
    htmx.ajax("GET", location.href, { source: part, target: part, select: "#" + id, swap: "outerHTML" });
  }

  if (parts.length && window.EventSource) {
    const source = new EventSource(document.body.dataset.live);
    source.addEventListener("changed", (event) => {
      const topics = JSON.parse(event.data);
      for (const part of document.querySelectorAll("[data-follow]")) {
        const follows = part.dataset.follow.split(" ");
        if (!topics.some((topic) => follows.includes(topic)) || timers.has(part.id)) continue;
        // Not all who watch at the same moment.
        const wait = 200 + Math.random() * QUIET;
        timers.set(part.id, setTimeout(() => { timers.delete(part.id); refresh(part.id); }, wait));
      }
    });
    document.body.classList.add("watching");
  }

  // Charts: the picture that came with the page, or one that says its numbers where it is pointed at.
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
    // What is pointed at, or where the curve ends.
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
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const room = (most - least || 1) * 0.08;
    const plot = new uPlot({
      width, height: Math.max(220, Math.round(width * 0.36)), axes: [{ ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4] }, axis], hooks,
      scales: { x: { time: false }, y: { range: [least - room, most + room] } },
      series: [{ label: figure.dataset.x, value }, ...series],
    }, data, figure);
    plot.setLegend({ idx: x.length - 1 });
    picture.setAttribute("hidden", "");
    picture.classList.add("replaced");
    charts.add({ plot, figure });
  }

  function drawAll(root) {
    if (!window.uPlot) return;
    root.querySelectorAll("figure[data-chart]").forEach(draw);
  }

  addEventListener("resize", () => {
    for (const chart of charts) {
      const width = chart.figure.clientWidth - 24;
      if (!chart.figure.isConnected) charts.delete(chart);
      else chart.plot.setSize({ width, height: Math.max(220, Math.round(width * 0.36)) });
    }
  });
  document.addEventListener("DOMContentLoaded", () => drawAll(document));
  document.addEventListener("htmx:afterSettle", () => drawAll(document));
  if (document.readyState !== "loading") drawAll(document);
})();
