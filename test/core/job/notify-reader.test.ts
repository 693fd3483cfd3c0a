import { describe, expect, test } from "vitest";
import { definitionFromCanonical } from "../../../src/core/job/canonical.js";
import { canonicalDefinitionText, readJobDefaults, readJobDefinition } from "../../../src/core/job/schema.js";
import { requireOk } from "../../support/results.js";

const BASE = { identity: "j", schedule: "@daily", command: ["true"] };
const HOOK = { url: "https://example.org/hook" };

function problems(notify: unknown): readonly string[] {
  const read = readJobDefinition({ ...BASE, notify });
  return read.ok ? [] : read.error.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("who is told, as it is written", () => {
  test("failure, missed and recovered where nothing is said, and late with its time", () => {
    const { notify } = requireOk(
      readJobDefinition({ ...BASE, notify: [{ mail: "a@b.c, root" }, { late: "26h", mail: ["x"] }] }),
    );
    const usual = ["failure", "missed", "recovered"];
    expect(notify).toEqual([
      { on: usual, repeat: false, lateMs: null, target: { kind: "mail", to: ["a@b.c", "root"] } },
      { on: [...usual, "late"], repeat: false, lateMs: 26 * 3_600_000, target: { kind: "mail", to: ["x"] } },
    ]);
  });

  test("a job's own rules stand instead of those of the defaults, and none is nobody", () => {
    const defaults = requireOk(readJobDefaults({ notify: [{ mail: "root" }] }));
    expect(requireOk(readJobDefinition(BASE, defaults)).notify).toHaveLength(1);
    expect(requireOk(readJobDefinition({ ...BASE, notify: [] }, defaults)).notify).toEqual([]);
  });

  test("a definition without rules has the text that it always had", () => {
    expect(canonicalDefinitionText(requireOk(readJobDefinition(BASE)))).not.toContain("notify");
  });

  test.each<[name: string, rule: object]>([
    ["a command", { on: ["failure"], repeat: true, command: ["/bin/tell", "--now"] }],
    ["a mail", { late: "2h", mail: ["a@b.c"] }],
    ["one who waits for several failures", { after: 3, mail: ["a@b.c"] }],
    ["what an endpoint keeps sealed", { webhook: { ...HOOK, signature: { secret_sealed: "sealed:v1:AbC_-9" } } }],
    [
      "a webhook",
      { webhook: { ...HOOK, headers: { A: "b" }, header_env: { Authorization: "T" }, signature: { secret_env: "S" } } },
    ],
    ["Alertmanager", { webhook: { ...HOOK, timeout: "3s", success: [200, "3xx"] }, format: "alertmanager" }],
  ])("%s comes back from its canonical text", (_, rule) => {
    const definition = requireOk(readJobDefinition({ ...BASE, notify: [rule] }));
    const text = canonicalDefinitionText(definition);
    expect(requireOk(readJobDefinition(JSON.parse(text)))).toEqual(definition);
    expect(definitionFromCanonical(text)).toEqual(definition);
  });
});

describe("what is wrong is told, with its place", () => {
  test.each<[name: string, notify: unknown, told: string]>([
    ["nobody to tell", [{}], "notify.0: nobody is told: nothing to tell it with"],
    ["two in one rule", [{ mail: "a", command: ["x"] }], "notify.0: command and mail in one rule"],
    ["late without a time", [{ on: ["late"], mail: "a" }], 'notify.0.late: missing field "late"'],
    ["no time at all", [{ late: "0s", mail: "a" }], "notify.0.late: a timeout is longer than 0s"],
    ["nothing to tell", [{ on: [], mail: "a" }], "notify.0.on: nothing would ever be told"],
    ["an empty command", [{ command: [] }], "notify.0.command: the command is empty"],
    [
      "what nobody has sealed",
      [{ webhook: { ...HOOK, signature: { secret_sealed: "hush" } } }],
      "notify.0.webhook.signature.secret_sealed: that is nothing that this daemon has sealed",
    ],
    [
      "two secrets",
      [{ webhook: { ...HOOK, signature: { secret_file: "/a", secret_env: "B" } } }],
      "notify.0.webhook.signature: a signature has a secret_file or a secret_env",
    ],
    [
      "a NUL in an argument",
      [{ command: ["a", "\0"] }],
      "notify.0.command.1: an argument contains a character that no program can be given",
    ],
    ["no address", [{ mail: "a b" }], 'notify.0.mail: "a b" is not a mail address'],
    ["an option for an address", [{ mail: "-bd" }], 'notify.0.mail: "-bd" is not a mail address'],
    ["a header in an address", [{ mail: ["a@b\nBcc: c"] }], 'notify.0.mail: "a@b\\nBcc: c" is not a mail address'],
    [
      "a hook without a body",
      [{ webhook: { ...HOOK, method: "GET" } }],
      "notify.0.webhook.method: a GET request has no body, and the message is its body",
    ],
    [
      "a hook that is nowhere",
      [{ webhook: { url: "ftp://x/" } }],
      "notify.0.webhook.url: an address begins with http:// or https://",
    ],
    ["a format for a mail", [{ mail: "a", format: "kron" }], "notify.0.format: format is for a webhook"],
    ["the second of two", [{ mail: "a" }, { mail: "" }], 'notify.1.mail: "" is not a mail address'],
  ])("%s", (_, notify, told) => {
    expect(problems(notify)).toEqual([told]);
  });

  test.each<[name: string, notify: unknown, path: string]>([
    ["an unknown occasion", [{ on: ["fail"], mail: "a" }], "notify.0.on.0"],
    ["an unknown field", [{ mails: "a" }], "notify.0.mails"],
    ["no list", { mail: "a" }, "notify"],
    ["a body of one's own", [{ webhook: { ...HOOK, body: "x" } }], "notify.0.webhook.body"],
  ])("%s", (_, notify, path) => {
    expect(problems(notify).some((line) => line.startsWith(`${path}: `))).toBe(true);
  });
});
