/** Texts as roff(7) takes them. */

/** Nothing in it is taken for a request or an escape, and a hyphen can be copied into a shell. */
export function escaped(text: string): string {
  const inert = text.replace(/\\/g, "\\e").replace(/-/g, "\\-").replace(/'/g, "\\(aq").replace(/\^/g, "\\(ha");
  const signs = inert.replace(/~/g, "\\(ti").replace(/`/g, "\\(ga").replace(/^\./gm, "\\&.");
  return signs.replace(/[^\0-\x7f]/gu, (char) => `\\[u${codeOf(char)}]`);
}

function codeOf(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** What is indented is shown as it stands: examples and tables. The rest is filled. */
export function paragraphs(text: string): string {
  const blocks = text.trim().split(/\n{2,}/);
  return blocks.map(blockText).join("\n.PP\n");
}

function blockText(block: string): string {
  const lines = block.split("\n");
  const indents = lines.map((line) => line.length - line.trimStart().length);
  const column = Math.max(...indents);
  if (column === 0) return escaped(block);
  if (indents[0] === 0) return definitions(lines, column);
  return `.nf\n.RS 2\n${escaped(block)}\n.RE\n.fi`;
}

/** A word, and from a column on what it means, over several lines. */
function definitions(lines: readonly string[], column: number): string {
  const parts = lines.map((line) => {
    const term = line.slice(0, column).trim();
    const meaning = escaped(line.slice(column).trim());
    return term === "" ? meaning : `.TP\n${escaped(term)}\n${meaning}`;
  });
  return parts.join("\n");
}
