/**
 * The gate (S23): a shell that prepares everything, says READY, and then waits for one line. GO with a moment that has not
 * passed makes it the command, under the same PID; end-of-file or anything else ends it with 125 and nothing ever ran.
 * It starts with an empty environment, so that no variable of a job reaches the program that drops privileges; the job's
 * environment comes through the two-way pipe, and the job's words are only ever arguments, never shell text.
 */
import * as fs from "node:fs";

/** What exit status 125 of a gate means is told apart by these words on the pipe, because a command may exit 125, too. */
export type GateWord =
  | "READY"
  | "EXEC"
  | "NOEXEC"
  | "LATE"
  | "FAIL limits"
  | "FAIL cwd"
  | "FAIL missing"
  | "FAIL denied";

/** Names that a job may not give: the gate uses them. */
export const RESERVED_ENV_PREFIX = "KRON_GATE_";

/**
 * Arguments: umask, open files, directory, then the command.
 *
 * What fails first is said only when all that was sent is read: a process that ends with unread words resets the pipe, and
 * its own last word can be lost. `[ -x ]` decides with the effective user, and only files count: a shell's own `cd` is no
 * command. No step forks, also not the look at the time (S20): /proc/uptime is read by the shell itself, in hundredths of
 * a second since the boot, which no clock jump moves. Where `exec` itself fails, dash comes back to the trap with the pipe
 * as it was, and says so; bash has closed it by then and leaves only its exit status. What is left is the way from that
 * look to `exec`, some microseconds, unless the process is stopped exactly there.
 */
const GATE_SCRIPT = `KRON_GATE_S=missing
umask "$1" && ulimit -Sn "$2" || KRON_GATE_S=limits
cd -- "$3" 2>/dev/null || KRON_GATE_S=cwd
shift 3
unset PWD OLDPWD SHLVL
KRON_GATE_V=
while :; do
IFS= read -r KRON_GATE_L <&3 || exit 125
case $KRON_GATE_L in
+*) KRON_GATE_V="$KRON_GATE_V
\${KRON_GATE_L#+}"; continue ;;
esac
[ -z "$KRON_GATE_V" ] || export "$KRON_GATE_V"
case $KRON_GATE_L in
=*) KRON_GATE_V=\${KRON_GATE_L#=} ;;
*) break ;;
esac
done
[ $KRON_GATE_S = missing ] && case $1 in
-*) ;;
*/*) [ -f "$1" ] && { [ -x "$1" ] && KRON_GATE_S=ok || KRON_GATE_S=denied; } ;;
*) KRON_GATE_P=$PATH:
while [ -n "$KRON_GATE_P" ]; do
KRON_GATE_V=\${KRON_GATE_P%%:*}/$1
KRON_GATE_P=\${KRON_GATE_P#*:}
case $KRON_GATE_V in "/$1") KRON_GATE_V=./$1 ;; esac
[ -f "$KRON_GATE_V" ] || continue
[ -x "$KRON_GATE_V" ] && KRON_GATE_S=ok && break
KRON_GATE_S=denied
done ;;
esac
[ $KRON_GATE_S = ok ] || { echo "FAIL $KRON_GATE_S" >&3; exit 124; }
echo READY >&3
IFS= read -r KRON_GATE_L <&3 || exit 125
case $KRON_GATE_L in "GO "?*) ;; *) exit 125 ;; esac
IFS=' ' read -r KRON_GATE_V KRON_GATE_P </proc/uptime || exit 125
[ "\${KRON_GATE_V%.*}\${KRON_GATE_V#*.}" -le "\${KRON_GATE_L#GO }" ] || { echo LATE >&3; exit 125; }
echo EXEC >&3
trap "trap '' PIPE; echo NOEXEC >&3" EXIT
exec "$@" 3>&-`;

const GATE_NAME = "kron-gate";
/** dash passes every variable on exactly as given; bash meddles with its own (SHLVL, RANDOM, LINENO, _). */
const SHELLS = ["/bin/dash", "/usr/bin/dash", "/bin/sh"] as const;
const DEFAULT_UMASK = 0o022;

interface GateSettings {
  readonly shell: string;
  readonly umask: number | null;
  readonly openFiles: number;
  readonly cwd: string;
  readonly argv: readonly string[];
}

export function findGateShell(): string {
  return SHELLS.find((path) => fs.existsSync(path)) ?? "/bin/sh";
}

export function gateArgv(gate: GateSettings): readonly string[] {
  const umask = (gate.umask ?? DEFAULT_UMASK).toString(8).padStart(4, "0");
  return [gate.shell, "-c", GATE_SCRIPT, GATE_NAME, umask, String(gate.openFiles), gate.cwd, ...gate.argv];
}

/** One `=NAME=value` a variable; a value's further lines begin with `+`; a lone dot ends the block. */
export function environmentBlock(env: Readonly<Record<string, string>>): string {
  let block = "";
  for (const [name, value] of Object.entries(env)) {
    block += `=${name}=${value}\n`.replaceAll(/\n(?!$)/g, "\n+");
  }
  return `${block}.\n`;
}

export function goLine(latestUptimeHundredths: number): string {
  return `GO ${latestUptimeHundredths}\n`;
}

/** True while the process is a gate, also while it still drops privileges: whatever it is to run, it has not yet. */
export function isStillGated(pid: number): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`\0-c\0${GATE_SCRIPT}\0${GATE_NAME}\0`);
  } catch {
    return false;
  }
}
