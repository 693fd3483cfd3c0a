import { mkdir, open, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { hostTimezone } from "../../actors/host-zone.js";
import { fileWords } from "../../core/base/errors/file-words.js";
import { zoneOf } from "../../core/time/zone.js";
import { errnoOf } from "../../persist/private-files.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import { firstJobs } from "../first-jobs.js";
import type { CliIo } from "../io.js";

const FILE = "jobs.yaml";
/** krond refuses what others than its user may write, whatever the umask says. */
const MODE = 0o644;

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const { positionals } = args;
  if (positionals.length > 1) throw usageError("init writes one file", "name one directory or one file");
  const zone = zoneOf(args.text("tz") ?? hostTimezone());
  if (!zone.ok) throw new CliError(EXIT.usage, `--tz: ${zone.error.message}`, zone.error.hint);
  const path = await placeOf(resolve(io.cwd, positionals[0] ?? "."));
  await writeNew(path, firstJobs(zone.value.id));
  const name = shown(path, io.cwd);
  await io.out(`wrote ${name}\n\n${nextSteps(name)}`);
  return EXIT.ok;
}

/** What is called like a job file is one; everything else is a directory for it. */
async function placeOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return join(path, FILE);
  if (/\.ya?ml$/.test(basename(path))) return path;
  if (found === null) return join(path, FILE);
  throw new CliError(EXIT.usage, `${path} is a file`, "name a directory, or a file that ends in .yaml");
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "wx", MODE);
    try {
      await file.chmod(MODE);
      await file.writeFile(text, "utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw new CliError(EXIT.usage, `${path} cannot be written: ${fileWords(error)}`);
    throw new CliError(EXIT.usage, `${path} is there already, and stays as it is`, "name another directory or file");
  }
}

function shown(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near.startsWith("..") ? path : near;
}

function nextSteps(name: string): string {
  const word = /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  return `Next:
  kron lint ${word}                 is everything in order?
  kron next --config ${word}        when does it run, to the second?
  krond start --config ${word}      run it
  kron list                         what runs, what comes next; then: kron logs demo/hello
`;
}
