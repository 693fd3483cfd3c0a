/** Names for imported jobs: `backup/pg_dump` says more than a hash. Only a name: nothing depends on guessing well. */

/** Words that stand before the program that matters; of the second group another word goes with them. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "sudo nice ionice env exec time timeout nohup chronic command test [ ] ! if then else fi eval".split(" "),
);
const WRAPPERS_WITH_WORD: ReadonlySet<string> = new Set(["cd", "sleep", "source", ".", "flock", "-u", "-g"]);
/** Of these the script says more. */
const INTERPRETERS: ReadonlySet<string> = new Set(
  "sh bash dash zsh ksh python python2 python3 perl ruby node php java docker".split(" "),
);
const LONGEST_NAME = 40;
/** Words of a command that are looked at. */
const LOOKED_AT = 50;

/** `<file>/<program>` for the job of a crontab. */
export function jobNameOf(file: string, command: string): string {
  const words = command.split(/[\s;&|()<>"'`]+/, LOOKED_AT).filter((word) => word !== "");
  return `${plain(baseOf(file)) || "crontab"}/${plain(programOf(words)) || "job"}`;
}

function programOf(words: readonly string[]): string {
  let interpreter = "";
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const base = baseOf(word);
    if (WRAPPERS_WITH_WORD.has(word)) at += words[at + 1]?.startsWith("-") === true ? 2 : 1;
    else if (INTERPRETERS.has(base)) interpreter = interpreter === "" ? base : interpreter;
    else if (!WRAPPERS.has(base) && !isArgument(word)) return base.replace(/\.(?:sh|bash|py|pl|rb|js|php|jar)$/, "");
  }
  return interpreter;
}

/** Options, assignments, numbers, and what is only there once something was expanded. */
function isArgument(word: string): boolean {
  return word.startsWith("-") || /^\w+=/.test(word) || /^[\d.%]+[smhd]?$/.test(word) || word.startsWith("$");
}

function baseOf(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? "";
}

function plain(text: string): string {
  return text
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, LONGEST_NAME);
}
