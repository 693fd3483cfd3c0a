import { defineConfig } from "vitest/config";

const long = process.env["KRON_TEST_LONG"] === "1";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: long ? 3_600_000 : 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    // A test that needs what this machine lacks says so in its name when it skips.
    reporters: process.env["CI"] ? ["default", "json"] : ["default"],
    outputFile: { json: "node_modules/.cache/vitest-report.json" },
  },
});
