/** What the daemon answers, as the API spells it: in camel case, and instants as texts. Types only. */
import type { HealthAnswer } from "../../src/operations/endpoints/health.js";
import type { DefinitionAnswer, ExplainAnswer, LogAnswer, UpcomingAnswer } from "../../src/operations/shapes/ahead.js";
import type { ForecastAnswer, ForecastWhoAnswer } from "../../src/operations/shapes/forecast.js";
import type { EndpointTold, JobRow } from "../../src/operations/shapes/job.js";
import type { NowAnswer } from "../../src/operations/shapes/now.js";
import type { HistoryAnswer, WhyShape } from "../../src/operations/shapes/record.js";
import type { PlanShape, StatusShape } from "../../src/operations/shapes/system.js";

type Camel<S extends string> = S extends `${infer First}_${infer Letter}${infer Rest}`
  ? `${First}${Uppercase<Letter>}${Camel<Rest>}`
  : S;

export type Told<T> = T extends readonly (infer One)[]
  ? readonly Told<One>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends string ? Camel<Key> : Key]: Told<T[Key]> }
    : T;

export type Health = HealthAnswer;
export type {
  DefinitionAnswer,
  EndpointTold,
  ExplainAnswer,
  ForecastAnswer,
  ForecastWhoAnswer,
  JobRow,
  LogAnswer,
  UpcomingAnswer,
};
export type Now = NowAnswer;
export type Lane = NowAnswer["lanes"][number];
export type Plan = PlanShape;
type Spelled<T extends { readonly nextDueAt: number | null }, Began extends keyof T> = Omit<T, "nextDueAt" | Began> & {
  readonly nextDueAt: string | null;
} & { readonly [Name in Began]: string };
export type NodeTold = Spelled<NonNullable<StatusShape["nodes"]>[number], "startedAt">;
export type Status = Omit<Spelled<StatusShape, "bootedAt">, "nodes"> & { readonly nodes?: readonly NodeTold[] };
export type HistoryRow = Told<Omit<HistoryAnswer[number], "decision">>;
export type Why = Told<Omit<WhyShape, "decision">>;

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number | null;
  readonly next: string | null;
}
