import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { KROND } from "../../src/cli/commands/krond/index.js";
import { allPages, commandPage } from "../../src/cli/man/pages.js";
import { escaped, paragraphs } from "../../src/cli/man/roff.js";

const pages = allPages();
const hasGroff = spawnSync("groff", ["--version"]).status === 0;
const NEEDS_GROFF = hasGroff ? "" : " (skipped: groff is not installed)";

function rendered(text: string): { readonly out: string; readonly err: string } {
  const { stdout, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-rLL=100n", "-P-cbou"], {
    input: text,
    encoding: "utf8",
  });
  return { out: stdout, err: stderr };
}

describe("manual pages", () => {
  test("a page for each program and each command, and the package lists them", () => {
    const names = [KRON, KROND].flatMap(({ name, commands }) => [name, ...commands.map((it) => `${name}-${it.name}`)]);
    expect(pages.map(({ file }) => file)).toEqual(names.map((name) => `${name}.1`));
    const { man } = JSON.parse(fs.readFileSync(path.resolve("package.json"), "utf8")) as { man: string[] };
    expect(man).toEqual(pages.map(({ file }) => `./dist/man/${file}`).sort());
  });

  test.each(pages.map(({ file, text }) => [file, text] as const))("%s says what --help says", (file, text) => {
    const [, program = "", verb] = /^(krond?)(?:-(.*))?\.1$/.exec(file) ?? [];
    const command = [KRON, KROND].find(({ name }) => name === program)?.commands.find(({ name }) => name === verb);
    for (const option of command?.options ?? []) expect(text).toContain(escaped(`--${option.name}`));
    for (const { name, summary } of verb === undefined ? (program === "kron" ? KRON : KROND).commands : []) {
      expect(text).toContain(`\\fB${escaped(`${program}-${name}`)}\\fR(1)\n${escaped(summary)}`);
    }
    expect(text).toMatch(/^\.TH KROND?[^"]* 1 "" "Kron \d/);
    expect(text).toMatch(/^[\0-\x7f]*$/);
  });

  test.skipIf(!hasGroff)(`groff reads every page without a warning${NEEDS_GROFF}`, () => {
    for (const { file, text } of pages) expect([file, rendered(text).err]).toEqual([file, ""]);
  });

  test.skipIf(!hasGroff)(`what looks like a request or an escape is shown as it is written${NEEDS_GROFF}`, () => {
    const details =
      "Plain -x 'quoted' \\n and\n.so /etc/passwd\n\n  example --long ~/x | `y`\n\nterm  meaning\n      goes on";
    const options = [{ name: "a-b", value: "X", help: ".PP is no request – nor \\fBthis" }];
    const spec = { name: "it", summary: "a summary", usage: "[FILE...]", details, options };
    const { out, err } = rendered(commandPage({ name: "kron", summary: "", version: "1", commands: [] }, spec).text);
    expect(err).toBe("");
    const words = ["Plain -x 'quoted' \\n and .so /etc/passwd", "example --long ~/x | `y`", "term   meaning goes on"];
    for (const shown of [...words, "--a-b X", ".PP is no request – nor \\fBthis"]) expect(out).toContain(shown);
  });

  test("paragraphs are filled, examples stand as they are, words with meanings become a list", () => {
    expect(paragraphs("one\ntwo\n\n  kron x\n\nset  this\nget  that\n     too")).toBe(
      "one\ntwo\n.PP\n.nf\n.RS 2\n  kron x\n.RE\n.fi\n.PP\n.TP\nset\nthis\n.TP\nget\nthat\ntoo",
    );
  });
});
