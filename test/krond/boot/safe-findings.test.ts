import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { loadConfiguration } from "../../../src/actors/pool/load/configuration.js";
import { findingsText } from "../../../src/cli/load.js";
import { safeFinding } from "../../../src/krond/boot/safe-findings.js";
import { temporaryDirectories } from "../../support/temporary.js";

const temporary = temporaryDirectories();

/** Stands for a secret wherever one may be written. */
const CANARY = "canary-5up3r";
const JOB = 'jobs:\n  - identity: a\n    schedule: "0 0 * * *"\n    command: [x]\n';
const HTTP = (rest: string): string => JOB.replace("command: [x]", `http: { url: "http://h/", ${rest} }`);
const LINE = '0 0 * * * name=a command="x"';

const ROWS: readonly (readonly [title: string, file: string, text: string])[] = [
  ["a value that needs quotes", "x.yaml", `${JOB}    env:\n      PASSWORD: @${CANARY}\n`],
  ["a quote that is not closed", "x.yaml", `${JOB}    env:\n      PASSWORD: "${CANARY}\n`],
  ["an alias that is none", "x.yaml", `${JOB}    env:\n      PASSWORD: *${CANARY}\n`],
  ["a key in a value", "x.yaml", `${JOB}    env:\n      PASSWORD: a: ${CANARY}\n`],
  ["a tag", "x.yaml", `${JOB}    env:\n      PASSWORD: !${CANARY} x\n`],
  ["a list for a value", "x.yaml", `${JOB}    env:\n      PASSWORD: [${CANARY}]\n`],
  ["a text for an environment", "x.yaml", `${JOB}    env: ${CANARY}\n`],
  ["a list for an environment", "x.yaml", `${JOB}    env: [${CANARY}]\n`],
  ["names that are none", "x.yaml", `${JOB}    env: { ${CANARY}-x: 1, "A ${CANARY}": ${CANARY} }\n`],
  ["a variable twice", "x.yaml", `${JOB}    env:\n      A: 1\n      A: ${CANARY}\n`],
  ["anchors", "x.yaml", `${JOB}    env:\n      A: &x ${CANARY}\n      B: *y\n      <<: *x\n`],
  ["a brace that is not closed", "x.yaml", `${JOB}    env: { A: ${CANARY}, schedule: 61 * * * *\n`],
  ["a field that is misspelt", "x.yaml", `${JOB}    environment: { A: ${CANARY} }\n    headers: ${CANARY}\n`],
  ["a list for an input", "x.yaml", `${JOB}    stdin: [${CANARY}]\n`],
  ["a mapping for an input", "x.yaml", `${JOB}    stdin: { a: ${CANARY} }\n`],
  ["a command in one text", "x.yaml", JOB.replace("[x]", `"x ${CANARY}"`)],
  ["a list in a command", "x.yaml", JOB.replace("[x]", `[x, [${CANARY}]]`)],
  ["a mapping for a command", "x.yaml", JOB.replace("[x]", `{ ${CANARY}: 1 }`)],
  ["a command with a NUL", "x.yaml", JOB.replace("[x]", `["x", "${CANARY}\\0"]`)],
  ["a url with a password", "x.yaml", JOB.replace("command: [x]", `http: { url: "ftp://u:${CANARY}@h/" }`)],
  ["a header that is a list", "x.yaml", HTTP(`headers: { Authorization: ["${CANARY}"] }`)],
  ["a header with no name", "x.yaml", HTTP(`headers: { "X Y": "${CANARY}" }`)],
  ["headers that are a text", "x.yaml", HTTP(`headers: "${CANARY}"`)],
  ["a body that is a list", "x.yaml", HTTP(`method: POST, body: [${CANARY}]`)],
  ["the environment of the defaults", "x.yaml", `defaults: { env: { A: [${CANARY}], "A B": "${CANARY}" } }\n${JOB}`],
  ["no mapping at all", "x.yaml", CANARY],
  ["a list of texts", "x.yaml", `- ${CANARY}\n`],
  ["a field of the file", "x.yaml", `a: b: ${CANARY}\n`],
  ["JSON that ends too early", "x.jsonl", `{"identity":"a","command":["x"],"env":{"A":"${CANARY}}\n`],
  ["JSON with a word", "x.jsonl", `{"identity":"a","env":{"A":${CANARY}}}\n`],
  ["JSON with a tail", "x.jsonl", `{"identity":"a"} ${CANARY}\n`],
  ["JSON with a list for a value", "x.jsonl", `{"identity":"a","command":["x"],"env":{"A":["${CANARY}"]}}\n`],
  ["JSON with a key twice", "x.jsonl", `{"identity":"a","env":{"${CANARY}":"1","${CANARY}":"2"}}\n`],
  ["a line whose quote is not closed", "x.kron", `0 0 * * * name=a command="x ${CANARY}\n`],
  ["a line with an environment that is none", "x.kron", `${LINE} env=${CANARY}\n`],
  ["a line with an unknown field", "x.kron", `${LINE} env="A=${CANARY}" ${CANARY}=b\n`],
  ["a line with words at its end", "x.kron", `0 0 * * * name=a command=x ${CANARY}\n`],
  ["a line with a name that is none", "x.kron", `${LINE} env="A B=${CANARY}"\n`],
  ["a line with an unknown escape", "x.kron", `${LINE} env="${CANARY}\\q"\n`],
  ["a line with an unknown modifier", "x.kron", `0 0 * * * @${CANARY} name=a command="x"\n`],
  ["a line whose schedule is wrong", "x.kron", `61 0 * * * name=a command="x '${CANARY}"\n`],
  ["a crontab line", "crontab", `61 * * * * echo ${CANARY}\n`],
  ["a crontab line that is a word", "crontab", `TOKEN ${CANARY} a b c d e\n`],
  ["a crontab variable", "crontab", `A B=${CANARY}\n* * * *\n`],
  ["a crontab shell", "crontab", `SHELL=${CANARY}\n* * * * * x\n`],
  ["a crontab zone", "crontab", `CRON_TZ=${CANARY}\n* * * * * x\n`],
];

test.each(ROWS)("no finding in a journal quotes the file: %s", async (_title, name, text) => {
  const file = path.join(temporary(), name);
  fs.writeFileSync(file, text);
  const crontab = name === "crontab" ? { crontab: { form: "user" as const, timezone: "UTC", owner: null } } : {};
  const { findings } = await loadConfiguration([{ path: file, name, ...crontab }]);
  const told = findingsText(findings.map(safeFinding), false);
  expect(told).not.toContain(CANARY);
  expect(told).toMatch(new RegExp(`^${name}:\\d+:\\d+: error: \\w`));
});

test("what quotes nothing keeps its words, its field and its hint", async () => {
  const file = path.join(temporary(), "jobs.yaml");
  fs.writeFileSync(file, JOB.replace("0 0", "0 61"));
  const { findings } = await loadConfiguration([{ path: file, name: "jobs.yaml" }]);
  expect(findingsText(findings.map(safeFinding), false)).toBe(
    "jobs.yaml:3:18: error: schedule: hour field: 61 is out of range\n  hint: write 0 to 23\n",
  );
});
