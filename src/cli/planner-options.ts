/** How the command line says which planners a daemon has, and where a model and its key are found. */
import { resolve } from "node:path";
import { PLANNER_CHOICES } from "../core/job/choices.js";
import type { SecretRef } from "../core/job/definition.js";
import type { ChatOptions, PlannerOptions } from "../krond/boot/planners.js";
import { readBaseUrl } from "../planner/chat/base-url.js";
import type { ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { oneOf } from "./listen-address.js";

const OF_MODEL = ["planner-model", "planner-key-file", "planner-key-env"] as const;
const EXAMPLE = "krond start --planner-chat https://api.example.com/v1 --planner-model NAME --planner-key-file FILE";
/** Longer than any that is known, and short enough for a line of the record. */
const MOST_MODEL_CHARS = 128;

export function plannerOptions(args: ParsedArgs, io: CliIo): PlannerOptions {
  const usual = oneOf(args, "planner", PLANNER_CHOICES) ?? "off";
  return { usual, chat: chatOptions(args, io) };
}

function chatOptions(args: ParsedArgs, io: CliIo): ChatOptions | null {
  const url = args.text("planner-chat");
  if (url === undefined) {
    const idle = OF_MODEL.find((name) => args.text(name) !== undefined);
    if (idle === undefined && !args.has("planner-allow-private")) return null;
    throw usageError(`--${idle ?? "planner-allow-private"} is for --planner-chat`, EXAMPLE);
  }
  const model = args.text("planner-model");
  if (model === undefined) throw usageError("--planner-chat needs --planner-model NAME", EXAMPLE);
  if (!/^[\x21-\x7e]+$/.test(model) || model.length > MOST_MODEL_CHARS) {
    throw usageError(`--planner-model: "${model}" is no name of a model`, EXAMPLE);
  }
  const key = keyRef(args, io, { env: "planner-key-env", file: "planner-key-file" });
  const baseUrl = readBaseUrl(url, key !== null);
  if (!baseUrl.ok) throw usageError(`--planner-chat: ${baseUrl.error}`);
  return { baseUrl: baseUrl.value, model, key, allowPrivate: args.has("planner-allow-private") };
}

/** Where the key of a model is found, by the options of these names; null: it has none. */
export function keyRef(
  args: ParsedArgs,
  io: CliIo,
  names: { readonly env: string; readonly file: string },
): SecretRef | null {
  const [name, file] = [args.text(names.env), args.text(names.file)];
  if (name !== undefined && file !== undefined) {
    throw usageError(`--${names.env} and --${names.file} say the same: give one of them`);
  }
  if (name !== undefined) return { from: "env", name };
  return file === undefined ? null : { from: "file", name: resolve(io.cwd, file) };
}
