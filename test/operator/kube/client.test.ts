/** What a client believes of an answer: no more bytes than there should be, and missing rights in the words of a role. */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { KubeClient } from "../../../src/operator/kube/client.js";
import { fixedCredentials } from "../../../src/operator/kube/credentials.js";
import { ApiFailure } from "../../../src/operator/kube/failure.js";
import { OPERATOR_LIMITS } from "../../../src/operator/limits.js";

let close: () => Promise<void> = async () => undefined;

afterEach(() => close());

async function answering(status: number, body: (response: http.ServerResponse) => void): Promise<KubeClient> {
  const server = http.createServer((_request, response) => {
    response.writeHead(status);
    body(response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const client = new KubeClient({
    server: new URL(`http://127.0.0.1:${port}`),
    namespace: "team",
    tls: { rejectUnauthorized: true },
    credentials: fixedCredentials({ authorization: null, cert: null, key: null }),
  });
  close = async () => {
    client.close();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return client;
}

async function failure(client: KubeClient): Promise<ApiFailure> {
  const request = { method: "GET", path: "/x", operation: "list jobs.batch", namespace: "team" } as const;
  const error: unknown = await client.send(request).catch((cause: unknown) => cause);
  if (error instanceof ApiFailure) return error;
  throw new Error("nothing failed");
}

/** Writes without end, until nobody reads any more; says how much was taken. */
function endless(written: { bytes: number }): (response: http.ServerResponse) => void {
  const piece = Buffer.alloc(64 * 1024, "x");
  return (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece)) written.bytes += piece.length;
    };
    response.on("drain", more);
    more();
  };
}

test("a refusal without end is read so far and no further", async () => {
  const written = { bytes: 0 };
  const { answer } = await failure(await answering(500, endless(written)));
  expect(answer.status).toBe(500);
  expect(answer.message.length).toBeLessThanOrEqual(500);
  expect(written.bytes).toBeLessThan(100 * OPERATOR_LIMITS.errorBodyBytes);
});

test("an answer without end is none", async () => {
  const error = await failure(await answering(200, endless({ bytes: 0 })));
  expect(error.answer.status).toBe(0);
  expect(error.message).toContain(`an answer of more than ${OPERATOR_LIMITS.bodyBytes} bytes`);
});

test("a right that is missing is named with verb, resource and namespace", async () => {
  const lacked = 'jobs.batch is forbidden: User "x" cannot list resource "jobs" in API group "batch"';
  const body = JSON.stringify({ kind: "Status", reason: "Forbidden", message: lacked });
  const error = await failure(await answering(403, (response) => response.end(body)));
  expect(error).toMatchObject({
    code: "cluster-forbidden",
    isRightMissing: true,
    message: `needs list on jobs.batch in namespace team: ${lacked}`,
  });
});

/** As an API server words them. */
const REFUSED_OTHERWISE: readonly (readonly [name: string, message: string])[] = [
  [
    "an admission rule",
    "jobs.batch \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
  ],
  ["a webhook", 'admission webhook "jobs.example.com" denied the request: no'],
  ["a quota", 'jobs.batch "a" is forbidden: exceeded quota: q, requested: count/jobs.batch=1'],
  [
    "a namespace that ends",
    'jobs.batch "a" is forbidden: unable to create new content in namespace team because it is being terminated',
  ],
];

test.each(REFUSED_OTHERWISE)("%s refuses: no right would help, and none is asked for", async (_name, message) => {
  const body = JSON.stringify({ kind: "Status", reason: "Forbidden", message });
  const error = await failure(await answering(403, (response) => response.end(body)));
  expect(error).toMatchObject({ isRightMissing: false, message: `list jobs.batch: 403 Forbidden: ${message}` });
});

test("where owners are guarded the right on the owner is the one that is missing", async () => {
  const message =
    'jobs.batch "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: , <nil>';
  const body = JSON.stringify({ kind: "Status", reason: "Forbidden", message });
  const error = await failure(await answering(403, (response) => response.end(body)));
  expect(error.message).toContain("needs update on kronjobs.kron.io/finalizers in namespace team: ");
});
