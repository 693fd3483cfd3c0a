/** Loaded before a program of ours: the wall clock of its machine goes wrong by so many milliseconds. */
const skewMs = Number(process.env.KRON_TEST_SKEW_MS ?? 0);
const now = Date.now.bind(Date);
const RealDate = Date;

if (skewMs !== 0) {
  Date.now = () => now() + skewMs;
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      super(...(args.length === 0 ? [now() + skewMs] : args));
    }
  };
  globalThis.Date.now = () => now() + skewMs;
}
