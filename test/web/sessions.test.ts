import { describe, expect, test } from "vitest";
import { Sessions } from "../../src/api/web/sessions.js";
import { LoginCodes } from "../../src/operations/page/login-codes.js";

const HOUR_MS = 3_600_000;
const ADMIN = { scope: "admin", tenant: null, keyId: null } as const;

class Hands {
  ms = 0;
  readonly monotonicMs = (): number => this.ms;
}

describe("sessions", () => {
  test("end after two hours without use, and after twelve whatever is done", () => {
    const clock = new Hands();
    const sessions = new Sessions(clock);
    const idle = sessions.open(ADMIN).halves;
    const busy = sessions.open(ADMIN).halves;
    for (let hour = 1; hour < 12; hour++) {
      clock.ms = hour * HOUR_MS;
      expect(sessions.find(busy)).not.toBeNull();
    }
    expect(sessions.find(idle)).toBeNull();
    clock.ms = 12 * HOUR_MS;
    expect(sessions.find(busy)).toBeNull();
  });

  test("are bounded: of too many the oldest goes", () => {
    const sessions = new Sessions(new Hands());
    const first = sessions.open(ADMIN).halves;
    const second = sessions.open(ADMIN).halves;
    for (let count = 0; count < 999; count++) sessions.open(ADMIN);
    expect(sessions.find(first)).toBeNull();
    expect(sessions.find(second)).not.toBeNull();
  });

  test("of a key are its own: too many of them end its oldest, and nobody else's", () => {
    const sessions = new Sessions(new Hands());
    const link = sessions.open(ADMIN).halves;
    const other = sessions.open({ ...ADMIN, keyId: "other" }).halves;
    const own = Array.from({ length: 1_200 }, () => sessions.open({ ...ADMIN, keyId: "one" }).halves);
    expect(own.map((halves) => sessions.find(halves) !== null).lastIndexOf(false)).toBe(own.length - 21);
    expect(own.filter((halves) => sessions.find(halves) !== null)).toHaveLength(20);
    expect([sessions.find(link), sessions.find(other)]).not.toContain(null);
  });

  test("are listed, the newest first, with how long they are open, idle and will be; one that is ended is none", () => {
    const clock = new Hands();
    const sessions = new Sessions(clock);
    const first = sessions.open(ADMIN);
    clock.ms = HOUR_MS;
    const second = sessions.open({ ...ADMIN, scope: "read" });
    clock.ms = 1.5 * HOUR_MS;
    sessions.find(first.halves);
    const times = (openForMs: number, idleForMs: number, endsInMs: number) => ({ openForMs, idleForMs, endsInMs });
    expect(sessions.list()).toEqual([
      { ...second.session, ...times(HOUR_MS / 2, HOUR_MS / 2, 1.5 * HOUR_MS) },
      { ...first.session, ...times(1.5 * HOUR_MS, 0, 2 * HOUR_MS) },
    ]);
    expect([sessions.end(second.session.id), sessions.end(second.session.id)]).toEqual([true, false]);
    expect(sessions.find(second.halves)).toBeNull();
    clock.ms = 4 * HOUR_MS;
    expect(sessions.list()).toEqual([]);
  });

  test("halves of two sessions open neither", () => {
    const sessions = new Sessions(new Hands());
    const [one, other] = [sessions.open(ADMIN).halves, sessions.open(ADMIN).halves];
    expect(sessions.find({ cookie: one.cookie, page: other.page })).toBeNull();
  });
});

describe("codes that log in", () => {
  test("work once, within a minute", () => {
    const clock = new Hands();
    const codes = new LoginCodes(clock);
    const [used, late] = [codes.issue("read", null), codes.issue("admin", "3k5xq2mb")];
    expect(codes.redeem(used.code)).toEqual({ scope: "read", keyId: null });
    expect(codes.redeem(used.code)).toBeNull();
    clock.ms = 60_001;
    expect(codes.redeem(late.code)).toBeNull();
  });

  test("are bounded: of too many the oldest goes", () => {
    const codes = new LoginCodes(new Hands());
    const [first, second] = [codes.issue("read", null), codes.issue("read", null)];
    for (let count = 0; count < 63; count++) codes.issue("read", null);
    expect([codes.redeem(first.code), codes.redeem(second.code)]).toEqual([null, { scope: "read", keyId: null }]);
  });
});
