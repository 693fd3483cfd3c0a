/** The page with a hundred thousand jobs. */
import { describe, expect, test } from "vitest";
import { browserPath, browsers, type Shown, seriousFindings } from "../support/browser.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const hasBrowser = browserPath() !== null;
const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const { loggedIn } = browsers();

const JOBS = 100_000;

function manyJobs(): string {
  const lines = Array.from({ length: JOBS }, (_, index) => {
    const name = `tenant-${String(index % 100).padStart(2, "0")}/job-${String(index).padStart(6, "0")}`;
    return `  - { identity: ${name}, schedule: "${index % 60} ${index % 24} * * *", window: { mode: after, duration: 3h }, command: ["true"] }\n`;
  });
  return lines.join("");
}

const LOOKS = [
  ["light", {}],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { viewport: { width: 400, height: 860 } }],
] as const;

/** With what is there when a page has all it shows. The first forecast of so many takes its time. */
const PAGES = [
  ["/", "Now", ({ page }) => page.getByText("100,000", { exact: true }).first().waitFor()],
  ["/jobs", "Jobs", ({ page }) => page.getByRole("row", { name: /tenant-00\/job-000000/ }).waitFor()],
  ["/jobs/tenant-00%2Fjob-000000", "tenant-00/job-000000", ({ page }) => page.getByText(/^enabled · next/).waitFor()],
  ["/forecast", "Forecast", forecastIsThere],
  ["/endpoints", "Endpoints", ({ page }) => page.getByText("No endpoints yet").waitFor()],
  ["/system", "System", ({ page }) => page.getByText(/100,000 as they are/).waitFor({ timeout: 600_000 })],
  ["/inspector", "Inspector", ({ page }) => page.getByRole("option", { name: /LISTED/ }).waitFor()],
] as const satisfies readonly (readonly [string, string, (shown: Shown) => Promise<void>])[];

async function forecastIsThere({ page }: Shown): Promise<void> {
  await page.getByRole("slider", { name: /Starts by hour/ }).waitFor({ timeout: 600_000 });
  await page.getByText(/100,000 jobs, \d+,\d+ starts/).waitFor();
}

describe.skipIf(!hasBrowser)(`a hundred thousand jobs${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test("every page is there, light, dark and narrow; the list is moved through, sorted and searched", async () => {
    const here = place(manyJobs());
    const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0"]);
    const { api } = await krond.ready();
    const origin = `http://${String(api)}`;
    for (const [look, options] of LOOKS) {
      const shown = await loggedIn(here, options);
      for (const [path, title, isThere] of PAGES) {
        await shown.page.goto(origin + path);
        await shown.page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
        await isThere(shown);
        const width = await shown.page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([look, path, width, await seriousFindings(shown)]).toEqual([look, path, 0, []]);
      }
      expect([look, shown.complaints]).toEqual([look, []]);
    }
    await movesThroughTheList(await loggedIn(here), origin);
  });
});

async function movesThroughTheList(shown: Shown, origin: string): Promise<void> {
  const { page } = shown;
  await page.goto(`${origin}/jobs`);
  await page.getByText("100,000 jobs").waitFor();
  await page.getByRole("grid").focus();
  await page.keyboard.press("End");
  await page.getByRole("row", { name: /tenant-99\/job-099999/ }).waitFor();
  await page.keyboard.press("Home");
  await page.getByRole("row", { name: /tenant-00\/job-000000/ }).waitFor();
  // Few of them exist at a time.
  expect(await page.getByRole("row").count()).toBeLessThan(60);
  await page.getByRole("button", { name: "Next start" }).click();
  await page.waitForURL(/sort=next/);
  await page.getByRole("searchbox").fill("job-099998");
  await page.getByText("1 job", { exact: true }).waitFor();
  await page.getByRole("row", { name: /job-099998/ }).waitFor();
  expect(await seriousFindings(shown)).toEqual([]);
  expect(shown.complaints).toEqual([]);
}
