// The numbers of a chart as a table and as CSV, and the chart as a PNG: for keyboards, screen readers and reports.
// Loaded by charts.js when the first table is opened. What is unknown says so, with its reason.
const moment = (ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " ");
const read = (text) => Date.parse(`${String(text).replace(" ", "T")}Z`);
const plain = (name) => String(name).replace(/<br>/g, " / ");

function timesOf(trace) {
  if (trace.x0 !== undefined) return trace.y.map((_value, i) => read(trace.x0) + i * trace.dx);
  return (trace.x ?? []).map(read);
}

// What is hatched: of all lines from..to, or of one row of a heatmap.
function gapsOf(traces) {
  const found = [];
  for (const trace of traces) {
    if (trace.yaxis === "y2") {
      timesOf(trace).forEach((at, i) => {
        found.push({ from: at - trace.width[i] / 2, to: at + trace.width[i] / 2, row: null, reason: trace.customdata[i] });
      });
    } else if (trace.fill === "toself") {
      for (let i = 0; i < trace.x.length; i += 6) {
        found.push({ from: read(trace.x[i]), to: read(trace.x[i + 1]), row: trace.y[i] + 0.5, reason: trace.name });
      }
    }
  }
  return found;
}

// {name, row, cells: Map(time, {value, text})} of each line, column of bars, or row of a heatmap.
function seriesOf(traces) {
  return traces.flatMap((trace) => {
    if (trace.yaxis === "y2" || trace.fill === "toself") return [];
    const times = timesOf(trace);
    const cells = (values, words) => new Map(times.map((at, i) => [at, { value: values[i], text: words?.[i] ?? values[i]?.toLocaleString() }]));
    if (trace.z) return trace.z.map((row, i) => ({ name: plain(trace.names[i]), row: i, cells: cells(row) }));
    return [{ name: trace.name, row: null, cells: cells(trace.values ?? trace.y, trace.customdata) }];
  });
}

function tableOf(traces) {
  const [series, gaps] = [seriesOf(traces), gapsOf(traces)];
  const times = [...new Set(series.flatMap((one) => [...one.cells.keys()]))].sort((one, other) => one - other);
  const why = (at, row) => gaps.find((gap) => gap.from <= at && at <= gap.to && gap.row === row)?.reason;
  return { series, times, why };
}

// A line of one moment, as of what was read last, has nothing to say of the others.
const isUnknown = (one, at) => one.cells.has(at) && (one.cells.get(at).value ?? null) === null;

function fill(details, traces) {
  const { series, times, why } = tableOf(traces);
  const table = document.createElement("table");
  const heads = table.createTHead().insertRow();
  const head = (row, scope, className, text) => {
    const made = row.appendChild(document.createElement("th"));
    Object.assign(made, { scope, className, textContent: text });
  };
  head(heads, "col", "", details.dataset.time);
  series.forEach((one) => head(heads, "col", "num", one.name));
  const body = table.createTBody();
  for (const at of [...times].reverse()) {
    const row = body.insertRow();
    head(row, "row", "nowrap", moment(at));
    for (const one of series) {
      const cell = row.insertCell();
      cell.className = "num";
      if (isUnknown(one, at)) {
        const word = cell.appendChild(document.createElement("abbr"));
        word.textContent = details.dataset.unknown;
        word.title = why(at, one.row) ?? "";
      } else cell.textContent = one.cells.get(at)?.text ?? "";
    }
  }
  details.querySelector(".scroll").replaceChildren(table);
}

function csv(details, traces) {
  const { series, times, why } = tableOf(traces);
  const quoted = (text) => `"${String(text).replace(/"/g, '""')}"`;
  const lines = times.map((at) => {
    const missing = series.filter((one) => isUnknown(one, at)).map((one) => `${one.name}: ${why(at, one.row) ?? details.dataset.unknown}`);
    return [moment(at), ...series.map((one) => one.cells.get(at)?.value ?? ""), missing.join("; ")];
  });
  const head = [details.dataset.time, ...series.map((one) => one.name), details.dataset.unknown];
  return [head, ...lines].map((line) => line.map(quoted).join(",")).join("\r\n");
}

function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

const attended = new WeakSet();

export function show(details, element) {
  fill(details, element.data);
  if (attended.has(details)) return;
  attended.add(details);
  details.addEventListener("click", (event) => {
    const kind = event.target.closest("button")?.dataset.save;
    if (kind === "csv") save(csv(details, element.data), `${element.id}.csv`);
    if (kind === "png") Plotly.downloadImage(element, { format: "png", scale: 2, filename: element.id });
  });
}
