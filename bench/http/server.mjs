/** A server in a process of its own that answers at once and remembers when which request came, and how late. */
import { createServer } from "node:http";

const arrivals = [];
/** Of requests that say for when they were meant. */
const late = [];
const seen = new Map();
const server = createServer({ keepAlive: true }, (request, response) => {
  if (request.url === "/arrivals") {
    const twice = [...seen.values()].filter((count) => count > 1).length;
    response.end(JSON.stringify({ arrivals, late, twice }));
    arrivals.length = 0;
    late.length = 0;
    seen.clear();
    return;
  }
  arrivals.push(Date.now());
  const meantFor = request.headers["x-kron-scheduled-for"];
  if (meantFor !== undefined) late.push(Date.now() - Date.parse(meantFor));
  const key = request.headers["idempotency-key"];
  if (key !== undefined) seen.set(key, (seen.get(key) ?? 0) + 1);
  request.resume();
  request.on("end", () => response.end("well"));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
