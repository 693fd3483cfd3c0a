import { effect, signal } from "@preact/signals";
import { type ComponentType, render } from "preact";
import { daemon, isLive, tune } from "./data.js";
import { Login } from "./login.js";
import { Endpoints } from "./pages/endpoints.js";
import { Forecast } from "./pages/forecast.js";
import { Job } from "./pages/job.js";
import { Jobs } from "./pages/jobs.js";
import { Now } from "./pages/now.js";
import { System } from "./pages/system.js";
import { Lazy } from "./parts/lazy.js";
import { recall } from "./preferences.js";
import { path } from "./router.js";
import { findSession, logOut, session } from "./session.js";
import { zone } from "./time.js";
import "./style/base.css";
import "./style/parts.css";
import "./style/grid.css";
import "./style/draw.css";
import "./style/shell.css";

const loadInspector = async () => (await import("./inspector/page.js")).Inspector;
const LazyInspector = () => <Lazy load={loadInspector} />;

interface Page {
  readonly path: string;
  readonly name: string;
  readonly page: ComponentType;
  /** The others tell of the host itself. */
  readonly isTenants?: true;
}

const PAGES: readonly Page[] = [
  { path: "/", name: "Now", page: Now },
  { path: "/jobs", name: "Jobs", page: Jobs },
  { path: "/forecast", name: "Forecast", page: Forecast },
  { path: "/endpoints", name: "Endpoints", page: Endpoints, isTenants: true },
  { path: "/system", name: "System", page: System },
  { path: "/inspector", name: "Inspector", page: LazyInspector },
];

/** What a link that could not be followed was refused for. */
const refusal = signal<string | null>(null);

function Found() {
  const job = /^\/jobs\/(.+)$/.exec(path.value)?.[1];
  if (job !== undefined) return <Job key={job} identity={decodeURIComponent(job)} />;
  const found = pagesOfSession().find((page) => page.path === path.value);
  if (found !== undefined) return <found.page />;
  return (
    <>
      <h1 tabIndex={-1}>Nothing here</h1>
      <p>There is no page at this address.</p>
    </>
  );
}

function pagesOfSession(): readonly Page[] {
  return session.value?.tenant == null ? PAGES : PAGES.filter(({ isTenants }) => isTenants);
}

function isCurrent(page: Page): boolean {
  return page.path === path.value || (page.path !== "/" && path.value.startsWith(`${page.path}/`));
}

function Shell() {
  if (session.value === undefined) return null;
  if (session.value === null) return <Login refusal={refusal.value} />;
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <header>
        <nav aria-label="Pages">
          <span class="brand">Kron</span>
          {pagesOfSession().map((page) => (
            <a key={page.path} href={page.path} aria-current={isCurrent(page) ? "page" : undefined}>
              {page.name}
            </a>
          ))}
        </nav>
        <p class="state">
          <span class={isLive.value ? "live" : "live off"}>{isLive.value ? "live" : "not connected"}</span>
          {daemon.value !== null && <span>{daemon.value.active} running</span>}
          <span>{zone.value}</span>
          <button type="button" class="plain" onClick={() => void logOut()}>
            Log out
          </button>
        </p>
      </header>
      <main id="content">
        <Found />
      </main>
    </>
  );
}

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no place for it");
recall();
render(<Shell />, root);
effect(tune);
document.addEventListener("visibilitychange", tune);
refusal.value = await findSession();
