/** docs/api.md: what it asks is asked of a real daemon, and what it shows is what comes back. */
import * as fs from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Wish } from "./support/client.js";
import { apiDaemon } from "./support/daemon.js";
import { type Receiver, receiverOf } from "./support/routes.js";

const PAGE = fs.readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");
const SOURCE = fs.readFileSync(new URL("../../src/api/http/problem.ts", import.meta.url), "utf8");
const JOBS = `  - { identity: backup/db, schedule: "0 3 * * *", command: ["true"] }\nhttp: { allow: ["127.0.0.1"] }\n`;
const daemon = apiDaemon({ jobs: JOBS });

interface Block {
  readonly command: string;
  readonly status: number;
  readonly answer: unknown;
}

const BLOCKS: readonly Block[] = [...PAGE.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, text = ""]) => {
  return text.split(/^\$ /m).slice(1).map(blockOf);
});

function blockOf(text: string): Block {
  const [, command = "", status = "", answer = ""] = /^([\s\S]*?)\n(\d{3})\n?([\s\S]*)$/.exec(text) ?? [];
  return { command, status: Number(status), answer: answer.trim() === "" ? null : JSON.parse(answer) };
}

/** The words of a command as a shell has them. */
function wordsOf(command: string, variables: Readonly<Record<string, string>>): string[] {
  const filled = (text: string): string => text.replace(/\$([A-Z_]+)/g, (_, name: string) => variables[name] ?? "");
  const words = [...command.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word);
  return words.map((word) => {
    return word.replace(
      /'([^']*)'|"([^"]*)"|([^'"]+)/g,
      (_, single, double, plain) => single ?? filled(double ?? plain),
    );
  });
}

function requestOf([program, ...words]: readonly string[]): { method: string; url: string; wish: Wish } {
  expect(program).toBe("curl");
  let [method, url, body]: [string | null, string, Buffer | undefined] = [null, "", undefined];
  const headers: Record<string, string> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "-X") method = words[++at] ?? "";
    else if (word === "--json") body = Buffer.from(words[++at] ?? "");
    else if (word === "-H") {
      const [name = "", ...value] = (words[++at] ?? "").split(": ");
      headers[name] = value.join(": ");
    } else url = word;
  }
  return { method: method ?? (body === undefined ? "GET" : "POST"), url, wish: { headers, ...(body && { body }) } };
}

/** What is shown is there; `…` is the rest of a text. */
function expected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value === "object" && value !== null) {
    return expect.objectContaining(
      Object.fromEntries(Object.entries(value).map(([name, one]) => [name, expected(one)])),
    );
  }
  if (typeof value !== "string" || !value.includes("…")) return value;
  const pattern = value.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return expect.stringMatching(new RegExp(`^${pattern.join(".+")}$`));
}

let receiver: Receiver;
beforeAll(async () => {
  receiver = await receiverOf();
});
afterAll(() => receiver.close());

describe("docs/api.md", () => {
  test("its requests are answered as it says, in its order", async () => {
    const [key, admin] = [await daemon.key("acme", "write"), await daemon.key("acme", "admin")];
    const host = await daemon.key(null, "admin");
    const variables: Record<string, string> = {
      API: "/api/v1",
      AUTH: `Authorization: Bearer ${key.key}`,
      ADMIN_AUTH: `Authorization: Bearer ${admin.key}`,
      HOST_AUTH: `Authorization: Bearer ${host.key}`,
    };
    expect(BLOCKS.length).toBeGreaterThan(15);
    for (const { command, status, answer } of BLOCKS) {
      // One that is sent to somebody who is there.
      if (command.includes("$LOCAL") && variables["LOCAL"] === undefined) {
        const wish = { jobId: variables["JOB"] ?? "", name: "local", url: receiver.url, baselineIntervalMs: 3_600_000 };
        const { id } = await daemon.ask<{ id: string }>({ op: "endpoints.create", ...wish }, "acme");
        variables["LOCAL"] = id;
      }
      const from = daemon.krond.lines.length;
      const { method, url, wish } = requestOf(wordsOf(command, variables));
      const reply = await daemon.send(method, url, wish);
      expect([command, reply.status]).toEqual([command, status]);
      expect(reply.body).toEqual(expected(answer));
      if (reply.body?.runId !== undefined) {
        await daemon.krond.event("completed", {}, from);
        variables["RUN"] = reply.body.runId;
      }
      const id: string = reply.body?.id ?? "";
      if (id.startsWith("job_")) variables["JOB"] ??= id;
      if (id.startsWith("ep_")) variables["ENDPOINT"] ??= id;
    }
  });

  test("names every code of a problem with its status", () => {
    const rows = [...PAGE.matchAll(/^\| (\d{3}) \| (.*) \|$/gm)];
    const told = rows.flatMap(([, status, codes = ""]) => {
      return [...codes.matchAll(/`([a-z-]+)`/g)].map(([, code]) => `${code} ${status}`);
    });
    const [, table = ""] = /const STATUS_OF = \{\n([\s\S]*?)\n\} as const/.exec(SOURCE) ?? [];
    const known = [...table.matchAll(/"?([a-z-]+)"?: (\d{3}),/g)].map(([, code, status]) => `${code} ${status}`);
    expect(known.length).toBeGreaterThan(25);
    expect(told.sort()).toEqual(known.sort());
  });
});
