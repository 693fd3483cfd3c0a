/**
 * A layout as it is kept with the sources: a line for each box and each arrow, so that a change can be read. It is sent to
 * browsers like that, and so says nothing twice: boxes are named by their place, and of a line that goes down, across, down
 * only what changes at each corner.
 */
export function layoutText({ id, hash, size, nodes, edges, marks }) {
  const places = new Map(nodes.map(([name], place) => [name, place]));
  const lines = (list) => `[\n${list.map((item) => `    ${JSON.stringify(item)}`).join(",\n")}\n  ]`;
  const head = `  "id": ${JSON.stringify(id)},\n  "hash": "${hash}",\n  "size": ${JSON.stringify(size)}`;
  const arrows = edges.map(([from, to, labels, points, at]) => {
    return [places.get(from), places.get(to), labels, cornersOf(points), at];
  });
  const rows = marks.map(([box, first, count, labels, sources]) => {
    return [box, first, count, labels, sources?.map((name) => places.get(name)) ?? null];
  });
  return `{\n${head},\n  "nodes": ${lines(nodes)},\n  "edges": ${lines(arrows)},\n  "marks": ${lines(rows)}\n}\n`;
}

function cornersOf(points) {
  const corners = points.slice(0, 2);
  for (let at = 2; at < points.length; at += 2) {
    const isDown = at % 4 === 2;
    const [same, changes] = isDown ? [0, 1] : [1, 0];
    if (points[at + same] !== points[at + same - 2]) throw new Error(`a line goes askew: ${points}`);
    corners.push(points[at + changes]);
  }
  return corners;
}
