/** Who asks: the page's half of the session. The other half is a cookie that no script can read. */
import { signal } from "@preact/signals";

export interface Session {
  readonly scope: "read" | "write" | "admin";
  /** null: the host itself. */
  readonly tenant: string | null;
  readonly version: string;
}

/** undefined: not known yet; null: nobody is logged in. */
export const session = signal<Session | null | undefined>(undefined);

const KEPT = "kron-page";

export function pageHeaders(): Readonly<Record<string, string>> {
  return { "X-Kron-Page": sessionStorage.getItem(KEPT) ?? "" };
}

export function mayOperate(): boolean {
  return session.value?.scope === "write" || session.value?.scope === "admin";
}

export function isAdmin(): boolean {
  return session.value?.scope === "admin";
}

interface LoggedIn extends Session {
  readonly page: string;
}

/** Null, or why it is refused. */
export async function logIn(by: { readonly code: string } | { readonly key: string }): Promise<string | null> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/web/session", { method: "POST", headers, body: JSON.stringify(by) });
  const body = (await answer.json()) as LoggedIn & { readonly detail?: string };
  if (!answer.ok) return body.detail ?? `refused (${answer.status})`;
  const { page, ...known } = body;
  sessionStorage.setItem(KEPT, page);
  session.value = known;
  return null;
}

export async function logOut(): Promise<void> {
  await fetch("/web/session", { method: "DELETE", headers: pageHeaders() });
  sessionStorage.removeItem(KEPT);
  session.value = null;
}

/** Asked once, when the page is loaded; a link that was followed brings its code behind the #. */
export async function findSession(): Promise<string | null> {
  const code = location.pathname === "/login" ? location.hash.slice(1) : "";
  if (code === "") {
    await goOn();
    return null;
  }
  history.replaceState(null, "", "/");
  dispatchEvent(new PopStateEvent("popstate"));
  const refusal = await logIn({ code });
  if (refusal !== null) await goOn();
  return refusal;
}

/** With what this tab, or another one, was given before. */
async function goOn(): Promise<void> {
  const half = sessionStorage.getItem(KEPT) ?? (await halfOfOtherTab());
  if (half === null) {
    session.value = null;
    return;
  }
  sessionStorage.setItem(KEPT, half);
  const answer = await fetch("/web/session", { headers: pageHeaders() });
  session.value = answer.ok ? ((await answer.json()) as Session) : null;
}

/** Tabs of one origin, which no other port shares, may know what one of them knows. */
const tabs = new BroadcastChannel("kron-page");
const ANSWER_MS = 200;

tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
  const half = sessionStorage.getItem(KEPT);
  if (data === "who is in?" && session.value && half !== null) tabs.postMessage({ half });
};

function halfOfOtherTab(): Promise<string | null> {
  return new Promise((resolve) => {
    const hear = ({ data }: MessageEvent<unknown>): void => {
      if (typeof data !== "object" || data === null || !("half" in data) || typeof data.half !== "string") return;
      tabs.removeEventListener("message", hear);
      resolve(data.half);
    };
    tabs.addEventListener("message", hear);
    tabs.postMessage("who is in?");
    setTimeout(() => {
      tabs.removeEventListener("message", hear);
      resolve(null);
    }, ANSWER_MS);
  });
}
