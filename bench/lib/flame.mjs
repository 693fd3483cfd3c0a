/**
 * A flame graph from what `node --cpu-prof` wrote: one picture, no program in it. `node bench/lib/flame.mjs FILE.cpuprofile
 * OUT.svg TITLE [SECONDS]`; with SECONDS only the busiest stretch of that length is drawn.
 */
import { readFileSync, writeFileSync } from "node:fs";

const WIDTH = 1200;
const ROW = 17;
/** Narrower than this nobody can read or point at. */
const LEAST = 1.5;
const CHAR = 6.2;
const NOT_WORK = new Set(["(idle)", "(program)", "(root)"]);

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

function nameOf({ callFrame: { functionName, url } }) {
  const file = /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(url)?.[0].replace("node_modules/", "") ?? "";
  const from = url.startsWith("node:") ? "node" : file;
  return `${functionName || "(anonymous)"}${from === "" ? "" : ` [${from}]`}`;
}

/** Time by stack, of the samples in the stretch; what the thread spent waiting is left out. */
export function stacks(profile, seconds) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parent = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const busy = profile.samples.map((id) => !NOT_WORK.has(nodes.get(id).callFrame.functionName));
  const [from, to] = seconds === undefined ? [0, busy.length] : busiest(profile.timeDeltas, busy, seconds * 1e6);
  const root = { name: "all", us: 0, children: new Map() };
  for (let at = from; at < to; at++) {
    if (!busy[at]) continue;
    const path = [];
    for (let id = profile.samples[at]; id !== undefined; id = parent.get(id)) path.unshift(nameOf(nodes.get(id)));
    let here = root;
    root.us += profile.timeDeltas[at];
    for (const name of path.slice(1)) {
      if (!here.children.has(name)) here.children.set(name, { name, us: 0, children: new Map() });
      here = here.children.get(name);
      here.us += profile.timeDeltas[at];
    }
  }
  return root;
}

function busiest(deltas, busy, lengthUs) {
  let [from, sum, span, best, range] = [0, 0, 0, -1, [0, 0]];
  for (let to = 0; to < deltas.length; to++) {
    span += deltas[to];
    if (busy[to]) sum += deltas[to];
    for (; span > lengthUs; from++) {
      span -= deltas[from];
      if (busy[from]) sum -= deltas[from];
    }
    if (sum > best) [best, range] = [sum, [from, to + 1]];
  }
  return range;
}

function colour(name) {
  if (name.startsWith("(garbage") || name.endsWith("[node]") || name === "all") return "#b4b9bf";
  if (name.includes("[")) return "#e8a33d";
  return name.startsWith("(") ? "#c9c9c9" : "#e4643b";
}

export function flame(root, title) {
  const boxes = [];
  let depth = 0;
  const draw = (node, x, level) => {
    const width = (node.us / root.us) * WIDTH;
    if (width < LEAST) return;
    depth = Math.max(depth, level);
    const share = ((node.us / root.us) * 100).toFixed(1);
    const text = node.name.slice(0, Math.max(0, Math.floor((width - 4) / CHAR)));
    const label =
      text.length < 3 ? "" : `<text x="${(x + 3).toFixed(1)}" y="${level * ROW + 12}">${escaped(text)}</text>`;
    const box = `<rect x="${x.toFixed(1)}" y="${level * ROW}" width="${Math.max(0.5, width - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colour(node.name)}"/>`;
    boxes.push(
      `<g>${box}${label}<title>${escaped(node.name)}: ${(node.us / 1e3).toFixed(0)} ms, ${share} %</title></g>`,
    );
    let at = x;
    for (const child of [...node.children.values()].sort((one, other) => other.us - one.us)) {
      draw(child, at, level + 1);
      at += (child.us / root.us) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = (depth + 1) * ROW;
  const total = `${(root.us / 1e6).toFixed(2)} s of work; grey: garbage collection and Node itself, yellow: libraries, red: Kron`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -40 ${WIDTH} ${height + 44}" role="img" aria-labelledby="t" font-family="ui-monospace, monospace" font-size="10">`,
    `<title id="t">${escaped(title)}</title>`,
    `<rect x="0" y="-40" width="${WIDTH}" height="${height + 44}" fill="#fdf9f3"/>`,
    `<text x="4" y="-22" font-size="14" font-weight="bold">${escaped(title)}</text><text x="4" y="-7">${total}</text>`,
    ...boxes,
    "</svg>\n",
  ].join("\n");
}

const [file, out, title, seconds] = process.argv.slice(2);
if (out !== undefined && import.meta.filename === process.argv[1]) {
  const root = stacks(JSON.parse(readFileSync(file, "utf8")), seconds === undefined ? undefined : Number(seconds));
  writeFileSync(out, flame(root, title ?? "flame graph"));
}
