/** What was written of an endpoint, in a file, with options or both, and where to point at when something of it is wrong. */
import { type Fields, without } from "../../core/base/fields.js";
import { type Problem, problemAt } from "../../core/base/problem.js";
import type { EndpointAnswer } from "../../operations/endpoints/shapes.js";
import type { ParsedArgs } from "../args.js";
import type { CliIo } from "../io.js";
import { fieldsOf, refusedOption } from "./fields.js";
import { FieldsFile } from "./fields-file.js";

/** Fields of requests that are none of an endpoint. */
const NO_FIELDS: readonly string[] = ["op", "jobId", "endpointId", "dryRun", "ifMatch"];

export interface Written {
  readonly fields: Fields;
  /** Beside the fields of an endpoint: the job that a file names. */
  readonly job: unknown;
  /** What to end the command with. */
  refusal(problems: readonly Problem[]): Promise<Error>;
}

/** Of `--file` and of all options; these go before. */
export async function written(args: ParsedArgs, io: CliIo, before: EndpointAnswer | null): Promise<Written> {
  const given = await fieldsOf(args, io, before);
  const name = args.text("file");
  if (name === undefined) {
    return {
      fields: given,
      job: undefined,
      refusal: async ([first]) => (first === undefined ? new Error() : refusedOption(first)),
    };
  }
  const file = await FieldsFile.read(name, args, io);
  const strange = strangeFields(file.fields);
  if (strange.length > 0) throw await file.refused(strange, args, io);
  const refusal = async (problems: readonly Problem[]): Promise<Error> => {
    const ofOption = problems.find(({ path: [field] }) => String(field) in given);
    return ofOption === undefined ? file.refused(problems, args, io) : refusedOption(ofOption);
  };
  return { fields: { ...without(file.fields, "job"), ...given }, job: file.fields["job"], refusal };
}

export function strangeFields(fields: Fields): readonly Problem[] {
  const strange = Object.keys(fields).filter((field) => NO_FIELDS.includes(field));
  return strange.map((field) => ({ code: "field-unknown", message: `unknown field "${field}"`, path: [field] }));
}

/** What is judged beside them. */
export function withoutStrange(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !NO_FIELDS.includes(field)));
}

export function within(prefix: readonly (string | number)[], problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => problemAt(problem, ...prefix));
}
