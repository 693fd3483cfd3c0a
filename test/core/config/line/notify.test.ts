/** `@notify(...)`: who is told, in the line format. */
import { describe, expect, test } from "vitest";
import { jobsYaml } from "../../../../src/core/config/export.js";
import { readKronLine } from "../../../../src/core/config/line/kron-line.js";
import { readYamlConfig } from "../../../../src/core/config/yaml/reader.js";
import type { JobDefinition } from "../../../../src/core/job/definition.js";
import { readJobDefinition } from "../../../../src/core/job/schema.js";
import { requireOk } from "../../../support/results.js";

const BASE = { identity: "a", schedule: "@daily", command: ["x"] };
const lineOf = (more: string): string => `@daily ${more} name=a command=x`;

function definitionOf(line: string): JobDefinition {
  const { job, problems } = readKronLine(line, { file: "f.kron", line: 1 });
  if (job === null) throw new Error(`expected a job, got ${JSON.stringify(problems)}`);
  return job.definition;
}

const ROWS: readonly (readonly [line: string, notify: readonly object[]])[] = [
  ["@notify(mail=ops@example.org)", [{ mail: "ops@example.org" }]],
  ["@notify(mail=ops@example.org,after=3)", [{ mail: "ops@example.org", after: 3 }]],
  [
    '@notify(mail="a@example.org, b@example.org",late=26h)',
    [{ mail: ["a@example.org", "b@example.org"], late: "26h" }],
  ],
  [
    "@notify(command=\"logger -t 'my kron'\", on=failure;missed, repeat=true)",
    [{ command: ["logger", "-t", "my kron"], on: ["failure", "missed"], repeat: true }],
  ],
  [
    "@notify(webhook=https://hooks.example.org/kron?a=1, format=alertmanager, timeout=5s, secret_file=/etc/kron/secret)",
    [
      {
        webhook: {
          url: "https://hooks.example.org/kron?a=1",
          timeout: "5s",
          signature: { secret_file: "/etc/kron/secret" },
        },
        format: "alertmanager",
      },
    ],
  ],
  [
    "@notify(webhook=https://h.example.org/,method=PUT,success=2xx,secret_env=S,ca_file=/ca,client_cert_file=/c,client_key_file=/k)",
    [
      {
        webhook: {
          url: "https://h.example.org/",
          method: "PUT",
          success: "2xx",
          signature: { secret_env: "S" },
          ca_file: "/ca",
          client_cert_file: "/c",
          client_key_file: "/k",
        },
      },
    ],
  ],
  [
    "@notify(mail=a@example.org) @notify( mail=b@example.org , on=late , late=1h )",
    [{ mail: "a@example.org" }, { mail: "b@example.org", on: ["late"], late: "1h" }],
  ],
];

describe("what a line means is what the same rules mean elsewhere", () => {
  test.each(ROWS)("%s", (text, notify) => {
    expect(definitionOf(lineOf(text))).toEqual(requireOk(readJobDefinition({ ...BASE, notify })));
  });

  test.each(ROWS)("as YAML, and read back: %s", (text) => {
    const definition = definitionOf(lineOf(text));
    const { jobs, problems } = readYamlConfig("f.yaml", jobsYaml([{ definition, comments: [] }]));
    expect(problems).toEqual([]);
    expect(jobs.map((job) => job.definition)).toEqual([definition]);
  });

  test("anywhere on the line, also behind its fields", () => {
    const text = "@daily name=a command=x @notify(mail=a@example.org)";
    expect(definitionOf(text)).toEqual(definitionOf(lineOf("@notify(mail=a@example.org)")));
  });
});

describe("what is wrong stands where it is written", () => {
  /** `what is underlined: message` of every problem. */
  function told(more: string): readonly string[] {
    const line = lineOf(more);
    const { job, problems } = readKronLine(line, { file: "f.kron", line: 1 });
    expect(job).toBeNull();
    return problems.map(
      ({ problem, column, length }) => `${line.slice(column - 1, column - 1 + length)}: ${problem.message}`,
    );
  }

  test.each<[string, readonly string[]]>([
    ["@notify()", ["): an argument is missing"]],
    ["@notify(ops@example.org)", ["ops@example.org: expected name=value"]],
    ["@notify(mial=ops@example.org)", ["mial: unknown name mial in @notify"]],
    ["@notify(mail=a@example.org,mail=b@example.org)", ["mail: mail is written twice"]],
    ["@notify(mail=)", ["): an argument is missing"]],
    ["@notify(mail=nobody;here)", ['nobody;here: "nobody;here" is not a mail address']],
    ["@notify(mail=a@example.org,late=soon)", ["soon: not a duration"]],
    [
      "@notify(mail=a@example.org,on=failure;sometimes)",
      [expect.stringMatching(/^sometimes: expected one of failure,/)],
    ],
    ["@notify(mail=a@example.org,repeat=often)", [expect.stringMatching(/^often: expected true or false/)]],
    ["@notify(mail=a@example.org,format=kron)", ["kron: format is for a webhook"]],
    ["@notify(late=1h)", ["late=1h: nobody is told: nothing to tell it with"]],
    [
      "@notify(mail=a@example.org,webhook=https://example.org)",
      ["mail=a@example.org,webhook=https://example.org: webhook and mail in one rule"],
    ],
    ["@notify(webhook=ftp://example.org)", [expect.stringMatching(/^ftp:/)]],
    ["@notify(webhook=https://example.org,method=GET)", [expect.stringMatching(/^GET: a GET request has no body/)]],
    [`@notify(command="a 'b")`, ["': a single quote is not closed"]],
    ['@notify(command="")', [expect.stringMatching(/: the command is empty$/)]],
    ["@notify(mail=a@example.org", [expect.stringMatching(/^\(: the parenthesis of @notify is not closed$/)]],
    ["@notfy(mail=a@example.org)", ["@notfy: unknown modifier @notfy"]],
    [
      Array.from({ length: 17 }, () => "@notify(mail=a@example.org)").join(" "),
      [expect.stringMatching(/^mail=a@example.org: 17 rules, more than the limit of 16$/)],
    ],
  ])("%s", (more, wanted) => {
    expect(told(more)).toEqual(wanted);
  });

  test("all of it at once", () => {
    expect(told("@notify(mail=x y) @notify(late=soon,mail=a@example.org)").length).toBeGreaterThan(1);
  });
});
