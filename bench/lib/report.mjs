/** Rows of one comparison each, as markdown for people and JSON for programs. */
const ROW_KEYS = ["id", "name", "value", "unit", "peer", "peer_value", "ratio", "spread"];

export function row(fields) {
  const ratio = fields.peer_value ? fields.value / fields.peer_value : null;
  const whole = { peer: null, peer_value: null, spread: null, ...fields, ratio: fields.ratio ?? ratio };
  return Object.fromEntries([...ROW_KEYS, ...Object.keys(whole)].map((key) => [key, whole[key] ?? null]));
}

/** Of durations and sizes; of rates more is better. A row may say so itself. */
const LOWER_IS_BETTER = /^(?:ns|µs|ms|s|B|KiB|MiB|KiB\/min|% of a core)$/;

/** How many times better our value is than the peer's: more than 1 when it is; null when there is nothing to compare. */
export function timesBetter({ value, peer_value: theirs, unit, better }) {
  if (!value || !theirs) return null;
  const isLower = better === undefined ? LOWER_IS_BETTER.test(unit) : better === "lower";
  return isLower ? theirs / value : value / theirs;
}

/** As it is shown; below 1 it is the peer that is better. */
export function betterBy(row) {
  const times = timesBetter(row);
  return times === null ? "-" : `${number(times)} ×`;
}

export function number(value) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(2)}M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(1)}k`;
  if (size >= 100) return value.toFixed(0);
  return value.toPrecision(3);
}

export function markdown({ machine, rows, notes = [] }) {
  const head = `Node ${machine.node}, V8 ${machine.v8}, zone data ${machine.tz}, ${machine.platform}, ${machine.cores} cores (${machine.cpu}), ${machine.memory_gib} GiB`;
  const lines = rows.map(
    (r) =>
      `| ${r.id} | ${r.name} | ${number(r.value)} ${r.unit} | ${r.peer ?? "-"} | ${r.peer_value === null ? "-" : `${number(r.peer_value)} ${r.unit}`} | ${betterBy(r)} | ${r.spread === null ? "-" : `± ${(r.spread * 100).toFixed(0)} %`} |`,
  );
  const table = [
    "| id | what | Kron | peer | peer's value | Kron is better by | spread |",
    "|---|---|---|---|---|---|---|",
    ...lines,
  ];
  return `${head}\n\n${table.join("\n")}\n${notes.map((note) => `\n${note}\n`).join("")}`;
}
