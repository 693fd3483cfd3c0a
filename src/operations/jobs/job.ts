import { z } from "zod";
import type { JobStatus } from "../../actors/supervisor/port.js";
import { type Named, withEndpointNames } from "../endpoints/names.js";
import { daemonOperation } from "../operation.js";
import { statusesOf } from "../records/attended-status.js";
import { JOB_STATUS } from "../shapes/job.js";
import { identity } from "../shapes/words.js";
import { found } from "./existing.js";

export const JOB = daemonOperation({
  name: "job",
  summary: "how one job is, and when it runs next",
  http: { method: "GET", path: "/schedules/:identity" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ identity }),
  output: JOB_STATUS,
  run: async (request, ports): Promise<Named<JobStatus>> => {
    const rows = await statusesOf(ports, [request.identity]);
    const [row] = await withEndpointNames(ports.reader, rows);
    return found(row ?? null, request.identity);
  },
});
