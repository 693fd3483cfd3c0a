/**
 * Where an operation is asked for over HTTP. Router, validation, the OpenAPI document and the tests of keys are all made
 * from this, so that what is served is what is written here.
 */
import type { z } from "zod";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface HttpRoute {
  readonly method: HttpMethod;
  /** Below the version; what begins with a colon is a field of the input. */
  readonly path: `/${string}`;
  /** Fields that come with the address although there is a body. Without a body all but those of the path do. */
  readonly query?: readonly string[];
  /** The input has a `cursor` and a `limit`, and the answer says with `next` where to go on, or null. */
  readonly isPaged?: true;
  /** Something was made that was not there: 201. With a question, it depends. */
  readonly makes?: true | ((answer: never, input: never) => boolean);
  /** What was begun is not over: 202, although it was made. */
  readonly isPending?: (answer: never, input: never) => boolean;
  /** What it answers is nowhere kept, also not for somebody who asks again. */
  readonly isShownOnce?: true;
  /** The version of what is answered, as its `ETag`. */
  etag?(answer: never): string;
  /** Nothing of the answer changes without its version: whoever knows that one needs no other. */
  readonly isAllByVersion?: true;
  /** `If-Match` becomes the field `ifMatch` of the input, `If-None-Match: *` of a PUT the version that nothing has. */
  readonly takesIfMatch?: true;
  /** Where an input or an answer is told in another form than among our own programs. */
  readonly form?: HttpForm;
}

interface HttpForm {
  readonly takes: z.ZodObject;
  toInput(taken: Readonly<Record<string, unknown>>): unknown;
  /** Of the answer in its other form. */
  readonly gives?: z.ZodType;
  toAnswer?(answer: unknown, taken: Readonly<Record<string, unknown>>): unknown;
}

/** With the types that the form has, which nobody else needs to know. */
export function httpForm<Takes extends z.ZodObject, Input, Answer = unknown>(form: {
  readonly takes: Takes;
  readonly toInput: (taken: z.output<Takes>) => Input;
  readonly gives?: z.ZodType;
  readonly toAnswer?: (answer: Answer, taken: z.output<Takes>) => unknown;
}): HttpForm {
  return form as unknown as HttpForm;
}
