/**
 * A job that is a request: a server of our own answers it, a daemon sends it, and `kron logs` shows what came of it.
 * `node examples/requests.mjs` asserts that it was received exactly once, signed, and with its secret from the environment.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const program = (name) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "kron-requests-"));
const [config, state] = [join(directory, "jobs.yaml"), join(directory, "state")];

const received = [];
const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    received.push({ headers: request.headers, body: Buffer.concat(pieces).toString() });
    response.writeHead(202).end("refreshing");
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

writeFileSync(
  config,
  `jobs:
  - identity: shop/refresh
    schedule: "@yearly"
    http:
      url: http://127.0.0.1:${server.address().port}/refresh
      method: POST
      body: '{"full":false}'
      header_env: { Authorization: SHOP_TOKEN }
      signature: { secret_env: SHOP_SIGNING_KEY }
      success: 2xx
`,
);
// To this machine: without --allow-private requests go to public addresses only.
const options = ["start", "--config", config, "--state", state, "--log-format", "json", "--allow-private"];
const env = { ...process.env, SHOP_TOKEN: "Bearer secret", SHOP_SIGNING_KEY: "signing key" };
const krond = spawn(process.execPath, [program("krond"), ...options], { stdio: ["ignore", "pipe", "inherit"], env });
const kron = async (...args) =>
  (await promisify(execFile)(process.execPath, [program("kron"), ...args, "--state", state])).stdout;
try {
  for await (const line of createInterface({ input: krond.stdout })) {
    const { event, status } = JSON.parse(line);
    if (event === "ready") console.log((await kron("run", "shop/refresh")).trim());
    if (event !== "completed") continue;
    assert.equal(status, 202);
    break;
  }
  const [{ headers, body }] = received;
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const signature = createHmac("sha256", "signing key").update(signed).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${signature}`);
  assert.equal(headers.authorization, "Bearer secret");
  assert.equal(headers["x-kron-identity"], "shop/refresh");
  const logs = await kron("logs", "shop/refresh");
  console.log(logs);
  assert.match(logs, /HTTP 202\n[\s\S]*total \d+ ms; 10 bytes\n\nrefreshing/);
  assert.equal(received.length, 1);
} finally {
  krond.kill("SIGTERM");
  await once(krond, "exit");
  server.close();
  rmSync(directory, { recursive: true, force: true });
}
