/** Rounds of us and of a peer as one row. */
import { median, spread } from "../lib/measure.mjs";
import { row } from "../lib/report.mjs";

function valuesOf(rounds, key) {
  return rounds.map((round) => round[key]).filter((value) => Number.isFinite(value));
}

/**
 * `ours` and `peer.rounds` are lists of measured rounds, `key` what is compared in them. A peer without rounds could not
 * be measured here and keeps its row, so that nobody takes it for forgotten.
 */
export function compared({ id, name, key, unit, ours, peer, ...more }) {
  const values = valuesOf(ours, key);
  const theirs = valuesOf(peer.rounds, peer.key ?? key);
  return row({
    id,
    name,
    value: values.length === 0 ? null : median(values),
    unit,
    peer: peer.name,
    peer_value: theirs.length === 0 ? null : median(theirs),
    spread: values.length > 1 && median(values) > 0 ? spread(values) : null,
    rounds: values.length,
    peer_rounds: theirs.length,
    ...more,
  });
}

export function thousands(count) {
  return count.toLocaleString("en");
}
