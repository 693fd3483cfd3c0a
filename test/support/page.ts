/** Whoever asks a daemon's page, with headers that a browser would not let anybody set. */
import * as http from "node:http";

export interface Told {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What a browser says with a request of the page itself. */
export const FROM_PAGE = { "Sec-Fetch-Site": "same-origin" } as const;

export function ask(address: string, path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Told> {
  const [host = "", port = ""] = address.split(/:(?=\d+$)/);
  const json = body === undefined ? {} : { "Content-Type": "application/json" };
  return new Promise((resolve, reject) => {
    const request = http.request({ host, port, path, method, headers: { ...json, ...headers }, agent: false });
    request.once("error", reject);
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A stream that somebody follows: when its head is there, and when it has ended. */
export function followed(address: string, path: string, headers: Readonly<Record<string, string>>) {
  const [host = "", port = ""] = address.split(/:(?=\d+$)/);
  const request = http.get({ host, port, path, headers, agent: false });
  const open = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", resolve);
  });
  const ended = open.then((response) => new Promise<void>((resolve) => response.resume().once("end", resolve)));
  return { open, ended };
}

export interface Halves {
  readonly cookie: string;
  readonly page: string;
}

/** By a code or a key, as the page does it. */
export async function logIn(
  address: string,
  by: { readonly code: string } | { readonly key: string },
): Promise<Halves> {
  const told = await ask(address, "/web/session", { method: "POST", headers: FROM_PAGE, body: by });
  if (told.status !== 201) throw new Error(`refused: ${told.status} ${told.body}`);
  const [cookie = ""] = (told.headers["set-cookie"]?.[0] ?? "").split(";");
  return { cookie, page: (JSON.parse(told.body) as { readonly page: string }).page };
}

export function withBoth({ cookie, page }: Halves): Readonly<Record<string, string>> {
  return { ...FROM_PAGE, Cookie: cookie, "X-Kron-Page": page };
}
