/** What somebody types, has opened or has scrolled to stays as it is while the page follows the daemon. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { browserPath, browsers } from "../support/browser.js";
import { builtPrograms, krondProcesses, type RunningKrond } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const hasBrowser = browserPath() !== null;
const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const { loggedIn } = browsers();

interface Served {
  readonly here: Place;
  readonly krond: RunningKrond;
  readonly origin: string;
}

async function served(): Promise<Served> {
  const names = Array.from({ length: 60 }, (_, index) => `t/job-${String(index).padStart(2, "0")}`);
  const here = place(names.map((name) => job(name, "exit 7")).join("") + job("u/good", "true"));
  const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0"]);
  const { api } = await krond.ready();
  return { here, krond, origin: `http://${String(api)}` };
}

async function ran({ here, krond }: Served, identity: string): Promise<void> {
  const from = krond.lines.length;
  expect(here.kron("run", identity).status).toBe(0);
  await krond.event("completed", { identity }, from);
}

/** Where the page is scrolled to, what has the focus, and which part of what is typed is selected. */
function standing(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const { activeElement: at } = document;
    return [scrollY, at.tagName, at.value, at.selectionStart, at.selectionEnd];
  })()`);
}

describe.skipIf(!hasBrowser)(`a live update${hasBrowser ? "" : " (this machine has no Chromium)"}`, () => {
  test("leaves what is typed, what is open and where one is on the page of a job", async () => {
    const at = await served();
    await ran(at, "t/job-07");
    const { page, complaints } = await loggedIn(at.here, { viewport: { width: 1280, height: 500 } });
    await page.goto(`${at.origin}/jobs/t%2Fjob-07`);
    const failed = page.getByRole("region", { name: "Periods" }).getByRole("row", { name: /^failed/ });
    await failed.first().waitFor();
    const opener = failed.getByRole("button");
    await opener.press("Enter");
    const draws = page.locator("details").first();
    await draws.locator("summary").click();
    await page.getByRole("button", { name: "Pause…" }).click();
    await page.getByRole("combobox", { name: "for" }).selectOption({ label: "a day" });
    const field = page.getByLabel("because");
    await field.fill("an upgrade of everything");
    await page.evaluate("document.activeElement.setSelectionRange(3, 10); scrollTo(0, 90)");
    const before = await standing(page);
    await ran(at, "t/job-07");
    await failed.nth(1).waitFor();
    await page.getByText("Cancel run…").waitFor({ state: "detached" });
    expect(await standing(page)).toEqual(before);
    expect(await page.getByRole("combobox", { name: "for" }).inputValue()).toBe(String(86_400_000));
    expect(await draws.getAttribute("open")).not.toBeNull();
    expect(await failed.last().getByRole("button").getAttribute("aria-expanded")).toBe("true");
    // And goes on from there.
    await page.keyboard.type("ex");
    expect(await field.inputValue()).toBe("an ex of everything");
    expect(complaints).toEqual([]);
  });

  test("leaves the list where it is scrolled to, the row that is chosen and the word that is half typed", async () => {
    const at = await served();
    const { page, complaints } = await loggedIn(at.here);
    await page.goto(`${at.origin}/jobs`);
    await page.getByText("61 jobs").waitFor();
    const grid = page.getByRole("grid");
    await grid.focus();
    for (const key of ["End", "ArrowUp", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
    const chosen = page.getByRole("row", { name: /t\/job-57/, selected: true });
    await chosen.waitFor();
    const top = await grid.evaluate((it) => it.scrollTop);
    expect(top).toBeGreaterThan(0);
    await page.getByRole("searchbox").focus();
    await page.keyboard.type("is:");
    await page.waitForURL(/q=is/);
    await ran(at, "t/job-58");
    await page.getByRole("row", { name: /t\/job-58.*failed/ }).waitFor();
    expect(await grid.evaluate((it) => it.scrollTop)).toBe(top);
    await chosen.waitFor();
    await page.keyboard.type("failing");
    await page.getByText("1 job", { exact: true }).waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("is:failing");
    expect(complaints).toEqual([]);
  });

  test("leaves a row of what has just ended open, and does not move what is pointed at", async () => {
    const at = await served();
    await ran(at, "t/job-07");
    const { page, complaints } = await loggedIn(at.here, { viewport: { width: 1280, height: 1_400 } });
    await page.goto(at.origin);
    await page.getByRole("img", { name: /Starts of five minutes/ }).waitFor();
    const ended = page.getByRole("region", { name: "Just ended" });
    const opener = ended.getByRole("button", { name: /What happened to t\/job-07/ });
    await opener.click();
    await ended.getByText(/claimed and started/).waitFor();
    await page.locator("details").first().locator("summary").click();
    const box = await opener.boundingBox();
    await opener.hover();
    const told = page.waitForResponse(async (answer) => {
      return answer.url().endsWith("/now") && (await answer.text()).includes("u/good");
    });
    await ran(at, "u/good");
    await told;
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    expect(await opener.boundingBox()).toEqual(box);
    expect(await opener.getAttribute("aria-expanded")).toBe("true");
    expect(await ended.getByText("u/good").count()).toBe(0);
    expect(await page.locator("details").first().getAttribute("open")).not.toBeNull();
    await page.mouse.move(5, 5);
    await ended.getByText("u/good").waitFor();
    expect(complaints).toEqual([]);
  });
});
