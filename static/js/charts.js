// Draws the figures that the server sends. Colours arrive as names of variables.css and are filled in here.
(function () {
  "use strict";
  const NAMED = /^var\(--[a-z0-9-]+\)$/;
  const asked = new WeakMap();
  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;

  function colour(name) {
    probe.style.color = name;
    return getComputedStyle(probe).color;
  }

  function read(text) {
    return JSON.parse(text, (_key, value) => (typeof value === "string" && NAMED.test(value) ? colour(value) : value));
  }

  // Of a heatmap each row is named once. One of words comes as runs, [how many cells, their value, what they say]: a hundredth of the bytes.
  function spread(trace) {
    if (trace.names && trace.z) trace.customdata = trace.z.map((row, i) => row.map(() => trace.names[i]));
    if (!trace.runs) return;
    const cells = (make) => trace.runs.map((row, i) => row.flatMap((run) => Array(run[0]).fill(make(run, i))));
    trace.z = cells(([, value]) => value);
    trace.customdata = cells(([, , text], i) => `${trace.names[i]}<br>${text}`);
  }

  // All figures of a page show one stretch of time: what is chosen on one is shown on the others, outlives a refresh,
  // and can be made the range of the page.
  let zoom = null;
  let isFollowing = false;
  const link = document.getElementById("zoomed");
  const isOfTime = (layout) => layout?.xaxis?.type === "date";

  function inUtc(at, { meta }) {
    const text = String(at).replace(" ", "T").slice(0, 19);
    const whole = new Date(`${text}${text.length < 17 ? ":00" : ""}Z`);
    return `${new Date(whole - meta.utcOffset * 60_000).toISOString().slice(0, 19)}Z`;
  }

  function follow(element, changed) {
    if (isFollowing || !isOfTime(element.layout)) return;
    const [from, to] = changed["xaxis.range"] ?? [0, 1].map((end) => changed[`xaxis.range[${end}]`]);
    if (from === undefined && !changed["xaxis.autorange"]) return;
    zoom = from === undefined || JSON.stringify([from, to]) === element.dataset.whole ? null : [from, to];
    isFollowing = true;
    const others = [...document.querySelectorAll("[data-figure]")].filter((one) => one !== element && isOfTime(one.layout));
    const drawn = others.map((one) => Plotly.relayout(one, { "xaxis.range": zoom ?? JSON.parse(one.dataset.whole) }));
    Promise.all(drawn).finally(() => (isFollowing = false));
    const [since, until] = zoom?.map((at) => inUtc(at, element.layout)) ?? [];
    link.hidden = !(new Date(until) - new Date(since) >= 60_000);
    if (link.hidden) return;
    const address = new URL(location.href);
    address.searchParams.set("range", `${since}..${until}`);
    link.href = address.href;
  }

  async function whyNot(reply, note) {
    const isProblem = reply.headers.get("Content-Type") === "application/problem+json";
    return isProblem ? (await reply.json()).detail : `${note.dataset.status} ${reply.status}`;
  }

  // Pages are light: the script of the table is loaded by who opens one.
  function offerData(element, note) {
    const details = document.getElementById(`${element.id}-data`);
    if (!details || !isOfTime(element.layout) || element.data.some((trace) => trace.runs)) return;
    const show = () => {
      const failed = (problem) => (note.textContent = `${note.dataset.failed} (${problem.message})`);
      if (details.open) import(details.dataset.script).then((data) => data.show(details, element), failed);
    };
    if ("waits" in details.dataset) details.addEventListener("toggle", show);
    delete details.dataset.waits;
    show();
  }

  async function draw(element) {
    // A newer question ends the older one, so that a late reply never overwrites a later one.
    asked.get(element)?.abort();
    const question = new AbortController();
    asked.set(element, question);
    const note = document.getElementById(element.getAttribute("aria-describedby"));
    try {
      const reply = await fetch(element.dataset.figure, { signal: question.signal, headers: { Accept: "application/json" } });
      if (!reply.ok || reply.redirected) throw new Error(await whyNot(reply, note));
      const figure = read(await reply.text());
      figure.data.forEach(spread);
      chartLabels.fit(figure, element.clientWidth);
      if (figure.layout.height) element.style.height = `${figure.layout.height}px`;
      const isFirst = !element.layout;
      if (isOfTime(figure.layout)) {
        element.dataset.whole = JSON.stringify(figure.layout.xaxis.range);
        if (zoom) figure.layout.xaxis.range = [...zoom];
      }
      await Plotly.react(element, figure.data, figure.layout, figure.config);
      if (isFirst) {
        element.on("plotly_afterplot", () => chartLabels.makeRoom(element));
        element.on("plotly_relayout", (changed) => follow(element, changed));
      }
      chartLabels.makeRoom(element);
      offerData(element, note);
      note.textContent = "";
      delete element.dataset.stale;
      element.dataset.drawn = pageClock(new Date());
    } catch (problem) {
      if (problem.name === "AbortError") return;
      const drawn = element.dataset.drawn ? ` · ${note.dataset.drawn} ${element.dataset.drawn}` : "";
      note.textContent = `${note.dataset.failed} (${problem.message}${drawn})`;
      element.dataset.stale = "";
    }
  }

  function drawAll() {
    if (!document.hidden) document.querySelectorAll("[data-figure]").forEach(draw);
  }

  drawAll();
  const first = document.querySelector("[data-figure]");
  if (first) setInterval(drawAll, Number(first.dataset.every) * 1000);
  for (const cause of ["visibilitychange", "rescaled"]) document.addEventListener(cause, drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
