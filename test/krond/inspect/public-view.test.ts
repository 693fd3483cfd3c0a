import { describe, expect, test } from "vitest";
import { canonicalDefinitionText, readJobDefinition } from "../../../src/core/job/schema.js";
import { publicDefinition, publicEvent, publicRaw } from "../../../src/krond/inspect/public-view.js";
import { requireOk } from "../../support/results.js";

const CANARY = "c4n4ry";

const SECRETIVE: readonly (readonly [name: string, raw: Record<string, unknown>, target: unknown])[] = [
  ["arguments", { command: ["/usr/bin/backup", "--key", CANARY] }, { command: "/usr/bin/backup", timeout: undefined }],
  ["a shell's text", { shell: true, command: `${CANARY} | mail` }, { command: "/bin/sh" }],
  ["environment", { command: ["true"], env: { SOME: CANARY } }, { command: "true" }],
  ["standard input", { command: ["cat"], stdin: CANARY }, { command: "cat" }],
  [
    "address, headers and body of an endpoint",
    {
      http: {
        url: `https://example.org/${CANARY}?token=${CANARY}`,
        method: "POST",
        headers: { "x-any": CANARY },
        body: CANARY,
      },
    },
    { http: { method: "POST", origin: "https://example.org" } },
  ],
];

describe("ERROR-MODEL: what is shown of a definition holds no secret", () => {
  test.each(SECRETIVE)("%s", (_, raw, target) => {
    const definition = requireOk(readJobDefinition({ identity: "a/b", schedule: "0 * * * *", ...raw }));
    const shown = publicDefinition(definition);
    expect(JSON.stringify(shown)).not.toContain(CANARY);
    expect(shown["target"]).toMatchObject(target as object);
    const stored = publicRaw(JSON.parse(canonicalDefinitionText(definition)));
    expect(JSON.stringify(stored)).toBe(JSON.stringify(shown));
  });

  test("descriptions and reasons of a pause are cleaned of what looks like a secret", () => {
    const raw = { identity: "a", schedule: "0 * * * *", command: ["x"], description: `password=${CANARY}` };
    const shown = publicDefinition(requireOk(readJobDefinition(raw)));
    const event = publicEvent({ type: "PAUSE", untilAt: 0, reason: `token: ${CANARY}` });
    expect(JSON.stringify([shown, event])).not.toContain(CANARY);
  });

  test("everything about when it runs is shown", () => {
    const when = {
      identity: "a",
      schedule: "0 3 * * *",
      timezone: "Europe/Berlin",
      window: { mode: "after", duration: "1h" },
      constraints: { only: "dow=MON-FRI" },
    };
    expect(publicDefinition(requireOk(readJobDefinition({ ...when, command: ["x"] })))).toMatchObject({
      ...when,
      policy: { concurrency: "allow" },
      target: { command: "x" },
    });
  });
});
