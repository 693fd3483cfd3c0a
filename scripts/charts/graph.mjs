/** What a machine's chart consists of: its states and transitions, in the order in which they are written. */

/** By its path; the chart itself is "". */
function idOf(node) {
  return node.path.join(".");
}

function nameOf(part) {
  if (typeof part === "string") return part;
  if (Array.isArray(part?.guards)) return part.guards.map(nameOf).join(" & ");
  return part?.type ?? "?";
}

function transitionsOf(node) {
  const own = [...node.transitions].flatMap(([event, list]) => list.map((transition) => ({ event, transition })));
  const always = (node.always ?? []).map((transition) => ({ event: "", transition }));
  return [...own, ...always].map(({ event, transition }) => ({
    from: idOf(node),
    to: transition.target?.length ? idOf(transition.target[0]) : null,
    event,
    label: labelOf(event, transition.guard),
    actions: (transition.actions ?? []).map(nameOf),
  }));
}

/** What stands beside an arrow; of a transition that needs no event only its guard. */
function labelOf(event, guard) {
  return [event, guard ? `[${nameOf(guard)}]` : ""].filter((part) => part !== "").join(" ");
}

export function graphOf(machine) {
  const nodes = [];
  const transitions = [];
  const visit = (node) => {
    nodes.push({
      id: idOf(node),
      key: node.path.at(-1) ?? machine.id,
      parent: node.parent ? idOf(node.parent) : null,
      type: node.type,
      isInitial: node.parent?.config.initial === node.key,
      entry: (node.entry ?? []).map(nameOf),
    });
    transitions.push(...transitionsOf(node));
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return { id: machine.id, nodes, transitions };
}
