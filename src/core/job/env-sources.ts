/** Where variables of a job come from that are not to stand in its definition: names and places only, never a value. */
import { LIMITS } from "../base/limits.js";
import { type Problem, problemAt } from "../base/problem.js";
import type { EnvSources } from "./definition.js";
import { envNameProblem } from "./env-file.js";
import { quote } from "./issues.js";
import { byteLength } from "./reading.js";
import type { PartialRawJob, RawJob } from "./shape.js";

/** As systemd names them: a file in a directory, and never another directory. */
const CREDENTIAL = /^[^/\p{C}]{1,255}$/u;

/** undefined: the definition has all there is. */
export function readEnvSources(raw: PartialRawJob, problems: Problem[]): EnvSources | undefined {
  const { env_file: file = [], pass_env: passed = [], env_credentials: credentials = {} } = raw;
  const files = typeof file === "string" ? [file] : file;
  const named = Object.entries(credentials).sort(([a], [b]) => (a < b ? -1 : 1));
  if (files.length + passed.length + named.length === 0) return undefined;
  const before = problems.length;
  for (const [field, count] of [
    ["env_file", files.length],
    ["pass_env", passed.length],
    ["env_credentials", named.length],
  ] as const) {
    if (count > LIMITS.envSources) problems.push(tooMany(field, count));
  }
  if (problems.length > before) return undefined;
  for (const [index, path] of files.entries()) {
    const problem = fileProblem(path);
    if (problem !== null)
      problems.push(problemAt(problem, ...(typeof file === "string" ? ["env_file"] : ["env_file", index])));
  }
  for (const [index, name] of passed.entries()) pushName(name, ["pass_env", index], problems);
  for (const [name, credential] of named) {
    pushName(name, ["env_credentials", name], problems);
    if (!CREDENTIAL.test(credential) || credential === "." || credential === "..") {
      const hint = "the name that LoadCredential= of the unit gives it";
      problems.push({
        ...range(`${quote(credential)} is not the name of a credential`, hint),
        path: ["env_credentials", name],
      });
    }
  }
  return Object.freeze({
    files: Object.freeze([...files]),
    passed: Object.freeze([...new Set(passed)].sort()),
    credentials: Object.freeze(Object.fromEntries(named)),
  });
}

export function envSourcesToRaw(sources: EnvSources | undefined): Partial<RawJob> {
  if (sources === undefined) return {};
  const { files, passed, credentials } = sources;
  const [only = "", ...others] = files;
  return {
    ...(files.length === 0 ? {} : { env_file: others.length === 0 ? only : [...files] }),
    ...(passed.length === 0 ? {} : { pass_env: [...passed] }),
    ...(Object.keys(credentials).length === 0 ? {} : { env_credentials: { ...credentials } }),
  };
}

function pushName(name: string, path: Problem["path"], problems: Problem[]): void {
  const wrong = envNameProblem(name);
  if (wrong !== null) problems.push({ code: "environment-name", message: `${quote(name)}: ${wrong}`, path });
}

function fileProblem(path: string): Problem | null {
  if (!path.startsWith("/")) return range("a file is named by an absolute path", "it is read where the daemon runs");
  if (byteLength(path) > LIMITS.pathBytes) return range(`the path is longer than ${LIMITS.pathBytes} bytes`);
  return path.includes("\0") ? range("the path holds a NUL character") : null;
}

function tooMany(field: string, count: number): Problem {
  return { code: "limit-exceeded", message: `${count} are more than the limit of ${LIMITS.envSources}`, path: [field] };
}

function range(message: string, hint?: string): Problem {
  return { code: "field-range", message, path: [], ...(hint === undefined ? {} : { hint }) };
}
