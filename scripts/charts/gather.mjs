/**
 * What of a chart is an arrow, and what a row of text inside a state. An arrow from everywhere says less than a row; a row
 * stands for arrows only where it says no less.
 */

/** From so many states with one label to one target: a row in the target. */
const MANY = 3;
const ROW_CHARS = 34;

export function gather({ nodes, transitions }) {
  const moving = transitions.filter(({ to }) => to !== null);
  const groups = groupBy(moving, ({ to, label }) => `${to}|${label}`);
  const gathered = groups.filter((group) => new Set(group.map(({ from }) => from)).size >= MANY);
  const isGathered = new Set(gathered.flat());
  const marks = [];
  const boxes = nodes.map((node, index) => {
    const rows = [];
    for (const group of gathered.filter(([{ to }]) => to === node.id)) {
      marks.push([index, rows.length, ...addGathered(rows, group, node, nodes)]);
    }
    for (const action of node.entry) rows.push(`entry / ${action}`);
    const internal = transitions.filter(({ from, to }) => to === null && from === node.id);
    for (const group of groupBy(internal, ({ label, event, actions }) => `${label.slice(event.length)}|${actions}`)) {
      marks.push([index, rows.length, ...addInternal(rows, group)]);
    }
    return { ...node, rows };
  });
  return { boxes, marks, edges: arrowsOf(moving.filter((transition) => !isGathered.has(transition))) };
}

/** It names its sources, unless they are all the others. */
function addGathered(rows, group, target, nodes) {
  const sources = [...new Set(group.map(({ from }) => from))];
  const others = nodes.filter(
    ({ id, parent, type }) => parent === target.parent && type !== "final" && id !== target.id,
  );
  const isAll = others.length === sources.length && others.every(({ id }) => sources.includes(id));
  const names = sources.map((source) => nodes.find(({ id }) => id === source)?.key).join(", ");
  const [{ label }] = group;
  const lines = wrapped(`◂ ${label}${isAll ? "" : ` from ${names}`}`);
  rows.push(...lines.map((line, at) => (at === 0 ? line : `  ${line}`)));
  return [lines.length, [label], sources];
}

/** Those that do the same share a row. */
function addInternal(rows, group) {
  const [{ event, label, actions }] = group;
  const guard = label.slice(event.length);
  const lines = wrapped(group.map((one) => one.event).join(" · ") + guard);
  if (actions.length > 0) lines.push(`  / ${actions.join(", ")}`);
  rows.push(...lines);
  return [lines.length, group.map((one) => one.label), null];
}

/** One line for all that lead from one state to another. */
function arrowsOf(transitions) {
  return groupBy(transitions, ({ from, to }) => `${from}>${to}`).map((group) => ({
    from: group[0].from,
    to: group[0].to,
    labels: [...new Set(group.map(({ label }) => label))].filter((label) => label !== ""),
  }));
}

function wrapped(text) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > ROW_CHARS && lines.at(-1) !== "") lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function groupBy(list, keyOf) {
  const groups = new Map();
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()];
}
