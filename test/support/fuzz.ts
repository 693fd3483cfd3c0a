/** Generated tests use one fixed seed: a run that was green stays green until the code or the test changes. */
export const FUZZ = { seed: 20_260_301, numRuns: 1000 } as const;

export const IS_LONG = process.env["KRON_TEST_LONG"] === "1";
