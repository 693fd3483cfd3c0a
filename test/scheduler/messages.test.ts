import { describe, expect, test } from "vitest";
import { type SchedulerError, validateRegistrations } from "../../src/scheduler/index.js";

const SECRET = "hunter2";

/** Closes over a secret, and names it in its source. */
function callback(): () => Promise<void> {
  const password = SECRET;
  const run = async (): Promise<void> => void password;
  return Object.assign(run, { toString: () => `async () => login("${SECRET}")` });
}

const neighbour = [SECRET, "* * * * *", callback(), 0];

describe("Error throwing guarantees: a message tells of the value at fault and of nothing else", () => {
  test.each<[title: string, bad: unknown]>([
    ["the shape", ["a", "* * * * *", callback()]],
    ["the name", ["", "* * * * *", callback(), 0]],
    ["a twin", ["twin", "* * * * *", callback(), 0]],
    ["the expression", ["a", "61 * * * *", callback(), 0]],
    ["the delay", ["a", "* * * * *", callback(), -1]],
    ["a text that is no delay", ["a", "* * * * *", callback(), "soon"]],
  ])("%s", (_title, bad) => {
    let error: SchedulerError | null = null;
    try {
      validateRegistrations([neighbour, ["twin", "* * * * *", callback(), 0], bad]);
    } catch (thrown) {
      error = thrown as SchedulerError;
    }
    expect(error?.message).toMatch(/./);
    expect(`${error?.message} ${JSON.stringify(error?.details)}`).not.toContain(SECRET);
  });
});
