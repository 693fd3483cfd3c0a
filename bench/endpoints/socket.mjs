/** A daemon's control socket, as a tenant. */
import { connect } from "node:net";
import { createInterface } from "node:readline";

const TENANT = "acme";

/** Many questions at once over one connection. */
export class Socket {
  #socket;
  #waiting = new Map();
  #asked = 0;

  constructor(path) {
    this.#socket = connect(path);
    createInterface({ input: this.#socket }).on("line", (line) => {
      const answer = JSON.parse(line);
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (answer.ok) waiting?.resolve(answer.value);
      else waiting?.reject(new Error(`krond refuses: ${answer.message}`));
    });
  }

  ask(request, tenant = TENANT) {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${JSON.stringify({ id, tenant, request })}\n`);
    });
  }

  end() {
    this.#socket.destroy();
  }
}
