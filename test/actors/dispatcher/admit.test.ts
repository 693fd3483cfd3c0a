/** Security list: an SSRF guard on bytes: looked up once, every address judged, connected to what was judged. */

import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/actors/clock.js";
import { admit } from "../../../src/actors/dispatcher/admit.js";
import { SystemResolver } from "../../../src/actors/dispatcher/resolver.js";
import { type AddressPolicy, PUBLIC_ONLY, parseRange } from "../../../src/core/base/address.js";
import { requestArm, testDispatchers } from "../../support/requests.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { WELL, wildServers } from "../../support/wild-server.js";

const dispatcher = testDispatchers();
const server = wildServers();
const temporary = temporaryDirectories();

function answering(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    return answer.length === 0
      ? { ok: false as const, error: "there is no address" }
      : { ok: true as const, value: answer };
  };
  return { asked, resolve };
}

async function verdict(url: string, policy: AddressPolicy = PUBLIC_ONLY, found: readonly string[] = ["8.8.8.8"]) {
  const admitted = await admit(new URL(url), policy, answering(found));
  return admitted.ok ? admitted.value : admitted.error.code;
}

describe("where a request may go", () => {
  test.each<[url: string, found: readonly string[], expected: readonly string[] | string]>([
    ["https://example.org/", ["93.184.215.14"], ["93.184.215.14"]],
    ["https://example.org/", ["2606:4700::1", "93.184.215.14"], ["93.184.215.14", "2606:4700::1"]],
    ["https://example.org/", ["93.184.215.14", "127.0.0.1"], "address-forbidden"],
    ["https://example.org/", ["93.184.215.14", "::1"], "address-forbidden"],
    ["https://example.org/", ["::ffff:10.0.0.1"], "address-forbidden"],
    ["https://example.org/", ["64:ff9b::a00:1"], "address-forbidden"],
    ["https://example.org/", ["nonsense"], "address-forbidden"],
    ["https://example.org/", [], "dns-failed"],
    ["http://127.1/", [], "address-forbidden"],
    ["http://0x7f000001/", [], "address-forbidden"],
    ["http://2130706433/", [], "address-forbidden"],
    ["http://[::1]/", [], "address-forbidden"],
    ["http://[::ffff:7f00:1]/", [], "address-forbidden"],
    ["http://169.254.169.254/latest/meta-data/", [], "address-forbidden"],
    ["http://8.8.8.8/", [], ["8.8.8.8"]],
  ])("%s, which is %j", async (url, found, expected) => {
    expect(await verdict(url, PUBLIC_ONLY, found)).toEqual(expected);
  });

  test("--allow-private does not give away what clouds hand out", async () => {
    const policy = { allowPrivate: true, allow: [] };
    expect(await verdict("http://10.0.0.1/", policy)).toEqual(["10.0.0.1"]);
    expect(await verdict("http://169.254.169.254/", policy)).toBe("address-forbidden");
    expect(await verdict("http://evil.example/", policy, ["10.0.0.1", "169.254.169.254"])).toBe("address-forbidden");
    const named = { allowPrivate: false, allow: [parseRange("169.254.169.254")].filter((range) => range !== null) };
    expect(await verdict("http://169.254.169.254/", named)).toEqual(["169.254.169.254"]);
  });

  test("the message says the way out", async () => {
    const refused = await admit(new URL("http://intranet.example/"), PUBLIC_ONLY, answering(["10.0.0.7"]));
    expect(refused).toMatchObject({
      ok: false,
      error: {
        message: expect.stringMatching(/intranet.example is 10\.0\.0\.7, .*--allow-private.*allow: \[10\.0\.0\.7\]/),
      },
    });
  });

  test("a name that is turned round between the look and the connection is asked once, and what was judged is used", async () => {
    const wild = await server(WELL);
    const resolver = answering(["127.0.0.1"], ["127.0.0.66"]);
    const requests = dispatcher({ resolver });
    const { ending } = await requests.run(requestArm({ url: `http://rebound.example:${wild.port}/` }));
    expect(ending).toMatchObject({ kind: "answered", status: 200 });
    expect([resolver.asked, wild.hits[0]?.headers["host"]]).toEqual([
      ["rebound.example"],
      `rebound.example:${wild.port}`,
    ]);
  });

  test("an address that does not answer gives way to the next one, for nothing was sent to it", async () => {
    const wild = await server(WELL);
    const requests = dispatcher({ resolver: answering(["127.0.0.66", "127.0.0.1"]) });
    const { ending } = await requests.run(requestArm({ url: `http://two.example:${wild.port}/` }));
    expect([ending.kind, wild.hits.length]).toEqual(["answered", 1]);
  });
});

describe("names", () => {
  test("of this machine's own file are found there, and localhost everywhere", async () => {
    const hosts = path.join(temporary(), "hosts");
    fs.writeFileSync(hosts, "# comment\n10.1.2.3 own.example Alias.example # more\n::1 own.example\nbroken line\n");
    const resolver = new SystemResolver(systemClock, hosts);
    expect(await resolver.resolve("own.example")).toEqual({ ok: true, value: ["10.1.2.3", "::1"] });
    expect(await resolver.resolve("ALIAS.example.")).toEqual({ ok: true, value: ["10.1.2.3"] });
    expect(await resolver.resolve("any.localhost")).toEqual({ ok: true, value: ["127.0.0.1", "::1"] });
  });

  test("are asked for once at a time", async () => {
    const resolver = new SystemResolver(systemClock, path.join(temporary(), "none"));
    const [one, other] = [resolver.resolve("any.localhost"), resolver.resolve("any.localhost")];
    expect(one).toBe(other);
  });
});
