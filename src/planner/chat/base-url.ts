/** Where a model answers, as people write it: what is read here may be sent a key and the health of endpoints. */
import { isLocalName } from "../../core/base/address.js";
import { err, ok, type Result } from "../../core/base/result.js";

const SCHEMES: readonly string[] = ["https:", "http:"];

export function readBaseUrl(text: string, hasKey: boolean): Result<URL, string> {
  if (!URL.canParse(text)) return err("not a URL: write it like https://api.example.com/v1");
  const url = new URL(text);
  if (!SCHEMES.includes(url.protocol)) return err(`requests go to https or http, not to ${url.protocol}`);
  if (url.username !== "" || url.password !== "") return err("credentials do not belong into a URL: name a key");
  if (url.search !== "" || url.hash !== "") return err("only the part before /chat/completions, without ? and #");
  if (hasKey && url.protocol === "http:" && !isLoopback(url))
    return err("http would send the key in the clear: use https");
  return ok(url);
}

function isLoopback({ hostname }: URL): boolean {
  return isLocalName(hostname) || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
