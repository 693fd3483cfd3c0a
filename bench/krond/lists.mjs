/**
 * P12: what somebody waits for who looks for jobs among very many: a page of them with its total, asked over the control
 * socket of a krond that holds them. Each question is one that was not asked before. Beside it what the same bytes take who
 * only walk through them in memory: names searched by the system's own search, numbers counted or sorted by the engine.
 */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { inWorkplace } from "../lib/workplace.mjs";
import { Krond } from "./daemon.mjs";
import { jsonLines, restingJob } from "./jobs.mjs";
import { compared, thousands } from "./rows.mjs";

const FULL = { counts: [100_000], rounds: 15 };
const QUICK = { counts: [100_000], rounds: 7 };
const MILLION = 1_000_000;
const BOOT_LIMIT_MS = 30 * 60_000;
const PAGE = 50;
const YEAR_MS = 366 * 86_400_000;
const SCAN = "a walk over the same bytes";
const SORT = "the engine's own sort of the same numbers";

/** One question after another, as `kron` asks them. */
class Socket {
  #socket;
  #lines;
  #asked = 0;

  constructor(path) {
    this.#socket = connect(path);
    this.#lines = createInterface({ input: this.#socket })[Symbol.asyncIterator]();
  }

  async hello() {
    await this.#lines.next();
    return this;
  }

  async ask(request) {
    this.#asked += 1;
    this.#socket.write(`${JSON.stringify({ id: this.#asked, request })}\n`);
    const { value } = await this.#lines.next();
    const answer = JSON.parse(value);
    if (!answer.ok) throw new Error(`krond refuses a list: ${answer.message}`);
    return answer.value;
  }

  end() {
    this.#socket.destroy();
  }
}

const NOTHING = { identities: [], standings: [], tags: [] };

/** Resting jobs are due in the month that comes half a year from now: until then half of them are. */
function middleOfRest(now) {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 6, 15);
}

/** `isMiddle`: in the middle of what there is, where that is asked for. `round` makes another question of it. */
const QUESTIONS = [
  { what: "a part of the name", filter: (round) => ({ search: `g-${10 + round}9` }), sort: "name", peer: "search" },
  { what: "a pattern", filter: (round) => ({ identities: [`*${10 + round}?9`] }), sort: "name", peer: "search" },
  {
    what: "what is enabled and due",
    filter: (round, now) => ({ standings: ["enabled"], dueBy: middleOfRest(now) + round }),
    sort: "name",
    peer: "count",
  },
  {
    what: "by next start, from the middle on",
    filter: (round, now) => ({ dueBy: now + YEAR_MS + round }),
    sort: "next",
    isMiddle: true,
    peer: "sort",
  },
];

async function asked(socket, { filter, sort, isMiddle }, round, count) {
  const offset = isMiddle ? Math.floor(count / 2) : 0;
  const wanted = { ...NOTHING, ...filter(round, Date.now()) };
  const from = performance.now();
  const page = await socket.ask({ op: "list", after: null, limit: PAGE, filter: wanted, sort, offset });
  const ms = performance.now() - from;
  if (page.rows.length === 0 || page.total === 0) throw new Error(`nothing was found for ${JSON.stringify(wanted)}`);
  return { ms };
}

/** The bytes that a list has to go through, laid out as well as can be. */
class Walks {
  #names;
  #marks;
  #seconds;

  constructor(jobs) {
    this.#names = Buffer.from(jobs.map(({ identity }) => identity).join("\n"));
    this.#marks = new Uint32Array(jobs.length).fill(1);
    this.#seconds = Uint32Array.from(jobs, (_, index) => (index * 2_654_435_761) >>> 0);
  }

  search(round) {
    const wanted = Buffer.from(`g-${10 + round}9`);
    let found = 0;
    for (let at = this.#names.indexOf(wanted); at >= 0; at = this.#names.indexOf(wanted, at + 1)) found += 1;
    return found;
  }

  count(round) {
    let found = 0;
    for (let at = 0; at < this.#marks.length; at += 1) {
      if ((this.#marks[at] & 1) === 1 && this.#seconds[at] > round) found += 1;
    }
    return found;
  }

  sort(round) {
    const keys = Float64Array.from(this.#seconds, (second, at) => second * 2 ** 20 + at + round);
    return keys.sort()[0];
  }
}

function walked(walks, peer, rounds) {
  return Array.from({ length: rounds }, (_, round) => {
    const from = performance.now();
    if (walks[peer](round) === undefined) throw new Error("nothing was walked through");
    return { ms: performance.now() - from };
  });
}

async function measure(directory, count, rounds) {
  process.stderr.write(`bench: lists, ${thousands(count)} jobs ...\n`);
  const jobs = Array.from({ length: count }, (_, index) => restingJob(index, Date.now()));
  const config = join(directory, `jobs-${count}.jsonl`);
  writeFileSync(config, jsonLines(jobs));
  const state = join(directory, `state-${count}`);
  const krond = new Krond({ config, state, probe: join(directory, `loop-${count}.json`), isCollectable: true });
  try {
    await krond.ready(BOOT_LIMIT_MS);
    const socket = await new Socket(join(state, "krond.sock")).hello();
    // The first list puts the names in order; what was written by the start is collected.
    await socket.ask({ op: "list", after: null, limit: PAGE, filter: NOTHING });
    await krond.loopDelay();
    const walks = new Walks(jobs);
    const rows = [];
    for (const question of QUESTIONS) {
      const ours = [];
      for (let round = 0; round < rounds; round += 1) ours.push(await asked(socket, question, round, count));
      const peer = { name: question.peer === "sort" ? SORT : SCAN, rounds: walked(walks, question.peer, rounds) };
      const name = `${question.what}, ${thousands(count)} jobs`;
      rows.push(compared({ id: "P12", name, key: "ms", unit: "ms", ours: ours.slice(1), peer }));
    }
    const delay = await krond.loopDelay();
    const none = { name: null, rounds: [] };
    for (const key of ["p99", "max"]) {
      const name = `delay of the event loop meanwhile, ${key}, ${thousands(count)} jobs`;
      rows.push(compared({ id: "P12", name, key, unit: "ms", ours: [delay], peer: none }));
    }
    socket.end();
    return rows;
  } finally {
    await krond.stop();
  }
}

const NOTES = [
  "P12: asked over the control socket, from the question to the last byte of the answer, fifty rows of it read from the store. A walk over the same bytes reads no row, sends nothing and holds its thread.",
];

export async function run({ isQuick, isFull }) {
  const { counts, rounds } = isQuick ? QUICK : FULL;
  return inWorkplace("lists", async (directory) => {
    const rows = [];
    for (const count of isFull ? [...counts, MILLION] : counts) rows.push(...(await measure(directory, count, rounds)));
    return { rows, notes: NOTES };
  });
}
