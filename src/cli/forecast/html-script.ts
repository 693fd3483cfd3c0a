/**
 * What makes the forecast page answer: the chart, its cursor and the two switches. Names only ever become text nodes.
 * Plain JavaScript as text, because it runs in a browser and is named in the page by its hash.
 */
export const PAGE_SCRIPT = `"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const chart = document.getElementById("chart");
const detail = document.getElementById("detail");
const SVG = "http://www.w3.org/2000/svg";
const GUTTER = 52, TOP = 16, BOTTOM = 22;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 10080, 20160, 40320, 80640, 161280];
const shown = { chosen: true, nominal: true };
const count = data.chosen.length;
let cursor = data.first;

function node(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
  parent.appendChild(made);
  return made;
}
function iso(second) { return new Date((data.from + second) * 1000).toISOString().replace(".000Z", "Z"); }
function startOf(bucket) { return bucket * data.bucket; }
function size() { return { width: chart.clientWidth || 800, height: chart.clientHeight || 300 }; }
function nice(most) {
  const step = Math.pow(10, Math.floor(Math.log10(Math.max(1, most))));
  for (const factor of [1, 2, 5, 10]) if (step * factor >= most) return step * factor;
  return most;
}
/** The fullest bucket of each column of pixels: a peak of one bucket never vanishes. */
function columnsOf(values, columns) {
  const found = [];
  for (let column = 0; column < columns; column += 1) {
    const first = Math.floor(column * count / columns);
    const end = Math.max(first + 1, Math.floor((column + 1) * count / columns));
    let best = first;
    for (let bucket = first; bucket < end; bucket += 1) if (values[bucket] > values[best]) best = bucket;
    found.push(best);
  }
  return found;
}
function draw() {
  const { width, height } = size();
  const names = ["chosen", "nominal"].filter((name) => shown[name]);
  const innerWidth = width - GUTTER - 4;
  const panel = (height - BOTTOM) / Math.max(1, names.length);
  let most = 1;
  for (const name of names) for (const value of data[name]) if (value > most) most = value;
  const scale = nice(most);
  const columns = Math.max(1, Math.min(count, Math.floor(innerWidth)));
  chart.replaceChildren();
  chart.setAttribute("viewBox", "0 0 " + width + " " + height);
  names.forEach((name, index) => {
    const floor = (index + 1) * panel;
    const y = (value) => floor - value * (panel - TOP) / scale;
    drawGrid(scale, y, width, panel);
    node("path", { class: name, d: area(data[name], columns, innerWidth, y) + "Z" }, chart);
  });
  drawTimes(width, height, innerWidth);
  node("path", { class: "cursor", id: "cursor", d: "" }, chart);
  chart.kron = { x: (bucket) => GUTTER + bucket * innerWidth / count, bottom: height - BOTTOM, innerWidth, columns };
  point();
}
function drawGrid(scale, y, width, panel) {
  for (const part of scale >= 4 && panel > 90 ? [0, 0.25, 0.5, 0.75, 1] : [0, 1]) {
    const value = scale * part;
    if (!Number.isInteger(value)) continue;
    node("path", { class: "grid", d: "M" + GUTTER + " " + y(value) + "H" + width }, chart);
    const text = node("text", { x: GUTTER - 6, y: y(value) + 4, "text-anchor": "end" }, chart);
    text.textContent = String(value);
  }
}
function drawTimes(width, height, innerWidth) {
  const length = count * data.bucket;
  const most = Math.max(2, innerWidth / 70);
  const step = STEPS.map((minutes) => minutes * 60).find((seconds) => length / seconds <= most) || length;
  for (let second = Math.ceil(data.from / step) * step - data.from; second < length; second += step) {
    const at = GUTTER + second * innerWidth / length;
    if (at > width - 36) break;
    const text = node("text", { x: at, y: height - 4 }, chart);
    text.textContent = length <= 172800 ? iso(second).slice(11, 16) : iso(second).slice(5, 10);
    node("path", { class: "grid", d: "M" + at + " " + (height - BOTTOM) + "v5" }, chart);
  }
}
function area(values, columns, innerWidth, y) {
  let path = "M" + GUTTER + " " + y(0);
  let level = y(0);
  const best = columnsOf(values, columns);
  for (let column = 0; column < columns; column += 1) {
    const next = y(values[best[column]]);
    if (next === level) continue;
    path += "H" + (GUTTER + column * innerWidth / columns).toFixed(1) + "V" + next.toFixed(1);
    level = next;
  }
  return path + "H" + (GUTTER + innerWidth).toFixed(1) + "V" + y(0);
}
function point() {
  const { x, bottom } = chart.kron;
  document.getElementById("cursor").setAttribute("d", "M" + x(cursor + 0.5).toFixed(1) + " 0V" + bottom);
  const text = iso(startOf(cursor)) + ": " + data.chosen[cursor] + " with windows, " + data.nominal[cursor] + " without";
  chart.setAttribute("aria-valuenow", String(cursor));
  chart.setAttribute("aria-valuetext", text);
  const lines = [line(iso(startOf(cursor)), "", true)];
  lines.push(line(data.chosen[cursor] + (data.chosen[cursor] === 1 ? " start" : " starts") + " with windows", who(data.chosenWho[cursor])));
  lines.push(line(data.nominal[cursor] + " without", who(data.nominalWho[cursor])));
  if (data.running) lines.push(line("at once " + data.running[cursor] + " with windows, " + data.runningNominal[cursor] + " without", ""));
  detail.replaceChildren(...lines);
}
function line(strong, rest) {
  const made = document.createElement("div");
  const bold = document.createElement("b");
  bold.textContent = strong;
  made.append(bold, rest === "" ? "" : ": " + rest);
  return made;
}
function who(entry) {
  if (!entry) return "";
  const named = [];
  for (let at = 1; at < entry.length; at += 2) named.push(data.names[entry[at]] + (entry[at + 1] > 1 ? " \\u00d7" + entry[at + 1] : ""));
  return named.join(", ") + (entry[0] > 0 ? " and " + entry[0] + " more" : "");
}
function move(bucket) {
  cursor = Math.max(0, Math.min(count - 1, bucket));
  point();
}
function follow(event) {
  const { innerWidth, columns } = chart.kron;
  const across = (event.clientX - chart.getBoundingClientRect().left - GUTTER) / innerWidth;
  const column = Math.max(0, Math.min(columns - 1, Math.floor(across * columns)));
  move(columnsOf(shown.chosen ? data.chosen : data.nominal, columns)[column]);
}
chart.addEventListener("pointermove", follow);
chart.addEventListener("pointerdown", follow);
chart.addEventListener("keydown", (event) => {
  const page = Math.max(1, Math.round(count / 24));
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page, Home: -count, End: count };
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  move(cursor + steps[event.key]);
});
for (const button of document.querySelectorAll("button[data-series]")) {
  button.addEventListener("click", () => {
    const name = button.dataset.series;
    shown[name] = !shown[name];
    button.setAttribute("aria-pressed", String(shown[name]));
    draw();
  });
}
for (const button of document.querySelectorAll("button[data-bucket]")) {
  button.addEventListener("click", () => {
    move(Number(button.dataset.bucket));
    chart.focus();
    chart.scrollIntoView({ block: "nearest" });
  });
}
document.getElementById("live").hidden = false;
new ResizeObserver(draw).observe(chart);
draw();
`;
