/** Guesses what somebody meant who wrote a name that does not exist. */

/** Names that other tools use for the same thing, and fields that live one level deeper than one may think. */
const MEANT: Readonly<Record<string, string>> = {
  id: "identity",
  name: "identity",
  cron: "schedule",
  expression: "schedule",
  interval: "every",
  period: "every",
  min: "min_interval",
  max: "max_interval",
  tz: "timezone",
  time_zone: "timezone",
  zone: "timezone",
  cmd: "command",
  argv: "command",
  args: "command",
  exec: "command",
  run: "command",
  script: "command",
  environment: "env",
  dir: "cwd",
  directory: "cwd",
  workdir: "cwd",
  working_directory: "cwd",
  labels: "tags",
  host: "node",
  hostname: "node",
  machine: "node",
  nodes: "pool",
  queue: "pool",
  window_mode: "window: { mode: ... }",
  window_duration: "window: { duration: ... }",
  mode: "window: { mode: ... }",
  duration: "window: { duration: ... }",
  jitter: "window: { duration: ... }",
  seed_strategy: "seed: { strategy: ... }",
  strategy: "seed: { strategy: ... }",
  salt: "seed: { salt: ... }",
  only: "constraints: { only: ... }",
  avoid: "constraints: { avoid: ... }",
  concurrency: "policy: { concurrency: ... }",
  deadline: "policy: { deadline: ... }",
  suspend: "policy: { suspend: ... }",
  retries: "retry: { limit: ... }",
  max_retries: "retry: { limit: ... }",
  backoff: "retry: { backoff: ... }",
  max_backoff: "retry: { max_backoff: ... }",
  limit: "retry: { limit: ... }",
  gap: "dst: { gap: ... }",
  overlap: "dst: { overlap: ... }",
  keep: "output: { keep: ... }",
  on_excess: "output: { on_excess: ... }",
  input: "stdin",
  stdout: "output: { to: ... }",
  stderr: "output: { to: ... }",
  url: "http: { url: ... }",
  method: "http: { method: ... }",
  headers: "http: { headers: ... }",
  body: "http: { body: ... }",
  redirect: "http: { success: ... }",
  status: "http: { success: ... }",
  max_response: "http: { max_response: ... }",
};

/** Longer than any name there is: nothing needs to be compared with it. */
const LONGEST_NAME = 32;

/** A hint for an unknown name among `known` ones; undefined when nothing is near. */
export function didYouMean(name: string, known: readonly string[]): string | undefined {
  const meant = Object.hasOwn(MEANT, name.toLowerCase()) ? MEANT[name.toLowerCase()] : undefined;
  const near = nearest(name, known);
  if (near !== undefined) return `did you mean ${near}?`;
  return meant !== undefined && known.includes(leadingName(meant)) ? `did you mean ${meant}?` : undefined;
}

/** As `didYouMean`, or else all the choices. */
export function oneOf(name: string, choices: readonly string[]): string {
  return didYouMean(name, choices) ?? `write one of ${choices.join(", ")}`;
}

function leadingName(meant: string): string {
  return meant.split(":")[0] ?? meant;
}

/** The one of `known` that was probably meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length === 0 || name.length > LONGEST_NAME) return undefined;
  const wanted = plain(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `maxActive`, `max-active` and `MAX_ACTIVE` are one mistake. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      const change = (previous[column - 1] as number) + cost;
      const gap = Math.min(previous[column] as number, current[column - 1] as number) + 1;
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(Math.min(change, gap, isSwap ? (before[column - 2] as number) + 1 : change));
    }
    [before, previous] = [previous, current];
  }
  return previous[b.length] as number;
}
