/** What can be wrong with a request before any process exists. Pure. */
import { Buffer } from "node:buffer";
import type { ErrorCode } from "../../core/base/errors/registry.js";
import type { ArmFailure } from "../runner/port.js";
import { RESERVED_ENV_PREFIX } from "./child/gate.js";
import { LAUNCHER_LIMITS } from "./child/limits.js";
import type { Command, ProcessArm } from "./port.js";

/** An attempt's id also names a directory. */
const ATTEMPT_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** What a POSIX shell can export; it would drop any other name in silence. */
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function argvOf(command: Command): readonly string[] {
  return command.kind === "argv" ? command.argv : ["/bin/sh", "-c", command.text];
}

/** null: nothing is wrong so far. */
export function checkRequest(request: ProcessArm): ArmFailure | null {
  if (!ATTEMPT_ID.test(request.attemptId)) {
    throw new Error(`invariant broken: ${JSON.stringify(request.attemptId)} cannot name an attempt`);
  }
  if (request.env["KRON_ATTEMPT_ID"] !== request.attemptId) {
    throw new Error(`invariant broken: attempt ${request.attemptId} does not carry its id in its environment`);
  }
  return checkCommand(request) ?? checkEnvironment(request.env) ?? checkDirectory(request.cwd);
}

function checkCommand(request: ProcessArm): ArmFailure | null {
  const argv = argvOf(request.command);
  if (argv[0] === undefined || argv[0] === "") return failure("command-not-found", "the command is empty");
  return argv.some(hasNul) ? failure("field-range", "an argument holds a NUL character") : null;
}

function checkEnvironment(env: Readonly<Record<string, string>>): ArmFailure | null {
  const wrong = Object.entries(env)
    .map(checkVariable)
    .find((found) => found !== null);
  if (wrong !== undefined) return wrong;
  const bytes = Object.entries(env).reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 2, 0);
  if (bytes <= LAUNCHER_LIMITS.envBytes) return null;
  return failure("command-too-long", `the environment takes ${bytes} bytes; ${LAUNCHER_LIMITS.envBytes} are possible`);
}

function checkVariable([name, value]: readonly [string, string]): ArmFailure | null {
  if (!ENV_NAME.test(name)) return failure("field-range", `no variable can be named ${JSON.stringify(name)}`);
  if (name.startsWith(RESERVED_ENV_PREFIX)) return failure("field-range", `${RESERVED_ENV_PREFIX}* is reserved`);
  return hasNul(value) ? failure("field-range", `variable ${name} holds a NUL character`) : null;
}

function checkDirectory(cwd: string | null): ArmFailure | null {
  if (cwd === null || (cwd.startsWith("/") && !hasNul(cwd))) return null;
  return failure("cwd-unusable", `the working directory ${JSON.stringify(cwd)} is not an absolute path`);
}

function hasNul(text: string): boolean {
  return text.includes("\0");
}

export function failure(code: ErrorCode, message: string): ArmFailure {
  return { code, message };
}
