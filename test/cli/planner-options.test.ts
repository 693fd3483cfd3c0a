/** How krond is told which planners it has: what cannot be so is refused before anything is started. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KROND } from "../../src/cli/commands/krond/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();

describe("krond start", () => {
  const chat = ["--planner-chat", "https://model.example/v1"];
  test.each([
    ["an unknown choice", ["--planner", "clever"], /--planner/],
    ["a key without a model", ["--planner-key-env", "K"], /is for --planner-chat/],
    ["no name of a model", chat, /--planner-model/],
    ["a name that is none", [...chat, "--planner-model", "a b"], /no name of a model/],
    [
      "two keys",
      [...chat, "--planner-model", "m", "--planner-key-env", "K", "--planner-key-file", "F"],
      /give one of them/,
    ],
    [
      "a key in the clear",
      ["--planner-chat", "http://model.example/v1", "--planner-model", "m", "--planner-key-env", "K"],
      /in the clear/,
    ],
    [
      "a password in the address",
      ["--planner-chat", "https://a:b@model.example", "--planner-model", "m"],
      /credentials/,
    ],
  ])("%s is refused, and nothing is started", async (_name, options, message) => {
    const state = path.join(temporary(), "state");
    const { exitCode, err } = await runCaptured(KROND, [
      "start",
      "--config",
      "none.yaml",
      "--state",
      state,
      ...options,
    ]);
    expect(exitCode).toBe(1);
    expect(err).toMatch(message);
    expect(fs.existsSync(state)).toBe(false);
  });
});
