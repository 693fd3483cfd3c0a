/** Looks a user up for each line of input and prints what comes of it: run by tests under limits of the system. */
import { createInterface } from "node:readline";
import { Accounts } from "../../../../src/actors/launcher/child/accounts.js";

const accounts = new Accounts();
process.stdout.write("ready\n");
for await (const name of createInterface({ input: process.stdin })) {
  const found = await accounts.userOf(name);
  process.stdout.write(`${found.ok ? "found" : found.error.code}\n`);
}
