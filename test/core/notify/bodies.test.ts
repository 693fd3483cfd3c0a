import { describe, expect, test } from "vitest";
import { alertsOf, headline, mailText } from "../../../src/core/notify/bodies.js";
import { groupOf, type Message, readNotice } from "../../../src/core/notify/notice.js";

const FAILED: Message = {
  id: "d1",
  event: "failure",
  at: "2026-03-01T00:00:05Z",
  identity: "prod/db-backup",
  description: "the database, every night",
  period_id: "2026-03-01T00:00:00Z",
  result: "exit 7",
  exit_code: 7,
  since: "2026-03-01T00:00:05Z",
};
const RECOVERED: Message = { ...FAILED, id: "d2", event: "recovered", at: "2026-03-01T01:00:05Z", result: "exit 0" };
const MAIL = { kind: "mail", to: ["root"] } as const;
const PLACE = { host: "db1", user: "root", from: null };

describe("a mail", () => {
  test("says in its subject what became of which job, and below it what is known", () => {
    const [head = "", ...body] = mailText(FAILED, ["ops@example.org", "root"], PLACE, "oops\n").split("\n\n");
    expect(head.split("\n")).toEqual([
      'From: "(Kron)" <root>',
      "To: ops@example.org, root",
      "Subject: Kron <db1> prod/db-backup failed (exit 7)",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=UTF-8",
      "Content-Transfer-Encoding: 8bit",
      "Auto-Submitted: auto-generated",
      "X-Kron-Delivery: d1",
    ]);
    expect(body.join("\n\n")).toContain("  the database, every night\n  at            2026-03-01T00:00:05Z\n");
    expect(body.at(-1)?.trim()).toBe("oops");
  });

  test("of what a run printed is that, with cron's own subject", () => {
    const text = mailText({ ...FAILED, event: "output" }, ["root"], PLACE, "42 rows");
    expect(text).toContain("Subject: Cron <root@db1> prod/db-backup\n");
    expect(text.endsWith("\n\n42 rows\n")).toBe(true);
  });

  test("nothing that anybody wrote can begin a header, and any language is readable", () => {
    const text = mailText({ ...FAILED, identity: "a\nBcc: everybody@example.org" }, ["root"], PLACE, "");
    expect(text.split("\n\n")[0]).toContain("Subject: Kron <db1> a Bcc: everybody@example.org failed (exit 7)\n");
    const coded = mailText({ ...FAILED, identity: "Sicherung/täglich" }, ["root"], PLACE, "");
    const subject = /Subject: =\?UTF-8\?B\?(.*)\?=/.exec(coded)?.[1] ?? "";
    expect(Buffer.from(subject, "base64").toString()).toBe("Kron <db1> Sicherung/täglich failed (exit 7)");
  });
});

describe("many in one", () => {
  const many = Array.from(
    { length: 60 },
    (_, index): Message => ({ ...FAILED, id: `d${index}`, identity: `job/${index}` }),
  );
  const group = groupOf("g", many, MAIL);

  test("fifty are spelt out, the others counted", () => {
    expect(headline(group)).toBe("60 messages");
    expect(group).toMatchObject({ event: "group", count: 60, left_out: 10 });
    expect(group["events"]).toHaveLength(50);
    expect(mailText(group, ["root"], PLACE, "")).toContain("and 10 more\n");
  });

  test("a group in a group is taken apart, and as old as its oldest", () => {
    const later = { ...FAILED, id: "later", at: "2026-03-01T02:00:00Z" };
    const both = groupOf("h", [group, later], MAIL);
    expect(both).toMatchObject({ at: FAILED.at, count: 61, left_out: 11 });
    expect((both["events"] as Message[]).every(({ event }) => event === "failure")).toBe(true);
  });

  test("alerts are all there: each is ended by itself", () => {
    const { body: _, ...http } = { body: null, url: "https://example.org/", method: "POST", headers: {} };
    const target = { kind: "webhook", http, format: "alertmanager" } as unknown as Parameters<typeof groupOf>[2];
    expect(alertsOf(groupOf("g", many, target), "db1")).toHaveLength(60);
  });
});

test("Alertmanager is told when an alert begins, and with its end when it ends", () => {
  const [alert] = alertsOf(FAILED, "db1");
  const labels = { alertname: "KronJob", identity: "prod/db-backup", host: "db1", severity: "warning" };
  const annotations = { summary: "prod/db-backup failed (exit 7)", description: "the database, every night" };
  expect(alert).toEqual({ labels, annotations, startsAt: "2026-03-01T00:00:05Z" });
  expect(alertsOf(RECOVERED, "db1")).toMatchObject([{ labels, startsAt: FAILED.since, endsAt: RECOVERED.at }]);
});

test.each(["", "{", "null", "{}", '{"message":{"id":1},"target":{"kind":"mail"}}', '{"message":{"id":"x"}}'])(
  "what is no notice is passed over: %s",
  (text) => {
    expect(readNotice(text)).toBeNull();
  },
);
