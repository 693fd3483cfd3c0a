/** Where everything of a chart stands: laid out by elk, which is needed here and never shipped. The same chart, the same text. */
import elk from "elkjs/lib/elk.bundled.js";
import { gather } from "./gather.mjs";
import { graphOf } from "./graph.mjs";

/** Pixels, as the page draws it: a character of a name and of a row, a line, and what is around them. */
const NAME_CHAR = 8;
const ROW_CHAR = 6.1;
const LINE = 14;
const PAD = 10;
const INITIAL_DOT = 14;
const HEAD = 24;
const LEAST_WIDTH = 60;

const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.direction": "DOWN",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.layered.spacing.nodeNodeBetweenLayers": "34",
  "elk.spacing.nodeNode": "26",
  "elk.spacing.edgeNode": "14",
  "elk.spacing.edgeEdge": "12",
  "elk.layered.spacing.edgeNodeBetweenLayers": "14",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
  "elk.spacing.edgeLabel": "3",
  "elk.edgeLabels.inline": "false",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.json.edgeCoords": "ROOT",
  "elk.json.shapeCoords": "ROOT",
};

/** Regions of a parallel chart stand in rows of about this width, so that it is no strip. */
const ROW_WIDTH = 640;
const GAP = 20;
const EDGE = 12;

/** What the page draws: see `web/src/inspector/chart-layout.ts`. */
export async function layoutOf(machine) {
  const graph = graphOf(machine);
  const { boxes, marks, edges } = gather(graph);
  const arrows = edges.map((edge, index) => ({ ...edge, index }));
  const [root] = boxes;
  const { size, places, lines } = await (root.type === "parallel" ? inRows : whole)(root, boxes, arrows);
  return {
    id: graph.id,
    size,
    nodes: boxes.map(({ id, type, isInitial, rows }) => [id, type, isInitial ? 1 : 0, ...places.get(id), rows]),
    edges: edges.map(({ from, to, labels }, index) => [from, to, labels, ...lines.get(index)]),
    marks,
  };
}

async function whole(box, boxes, arrows) {
  const children = [elkNode(box, boxes)];
  const out = await new elk().layout({ id: "page", layoutOptions: OPTIONS, children, edges: arrows.map(elkEdge) });
  return { size: [Math.ceil(out.width), Math.ceil(out.height)], ...placesIn(out) };
}

/** No arrow leads from one region to another: each is laid out by itself. */
async function inRows(root, boxes, arrows) {
  const [places, lines] = [new Map(), new Map()];
  let [x, y, rowHeight, width] = [EDGE + GAP, EDGE + HEAD + GAP / 2, 0, 0];
  for (const region of boxes.filter(({ parent }) => parent === root.id)) {
    const isWithin = (id) => id === region.id || id.startsWith(`${region.id}.`);
    const part = await whole(
      region,
      boxes,
      arrows.filter(({ from }) => isWithin(from)),
    );
    const [ownWidth, ownHeight] = part.size.map((length) => length - 2 * EDGE);
    if (x > EDGE + GAP && x + ownWidth > ROW_WIDTH) [x, y, rowHeight] = [EDGE + GAP, y + rowHeight + GAP, 0];
    const [dx, dy] = [x - EDGE, y - EDGE];
    for (const [id, [left, top, ...size]] of part.places) places.set(id, [left + dx, top + dy, ...size]);
    for (const [index, [points, at]] of part.lines) {
      lines.set(index, [points.map((point, nth) => point + (nth % 2 === 0 ? dx : dy)), at && [at[0] + dx, at[1] + dy]]);
    }
    x += ownWidth + GAP;
    [rowHeight, width] = [Math.max(rowHeight, ownHeight), Math.max(width, x)];
  }
  const size = [width + EDGE, y + rowHeight + GAP + EDGE];
  places.set(root.id, [EDGE, EDGE, size[0] - 2 * EDGE, size[1] - 2 * EDGE]);
  return { size, places, lines };
}

function widthOf(text, perChar) {
  return Math.ceil(text.length * perChar);
}

function elkNode(box, boxes) {
  const children = boxes.filter(({ parent }) => parent === box.id);
  const width = Math.max(
    LEAST_WIDTH,
    widthOf(box.key, NAME_CHAR) + 2 * PAD + INITIAL_DOT,
    ...box.rows.map((row) => widthOf(row, ROW_CHAR) + 2 * PAD),
  );
  const head = HEAD + box.rows.length * LINE + (box.rows.length > 0 ? 6 : 0);
  const id = `n${box.id}`;
  if (children.length === 0) return { id, width, height: head + 6 };
  const layoutOptions = {
    "elk.padding": `[top=${head + 10},left=14,bottom=14,right=14]`,
    "elk.direction": "DOWN",
    "elk.nodeSize.constraints": "MINIMUM_SIZE",
    "elk.nodeSize.minimum": `(${width},${head + 10})`,
  };
  return { id, layoutOptions, children: children.map((child) => elkNode(child, boxes)) };
}

function elkEdge({ from, to, labels, index }) {
  const width = Math.max(0, ...labels.map((label) => widthOf(label, ROW_CHAR))) + 4;
  const text = labels.join("\n");
  const label = labels.length === 0 ? [] : [{ text, width, height: labels.length * LINE }];
  return { id: `e${index}`, sources: [`n${from}`], targets: [`n${to}`], labels: label };
}

function placesIn(page) {
  const places = new Map();
  const lines = new Map();
  const visit = (node) => {
    places.set(node.id.slice(1), [node.x, node.y, node.width, node.height].map(Math.round));
    for (const edge of node.edges ?? []) lines.set(Number(edge.id.slice(1)), lineOf(edge));
    for (const child of node.children ?? []) visit(child);
  };
  for (const edge of page.edges ?? []) lines.set(Number(edge.id.slice(1)), lineOf(edge));
  for (const child of page.children) visit(child);
  return { places, lines };
}

function lineOf({ sections: [section], labels: [label] = [] }) {
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
  const flat = points.flatMap(({ x, y }) => [Math.round(x), Math.round(y)]);
  return [flat, label === undefined ? null : [Math.round(label.x), Math.round(label.y)]];
}
