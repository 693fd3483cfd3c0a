/**
 * What a start cannot do without, and nothing else. `load FILE STORE`: every line parsed, and written as it is into a store
 * of lmdb, a thousand in a transaction. `read STATE`: every document of a state directory read and parsed.
 */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { open } from "lmdb";

const GROUP = 1_000;
const [task, source, target] = process.argv.slice(2);
const OPTIONS = { noSubdir: true, overlappingSync: false, eventTurnBatching: false };

async function load() {
  const root = open({ path: target, ...OPTIONS, encoding: "string" });
  let group = [];
  const write = () =>
    root.batch(() => {
      for (const [key, text] of group) root.put(key, text);
    });
  for await (const line of createInterface({ input: createReadStream(source) })) {
    group.push([JSON.parse(line).identity, line]);
    if (group.length < GROUP) continue;
    await write();
    group = [];
  }
  if (group.length > 0) await write();
  await root.close();
}

async function read() {
  const root = open({ path: join(source, "kron.mdb"), ...OPTIONS, maxDbs: 4, readOnly: true });
  const documents = root.openDB("documents", { encoding: "string", useVersions: true });
  let count = 0;
  for (const { value } of documents.getRange({})) count += JSON.parse(value).Identity === "" ? 0 : 1;
  await root.close();
  if (count === 0) throw new Error("there are no documents");
}

await { load, read }[task]();
process.exit(0);
