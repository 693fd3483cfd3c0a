/** The JSON Schema (2020-12) of a whole YAML file, for editors: made from the same shapes that check definitions. */
import { z } from "zod";
import { DEFAULTS_SHAPE, JOB_SHAPE } from "../job/shape.js";
import { CALENDARS_FIELD } from "./calendar/definition.js";
import { SETTINGS_FIELDS } from "./settings.js";

export const FILE_SHAPE = z
  .strictObject({
    defaults: DEFAULTS_SHAPE.optional(),
    jobs: z.array(JOB_SHAPE).meta({ description: "The jobs, in any order." }).optional(),
    calendars: CALENDARS_FIELD.optional(),
    ...SETTINGS_FIELDS,
  })
  .meta({ title: "Kron jobs", description: "Jobs of Kron, with their defaults and the settings beside them." });

export function jobJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(FILE_SHAPE, { target: "draft-2020-12", io: "input" });
  return { $id: "krond.schema.json", ...schema };
}
