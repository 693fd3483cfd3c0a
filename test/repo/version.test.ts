import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ENGINE_VERSION } from "../../src/core/base/version.js";

test("decision record: engine_version is the version of the package", () => {
  const manifest: unknown = JSON.parse(readFileSync("package.json", "utf8"));
  expect(manifest).toMatchObject({ version: ENGINE_VERSION });
});
