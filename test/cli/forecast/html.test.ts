import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../../src/cli/commands/index.js";
import { escaped, scriptData } from "../../../src/cli/forecast/html.js";
import { runCaptured } from "../../support/cli.js";
import { temporaryDirectories } from "../../support/temporary.js";

const directory = temporaryDirectories();

/** What a browser would take for markup, a script, the end of one, a comment, or a turn of the writing direction. */
const HOSTILE = [
  "</script><img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "<!--<script>",
  "' onmouseover='alert(1)",
  "`;alert(1)//",
  "\u202etxt.exe",
  "&lt;b&gt;",
];

async function page(identities: readonly string[]): Promise<string> {
  const file = path.join(directory(), "jobs.jsonl");
  const jobs = identities.map((identity) => ({
    identity,
    schedule: "0 0 * * *",
    tags: [identity.slice(0, 60)],
    command: ["x"],
  }));
  fs.writeFileSync(file, jobs.map((job) => `${JSON.stringify(job)}\n`).join(""));
  const { exitCode, out, err } = await runCaptured(KRON, [
    "forecast",
    file,
    "--from",
    "2026-03-01T00:00:00Z",
    "-o",
    "html",
    "--by",
    "tag",
  ]);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  return out;
}

function dataIn(html: string): { readonly names: readonly string[]; readonly chosen: readonly number[] } {
  return JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "null");
}

describe("the page", () => {
  test("hostile names are data everywhere: the page with them has the same tags as the page without", async () => {
    const tagsOf = (html: string): readonly string[] => html.match(/<[a-z!/][^>]*>/gi) ?? [];
    const [hostile, harmless] = [await page(HOSTILE), await page(HOSTILE.map((_, index) => `job-${index}`))];
    expect(tagsOf(hostile)).toEqual(tagsOf(harmless));
    expect(dataIn(hostile).names).toContain("</script><img src=x onerror=alert(1)>");
    expect(hostile).not.toContain("\u202e");
  });

  test("its policy allows the one script and the one style that are in it, and nothing from elsewhere", async () => {
    const html = await page(["a"]);
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    const hash = (pattern: RegExp): string =>
      createHash("sha256")
        .update(pattern.exec(html)?.[1] ?? "")
        .digest("base64");
    expect(policy).toBe(
      `default-src 'none'; script-src 'sha256-${hash(/<script>(.*?)<\/script>/s)}'; style-src 'sha256-${hash(/<style>(.*?)<\/style>/s)}'; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(html.match(/(?:src|href)="(?!data:)/g)).toBeNull();
    expect(html.match(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/g)).toBeNull();
    expect(html).not.toMatch(/ style="| on[a-z]+="/);
  });

  test("it carries both series and the names of each bucket", async () => {
    const data = dataIn(await page(["a", "b"]));
    expect(data.chosen[0]).toBe(2);
    expect(data.names).toEqual(["a", "b"]);
  });
});

describe("escaping", () => {
  test("markup", () => expect(escaped(`<a b="c" d='e'>&`)).toBe("&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;"));
  test("a data block cannot be closed from within, and reads back the same", () => {
    for (const text of [...HOSTILE, "\u2028\u2029", "]]>", "-->"]) {
      expect(scriptData([text])).not.toMatch(/[<>&\u2028\u2029]/);
      expect(JSON.parse(scriptData([text]))).toEqual([text]);
    }
  });
});
