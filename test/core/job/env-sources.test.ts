import { describe, expect, test } from "vitest";
import { readKronLine } from "../../../src/core/config/line/kron-line.js";
import { readYamlConfig } from "../../../src/core/config/yaml/reader.js";
import { minimalRaw } from "../../../src/core/job/minimal.js";
import { canonicalDefinitionText, readDefinitionInForce, readJobDefinition } from "../../../src/core/job/schema.js";
import { requireErr, requireOk } from "../../support/results.js";

const JOB = { identity: "a", schedule: "@daily", command: ["true"] };

function sourcesOf(raw: object): unknown {
  const { target } = requireOk(readJobDefinition({ ...JOB, ...raw }));
  return target.kind === "process" ? target.envSources : null;
}

describe("where variables come from", () => {
  test("one file or several, names, credentials; without any the definition is what it always was", () => {
    expect(sourcesOf({ env_file: "/etc/a.env" })).toEqual({ files: ["/etc/a.env"], passed: [], credentials: {} });
    const all = { env_file: ["/b", "/a"], pass_env: ["Z", "A", "Z"], env_credentials: { DB: "db-password" } };
    expect(sourcesOf(all)).toEqual({ files: ["/b", "/a"], passed: ["A", "Z"], credentials: { DB: "db-password" } });
    for (const none of [{}, { env_file: [], pass_env: [], env_credentials: {} }]) {
      expect(sourcesOf(none)).toBeUndefined();
      expect(canonicalDefinitionText(requireOk(readJobDefinition({ ...JOB, ...none })))).toBe(
        canonicalDefinitionText(requireOk(readJobDefinition(JOB))),
      );
    }
  });

  test("the stored text reads back as the same definition, and what people would write too", () => {
    for (const raw of [{ env_file: "/a" }, { env_file: ["/b", "/a"], pass_env: ["A"], env_credentials: { B: "c" } }]) {
      const definition = requireOk(readJobDefinition({ ...JOB, ...raw }));
      const text = canonicalDefinitionText(definition);
      expect(readDefinitionInForce(text)).toEqual({ definition, problems: [] });
      expect(minimalRaw(definition)).toMatchObject(raw);
    }
  });

  test("YAML and line format say the same; defaults give what a job does not say, credentials by name", () => {
    const yaml = readYamlConfig(
      "a.yaml",
      `defaults: { env_file: /etc/all.env, pass_env: [PROXY], env_credentials: { A: a } }
jobs:
  - { identity: a, schedule: "@daily", command: [x], env_file: [/etc/a.env, /etc/b.env], env_credentials: { B: b } }
`,
    );
    const line = readKronLine(
      `@daily name=a command="x" env_file="/etc/a.env /etc/b.env" pass_env=PROXY env_credentials="A=a B=b"`,
      { file: "a.kron", line: 1 },
    );
    expect([yaml.problems, line.problems]).toEqual([[], []]);
    const [job] = yaml.jobs;
    expect(job?.definition.target).toEqual(line.job?.definition.target);
    expect(job?.definition.target).toMatchObject({
      envSources: { files: ["/etc/a.env", "/etc/b.env"], passed: ["PROXY"], credentials: { A: "a", B: "b" } },
    });
  });

  test.each([
    ["a relative path", { env_file: "a.env" }, ["env_file"], "absolute path"],
    ["one of several", { env_file: ["/a", "b"] }, ["env_file", 1], "absolute path"],
    ["a wrong name", { pass_env: ["A", "1B"] }, ["pass_env", 1], '"1B": expected a name'],
    ["a name of ours", { pass_env: ["KRON_PERIOD_ID"] }, ["pass_env", 0], "set by Kron itself"],
    ["a credential in another directory", { env_credentials: { A: "../b" } }, ["env_credentials", "A"], "not the name"],
    ["a wrong type", { pass_env: "A" }, ["pass_env"], "list"],
    ["too many", { pass_env: Array.from({ length: 257 }, (_, i) => `A${i}`) }, ["pass_env"], "limit of 256"],
    [
      "beside a request",
      { command: undefined, http: { url: "https://example.org" }, env_file: "/a" },
      ["env_file"],
      "request",
    ],
  ])("%s: refused where it stands", (_name, raw, path, message) => {
    const problems = requireErr(readJobDefinition({ ...JOB, ...raw }));
    expect(problems).toContainEqual(expect.objectContaining({ path, message: expect.stringContaining(message) }));
  });

  test("in a line, the word that is wrong", () => {
    const text = `@daily name=a command=x pass_env="GOOD 1BAD"`;
    const { problems } = readKronLine(text, { file: "a.kron", line: 1 });
    expect(problems).toMatchObject([{ column: text.indexOf("1BAD") + 1, length: 4 }]);
  });

  test("defaults with files are no business of requests", () => {
    const yaml = `defaults: { env_file: /a, pass_env: [B], env_credentials: { C: d } }
jobs: [{ identity: a, schedule: "@daily", http: { url: "https://example.org/" } }]
`;
    expect(readYamlConfig("a.yaml", yaml)).toMatchObject({ problems: [], jobs: [{}] });
  });
});
