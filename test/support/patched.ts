/** Applies a unified diff of one file, strictly: every context line and every removed line must be as it says. */
export function patched(source: string, diff: string): string {
  if (diff === "") return source;
  const lines = source.split("\n");
  const out: string[] = [];
  let at = 0;
  for (const line of diff.split("\n").slice(2, -1)) {
    const head = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/.exec(line);
    const text = line.slice(1);
    if (head !== null) {
      const start = Number(head[1]) - 1;
      out.push(...lines.slice(at, start));
      at = start;
      if (out.length !== Number(head[2]) - 1) throw new Error(`a hunk begins at ${out.length + 1}, not at ${head[2]}`);
    } else if (line.startsWith("+")) {
      out.push(text);
    } else if (!line.startsWith("\\")) {
      if (lines[at] !== text)
        throw new Error(`line ${at + 1} is ${JSON.stringify(lines[at])}, not ${JSON.stringify(text)}`);
      at += 1;
      if (line.startsWith(" ")) out.push(text);
    }
  }
  return [...out, ...lines.slice(at)].join("\n");
}
