import { expect, test } from "vitest";
import { PROCESS_TABLE } from "../../../src/actors/process-identity.js";
import { shellRequest, testLaunchers } from "../../support/launcher.js";

const newLauncher = testLaunchers();

/** Root is refused nothing: a system that hides other users' processes has to be played. */
const HIDING = {
  ...PROCESS_TABLE,
  readText: (path: string): string => {
    if (!path.endsWith("/stat")) return PROCESS_TABLE.readText(path);
    throw Object.assign(new Error("EACCES"), { code: "EACCES" });
  },
};

test("S27, ERROR-MODEL SystemError: a run whose process may not be looked at is watched, and that is told", async () => {
  const first = await newLauncher();
  const armed = await first.run(shellRequest("sleep 60"));
  await first.port.close();
  const next = await newLauncher({ processTable: HIDING });
  expect(await next.port.adopt({ ...armed, output: null })).toBe("watching");
  const message = expect.stringContaining(`process ${armed.holder.pid} of run ${armed.attemptId} may not be looked at`);
  expect(next.events).toEqual([{ kind: "trouble", code: "pid-unverifiable", message }]);
  await next.port.terminate(armed.attemptId, 0);
});
