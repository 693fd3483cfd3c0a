import { describe, expect, test } from "vitest";
import { applySettings, readSettings, SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { settingsOfText, settingsText } from "../../../src/core/config/settings-text.js";

const RAW = {
  history: { keep: 3 },
  ledger: { max_age: "48h" },
  kill_grace: "5s",
  http: { allow: ["10.0.0.0/8"], max_concurrent: 7 },
  notifications: { sendmail: ["/bin/mail"] },
};

describe("S50: the settings of several nodes, as one text", () => {
  test("they are read as they were written", () => {
    const { changes, problems } = readSettings(RAW);
    expect(problems).toEqual([]);
    const settings = applySettings(changes.map(({ change }) => change));
    expect(settingsOfText(settingsText(settings))).toEqual(settings);
    expect(settings).not.toEqual(SETTINGS_DEFAULTS);
  });

  test("where none were ever applied they are as usual", () => {
    expect(settingsOfText(null)).toEqual(SETTINGS_DEFAULTS);
  });

  test("what an older version did not know is as usual", () => {
    const { http, limits, ...older } = SETTINGS_DEFAULTS;
    const text = JSON.stringify({ ...older, killGraceMs: 1, http: { allow: [], allowPrivate: true } });
    expect(settingsOfText(text)).toEqual({
      ...SETTINGS_DEFAULTS,
      killGraceMs: 1,
      http: { ...http, allowPrivate: true },
    });
  });
});
