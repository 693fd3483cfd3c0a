/**
 * R6: what would break if one rule of the protocol were forgotten. Each row is one small change of the sources and the
 * tests that have to notice it; `quick` ones are tried with every run of the tests.
 */

/**
 * @typedef {object} Mutant
 * @property {string} name
 * @property {string} file
 * @property {string} search occurs exactly once
 * @property {string} replace
 * @property {readonly string[]} tests
 * @property {boolean} [quick]
 * @property {boolean} [needsRoot] only root's tests can tell
 */

const PERIODS = "src/core/period/periods.ts";
const POLICY = "src/core/period/policy.ts";
const LATENESS = "src/core/period/lateness.ts";
const OCCASION = "src/core/period/occasion.ts";
const RUNS = "src/core/state/run-transitions.ts";
const CLAIMS = "src/core/state/period-transitions.ts";
const STEP = "src/machines/step.ts";
const EXECUTION = "src/machines/execution.machine.ts";
const GATE = "src/actors/launcher/child/gate.ts";
const LMDB_OPEN = "src/persist/lmdb/open.ts";
const REHEARSED = "src/actors/supervisor/run/claims.ts";
const ATOMIC = "src/persist/files/atomic.ts";

const STATE_TESTS = ["test/core/state"];
const MACHINE_TESTS = [
  "test/machines/step.test.ts",
  "test/machines/step-life.test.ts",
  "test/machines/model-check.test.ts",
];
const OCCASION_TESTS = ["test/machines/occasions.test.ts", "test/core/state"];
const STAND_IN_TESTS = ["test/machines/hint-of-tried.test.ts", "test/machines/pause-of-tried.test.ts"];
const TRIED_TESTS = ["test/machines/tried-before.test.ts"];
const LMDB_TESTS = [
  "test/persist/lmdb-contract.test.ts",
  "test/persist/lmdb-directory.test.ts",
  "test/persist/lmdb-damage.test.ts",
];
const CRASH_TESTS = ["test/actors/supervisor/crash-points.test.ts"];
const REHEARSAL_TESTS = [
  "test/actors/supervisor/run/rehearsal.test.ts",
  "test/actors/supervisor/run/claims.test.ts",
  "test/actors/supervisor/crash-points.test.ts",
];
const FILES_TESTS = [
  "test/persist/files-contract.test.ts",
  "test/persist/files-faults.test.ts",
  "test/persist/files-directory.test.ts",
];
const AWAY = "src/actors/cluster/away-runs.ts";
const ELSEWHERE = "src/actors/supervisor/run/elsewhere.ts";
const LOST = "src/actors/supervisor/run/away.ts";
const AWAY_TESTS = ["test/actors/cluster/away-runs.test.ts", "test/actors/cluster/runs-between.test.ts"];
const FAREWELL = "src/actors/supervisor/start/farewell.ts";
const FAREWELL_TESTS = ["test/actors/supervisor/start/farewell.test.ts"];
const LAUNCHER_TESTS = ["test/actors/launcher/child/gate.test.ts", "test/actors/launcher/contract.test.ts"];

/** @type {readonly Mutant[]} */
export const MUTANTS = [
  {
    name: "S12: == for <= when asking whether a period is handled",
    file: PERIODS,
    search: "nominalAt <= lastHandledAt",
    replace: "nominalAt === lastHandledAt",
    tests: ["test/core/period/periods.test.ts"],
    quick: true,
  },
  {
    name: "S12: a period that runs may be started again",
    file: POLICY,
    search: " || active.some((run) => isPeriod(run.source) && run.slotAt === slotAt)",
    replace: "",
    tests: ["test/core/period/policy.test.ts"],
  },
  {
    name: "S12: LastHandledPeriodID may go backwards",
    file: CLAIMS,
    search: "if (isHandled(lastHandledAt(document), decision.nominalAt)) {",
    replace: "if (lastHandledAt(document) === decision.nominalAt) {",
    tests: ["test/faults/handled.test.ts"],
  },
  {
    name: "S22: a completion clears the newest run, whichever ended",
    file: RUNS,
    search: "const ended = activeStates(document).find((active) => isSameRun(keyOf(active), run));",
    replace: "const ended = activeStates(document)[0];",
    tests: STATE_TESTS,
    quick: true,
  },
  {
    name: "S22: the claim does not say what runs",
    file: CLAIMS,
    search: 'const next = withNewest(handled(document, decision, "executed", null), active);',
    replace: 'const next = handled(document, decision, "executed", null);',
    tests: STATE_TESTS,
  },
  {
    name: "S29: an end that nobody saw counts as success",
    file: "src/core/state/ending.ts",
    search: 'export const EXIT_UNSEEN: Ending = { kind: "unseen", reason: "exit_unseen" };',
    replace: 'export const EXIT_UNSEEN: Ending = { kind: "exited", code: 0, signal: null, reason: "exit_unseen" };',
    tests: [...STATE_TESTS, "test/machines/execution.machine.test.ts"],
  },
  {
    name: "S20: lateness is compared in milliseconds",
    file: LATENESS,
    search: "return floorToSecond(now) > limitAt;",
    replace: "return now > limitAt;",
    tests: ["test/core/period/lateness.test.ts"],
    quick: true,
  },
  {
    name: "S20: the deadline is off by one second",
    file: LATENESS,
    search: "return floorToSecond(now) > limitAt;",
    replace: "return floorToSecond(now) >= limitAt;",
    tests: ["test/core/period/lateness.test.ts"],
  },
  {
    name: "S24: a failed start is not closed when its deadline has passed",
    file: LATENESS,
    search: "return Math.min(now + retryDelayMs(failures), closesAt);",
    replace: "return Math.max(now + retryDelayMs(failures), closesAt);",
    tests: ["test/core/period/lateness.test.ts"],
  },
  {
    name: "S10: no lead for around and before",
    file: PERIODS,
    search: "return compiled.schedule.previous(now + compiled.leadMs);",
    replace: "return compiled.schedule.previous(now);",
    tests: ["test/core/period/periods.test.ts"],
    quick: true,
  },
  {
    name: "S13: after a return all missed periods are caught up",
    file: PERIODS,
    search: "return { liveAt: currentAt, gap: gapBefore(compiled, marks, currentAt), isStateAhead };",
    replace:
      "return { liveAt: lastHandledAt === null ? currentAt : nextPeriod(compiled, lastHandledAt), gap: null, isStateAhead };",
    tests: ["test/core/period/periods.test.ts"],
  },
  {
    name: "S14: adding or editing a job fires the past",
    file: POLICY,
    search: "return (decision.chosenAt ?? decision.windowEndAt) < floorToSecond(standing.definedAt);",
    replace: "return false;",
    tests: ["test/core/period/policy.test.ts"],
  },
  {
    name: "S17: a pause is forgotten",
    file: POLICY,
    search: "return standing.pausedUntilAt !== null && now < standing.pausedUntilAt;",
    replace: "return false;",
    tests: ["test/core/period/policy.test.ts"],
    quick: true,
  },
  {
    name: "S26: forbid does not see runs by hand",
    file: POLICY,
    search: 'return active.length > 0 ? unlessWaiting(runs, "concurrency_forbid") : start;',
    replace: 'return active.some(({ source }) => source === null) ? unlessWaiting(runs, "concurrency_forbid") : start;',
    tests: ["test/core/period/policy.test.ts", "test/machines/step.test.ts"],
  },
  {
    name: "S25: replace does not wait for its victims",
    file: "src/machines/judge.ts",
    search: 'matches({ eligible: "clearing" }) === true && isCleared',
    replace: 'matches({ eligible: "clearing" }) === true && (isCleared || true)',
    tests: MACHINE_TESTS,
  },
  {
    name: "S40: a slot may be claimed twice",
    file: CLAIMS,
    search:
      "aftermath } = claim;\n  const slotId = formatInstant(slotAt);\n  if (isSlotUsed(document, source, slotAt)) {",
    replace: "aftermath } = claim;\n  const slotId = formatInstant(slotAt);\n  if (source === slotId) {",
    tests: STATE_TESTS,
  },
  {
    name: "S40: a slot that was claimed is planned again",
    file: POLICY,
    search: "newestAt !== null && slotAt <= newestAt",
    replace: "newestAt !== null && slotAt < newestAt",
    tests: OCCASION_TESTS,
  },
  {
    name: "S41: a hint survives its TTL",
    file: "src/core/state/hint-transitions.ts",
    search: "(hints?.[kind]?.expiresAt ?? now) <= now",
    replace: "(hints?.[kind]?.expiresAt ?? now) < 0",
    tests: OCCASION_TESTS,
  },
  {
    name: "S41: nobody wakes when a hint ends",
    file: "src/machines/activation.ts",
    search: "const hintEndAt = nextHintEndAt(hintsOf(documentOfActivation(activation)));",
    replace: "const hintEndAt = nextHintEndAt(undefined ?? (hintsOf(documentOfActivation(activation)) && undefined));",
    tests: OCCASION_TESTS,
  },
  {
    name: "S41: what passed in a hint is evaluated when it ends",
    file: POLICY,
    search: "return evaluatesFromAt !== null && dueAt(decision) < evaluatesFromAt;",
    replace: "return evaluatesFromAt !== null && dueAt(decision) < 0;",
    tests: OCCASION_TESTS,
  },
  {
    name: "S42: a one-shot is not consumed",
    file: CLAIMS,
    search:
      'source === "hint-oneshot" ? consumeOneshot(document, hintedAtOf(claim), aftermath, now) : unchanged(document);',
    replace: 'source === "none" ? consumeOneshot(document, hintedAtOf(claim), aftermath, now) : unchanged(document);',
    tests: OCCASION_TESTS,
  },
  {
    name: "S42: a one-shot is known by its slot, wherever its pace has moved it",
    file: OCCASION,
    search: "return clamped?.fromAt ?? slotAt;",
    replace: "return clamped === undefined ? slotAt : slotAt;",
    tests: ["test/machines/oneshot-replaced.test.ts"],
  },
  {
    name: "S41: what a job at rest waits for is forgotten over a wish that came to nothing",
    file: STEP,
    search: 'if (draft.period === null && draft.undecided === null && type !== "REMOVE") evaluate(draft, false);',
    replace: 'if (draft.period === null && draft.undecided === null && type === "REMOVE") evaluate(draft, false);',
    tests: ["test/machines/looks-around.test.ts"],
  },
  {
    name: "S40: a slot forgets when the last run began",
    file: CLAIMS,
    search: ", LastRunAt: newest.StartedAt }",
    replace: " }",
    tests: OCCASION_TESTS,
  },
  {
    name: "S40: what ran late loses its place within the second",
    file: CLAIMS,
    search: "startedAt: wholeSecondsFrom(chosenAt, now)",
    replace: "startedAt: floorToSecond(now)",
    tests: ["test/core/state/ran-at.test.ts", "test/actors/supervisor/places.test.ts"],
  },
  {
    name: "S14: endpoints that are made in one second are due at once",
    file: "src/core/state/definition-transitions.ts",
    search: "at: isExact ? now : floorToSecond(now)",
    replace: "at: isExact ? floorToSecond(now) : floorToSecond(now)",
    tests: ["test/actors/supervisor/places.test.ts"],
  },
  {
    name: "S40: a slot is claimed in its second before it is due",
    file: "src/actors/supervisor/run/rehearsal.ts",
    search: "return now >= forAt && floorToSecond",
    replace: "return floorToSecond",
    tests: REHEARSAL_TESTS,
  },
  {
    name: "S23: GO before the claim is durable",
    file: EXECUTION,
    search: '            CLAIM: "claiming",',
    replace:
      '            CLAIM: { target: "#execution.running", actions: ["startClock", { type: "go", params: ({ context }) => goParams(context) }] },',
    tests: ["test/machines/execution.machine.test.ts", ...MACHINE_TESTS],
  },
  {
    name: "S20, S23: the claim is written without judging once more",
    file: STEP,
    search: '  if (verdict.kind === "start") {\n    const claimed',
    replace: '  if (verdict.kind !== "replace") {\n    const claimed',
    tests: MACHINE_TESTS,
  },
  {
    name: "S16, S17: a gate stays open although its definition is gone",
    file: "src/machines/judge.ts",
    search:
      '    if (isOwnSource(source) && isUnclaimed(execution)) {\n      draft.tellAttempt(attemptId, { type: "CLOSE" });',
    replace:
      '    if (isOwnSource(source) && isUnclaimed(execution) && attemptId === "") {\n      draft.tellAttempt(attemptId, { type: "CLOSE" });',
    tests: ["test/faults/gates.test.ts"],
  },
  {
    name: "S23: a claim is not waited for",
    file: "src/actors/supervisor/write/committer.ts",
    search: "const refused = await this.#store.commit(this.#term, batch);",
    replace: "const refused: readonly Claim[] = [];\n    void this.#store.commit(this.#term, batch).catch(() => {});",
    tests: ["test/actors/supervisor/io-errors.test.ts"],
  },
  {
    name: "S31: after a failed write gates stay open",
    file: "src/actors/supervisor/run/gates.ts",
    search: "begin(null);\n    await this.closeAll();",
    replace: "begin(null);",
    tests: ["test/actors/supervisor/io-errors.test.ts", "test/actors/supervisor/crash-points.test.ts"],
  },
  {
    name: "S32: an unreadable document is replaced by an empty one",
    file: "src/actors/supervisor/start/recovery.ts",
    search: "fenceDocument(empty, compileRule(definition), rules)",
    replace: "fenceDocument(empty, compileRule(definition), { ...rules, upToAt: 0 })",
    tests: ["test/actors/supervisor/start/clock-behind.test.ts"],
  },
  {
    name: "S32: a changed entry keeps its checksum",
    file: "src/persist/checksum.ts",
    search: "return crc32(text, seed) + 1;",
    replace: "return text.length + 1;",
    tests: [...LMDB_TESTS, ...FILES_TESTS],
  },
  {
    name: "S33: nobody places the lock",
    file: "src/persist/lock.ts",
    search: "    if (status === 0) return ok(undefined);",
    replace: "    if (status !== null) return ok(undefined);",
    tests: ["test/persist/lock.test.ts"],
  },
  {
    name: "S33: a write does not ask for the lock",
    file: "src/persist/lmdb/store.ts",
    search:
      "  commit(term: LockTerm, batch: Batch): Promise<readonly Claim[]> {\n    assertHeld(term, this.opening.directory);",
    replace: "  commit(_term: LockTerm, batch: Batch): Promise<readonly Claim[]> {",
    tests: ["test/persist/lmdb-contract.test.ts"],
  },
  {
    name: "S33: what somebody else has claimed is granted as well",
    file: "src/persist/claims.ts",
    search: "isAmong(key) || isTaken(key)",
    replace: "isAmong(key)",
    tests: ["test/persist/memory-contract.test.ts"],
  },
  {
    name: "S32: a store that is gone looks like a first start",
    file: LMDB_OPEN,
    search: "  if (marker !== null) return matchMarker(directory, marker, summary);",
    replace: "  if (marker !== null && summary !== null) return matchMarker(directory, marker, summary);",
    tests: ["test/persist/lmdb-directory.test.ts", "test/persist/recover.test.ts"],
  },
  {
    name: "S31: LMDB does not sync before it answers",
    file: "src/persist/lmdb/environment.ts",
    search: "    overlappingSync: false,",
    replace: "    overlappingSync: true,",
    tests: ["test/persist/lmdb-contract.test.ts"],
  },
  {
    name: "S31: LMDB does not sync at all",
    file: "src/persist/lmdb/environment.ts",
    search: "    overlappingSync: false,",
    replace: "    overlappingSync: false,\n    noSync: true,",
    tests: ["test/faults/durability.test.ts"],
  },
  {
    name: "STATE: a file is renamed before its content is synced",
    file: ATOMIC,
    search: "    await file.sync();",
    replace: "",
    tests: FILES_TESTS,
  },
  {
    name: "STATE: a new name is not synced",
    file: ATOMIC,
    search: "  await disk.syncDirectory(path.dirname(file));",
    replace: "",
    tests: FILES_TESTS,
  },
  {
    name: "STATE: a commit that was carried out is not taken off the journal",
    file: ATOMIC,
    search: "  await carryOut(disk, root, changes);\n  await removeJournal(disk, root);\n}\n\n/** null when",
    replace: "  await carryOut(disk, root, changes);\n}\n\n/** null when",
    tests: FILES_TESTS,
  },
  {
    name: "S27: any process under the number is adopted",
    file: "src/actors/process-identity.ts",
    search: 'return stat.startTicks === identity.startTicks ? "alive" : "gone";',
    replace: 'return "alive";',
    tests: ["test/actors/process-identity.test.ts"],
  },
  {
    name: "S28: a grandchild in a session of its own is not found",
    file: "src/actors/process-tree.ts",
    search: "if (seen.attemptId === attemptId || (",
    replace: "if ((",
    tests: ["test/actors/process-tree.test.ts"],
  },
  {
    name: "S23: a gate that hears the end of its pipe runs its command",
    file: GATE,
    search:
      'echo READY >&3\nIFS= read -r KRON_GATE_L <&3 || exit 125\ncase $KRON_GATE_L in "GO "?*) ;; *) exit 125 ;; esac',
    replace: 'echo READY >&3\nIFS= read -r KRON_GATE_L <&3 || KRON_GATE_L="GO 99999999999"',
    tests: LAUNCHER_TESTS,
  },
  {
    name: "S20: a gate does not look whether it is too late",
    file: GATE,
    search: "|| { echo LATE >&3; exit 125; }",
    replace: "|| true",
    tests: LAUNCHER_TESTS,
  },
  {
    name: "S34: the launcher keeps what it has inherited",
    file: "src/actors/launcher/child/process.ts",
    search: "  closeInheritable(DAEMON_LINE);",
    replace: "  void closeInheritable;",
    tests: ["test/actors/launcher/promises.test.ts"],
  },
  {
    name: "S23: who a process is is not verified",
    file: "src/actors/launcher/child/gatekeeper.ts",
    search: "const wrong = attempt.identity?.mustVerify ? verifyIdentity(attempt.pid, attempt.identity) : null;",
    replace:
      "const wrong = attempt.identity?.mustVerify && attempt.pid < 0 ? verifyIdentity(attempt.pid, attempt.identity) : null;",
    tests: ["test/actors/launcher/promises.test.ts"],
    needsRoot: true,
  },
  {
    name: "S6: the clock is believed, whatever it does",
    file: "src/actors/waker.ts",
    search: "export const CLOCK_JUMP_MS = SECOND_MS;",
    replace: "export const CLOCK_JUMP_MS = 1e15 * SECOND_MS;",
    tests: ["test/actors/waker.test.ts"],
  },
  {
    name: "S23: claims that were rehearsed are released before they are durable",
    file: REHEARSED,
    search: "await committer.add({",
    replace: "void committer.add({",
    tests: REHEARSAL_TESTS,
  },
  {
    name: "S23: a rehearsal stands whatever its job has heard since",
    file: "src/actors/supervisor/rows/job-entry.ts",
    search: "if (this.#prearmed !== null) this.#prearmed.rehearsal = null;",
    replace: "",
    tests: REHEARSAL_TESTS,
  },
  {
    name: "S20: a rehearsal holds beyond its second",
    file: REHEARSED,
    search: "return isOnTime(rehearsal, now) ? rehearsal : null;",
    replace: "return isOnTime(rehearsal, rehearsal.forAt) && now > 0 ? rehearsal : null;",
    tests: REHEARSAL_TESTS,
  },
  {
    name: "R14: a request of an earlier daemon counts as one that may not have begun",
    file: "src/machines/execution-logic.ts",
    search: 'return context.holder?.kind === "process" ? notRun(context, event) : takeUnseen(context);',
    replace: "return notRun(context, event);",
    tests: ["test/simulation/faults.test.ts"],
  },
  {
    name: "R14: a request is sent before its claim is durable",
    file: REHEARSED,
    search: "      let refused: readonly StoreClaim[];",
    replace:
      '      await this.#release(claims.filter(({ actor }) => actor.entry.definition.target.kind === "http"));\n      let refused: readonly StoreClaim[];',
    tests: CRASH_TESTS,
  },
  {
    name: "R14: a request whose answer nobody saw is sent again after a restart",
    file: RUNS,
    search: "const next = { ...withActive(startedCounts(document, ended), rest), History: history };",
    replace:
      'const unhandled = ending.kind === "unseen" && ended.Holder === "request" ? { LastHandledPeriodID: "", LastNominalTime: "", LastChosenTime: "", LastOutcome: "" as const } : {};\n  const next = { ...withActive(startedCounts(document, ended), rest), ...unhandled, History: history };',
    tests: CRASH_TESTS,
  },
  {
    name: "S41: an interval hint goes on for an hour after its TTL",
    file: "src/core/state/document.ts",
    search: "expiresAt: knownInstant(Interval.ExpiresAt) }",
    replace: "expiresAt: knownInstant(Interval.ExpiresAt) + 3_600_000 }",
    tests: CRASH_TESTS,
  },
  {
    name: "S24: what was due before a hint is passed over with what is due in it",
    file: "src/machines/plan.ts",
    search: "if (isDue && fromAt !== null && currentDueAt < fromAt) return null;",
    replace: "",
    tests: STAND_IN_TESTS,
  },
  {
    name: "S41: a hint that gives way leaves open what passed in it",
    file: "src/machines/stand-ins.ts",
    search: "isInForce ? aftermathOfHints(draft, undefined, moment.now) : null",
    replace: "isInForce ? null : null",
    tests: STAND_IN_TESTS,
  },
  {
    name: "S43: a retry comes although the next period is due",
    file: "src/core/period/retried.ts",
    search: "return untilAt === null || Math.max(startsAt, now) < untilAt;",
    replace: "return untilAt === null || Math.max(startsAt, now) < Number.POSITIVE_INFINITY;",
    tests: ["test/machines/retries.test.ts"],
  },
  {
    name: "S43: a retry outlives the period after its own",
    file: CLAIMS,
    search: "withoutStartFailure(withoutRetry(document), [PERIOD_SOURCE])",
    replace: "withoutStartFailure(document, [PERIOD_SOURCE])",
    tests: STATE_TESTS,
  },
  {
    name: "S24: a period that was missed is still on record as one that is tried",
    file: CLAIMS,
    search: "withoutStartFailure(withoutRetry(document), [PERIOD_SOURCE])",
    replace: "withoutRetry(document)",
    tests: TRIED_TESTS,
  },
  {
    name: "S24: what the daemon before could not start is missed for the downtime",
    file: "src/machines/plan.ts",
    search: "const failure = startFailureOn(draft.document, occasion);",
    replace: "const failure = startFailureOn({ ...draft.document, StartFailure: undefined }, occasion);",
    tests: TRIED_TESTS,
  },
  {
    name: "S13: what was tried is passed over as one that nobody looked at",
    file: STEP,
    search: "if (!isOtherRule(draft, event)) closeLeftOpen(draft, isResuming(draft, event));",
    replace: "",
    tests: TRIED_TESTS,
  },
  {
    name: "S24: every start that fails is written",
    file: "src/machines/judge.ts",
    search: "if (isStartFailureKnown(draft.document, occasion, code)) return;",
    replace: "",
    tests: TRIED_TESTS,
  },
  {
    name: "S43: what nobody saw end is tried again unasked",
    file: "src/core/state/retry.ts",
    search: 'return "unseen";',
    replace: 'return "exit";',
    tests: ["test/machines/retries.test.ts"],
  },
  {
    name: "S44: what is claimed of a boot stays due",
    file: "src/core/state/boot.ts",
    search: "return document.Boot === undefined ? document : { ...document, Boot: { ID: document.Boot.ID } };",
    replace: "return document;",
    tests: ["test/machines/boots.test.ts"],
  },
  {
    name: "S44: slots of boots go back with the clock",
    file: "src/core/state/boot.ts",
    search: "Math.max(floorToSecond(now), slotAfter(document))",
    replace: "floorToSecond(now)",
    tests: ["test/machines/boots.test.ts"],
  },
  {
    name: "S44: every start counts as the first of its boot",
    file: "src/actors/supervisor/start/machine-boot.ts",
    search: "(await ports.store.meta(NOTE)) !== ports.bootId",
    replace: "true",
    tests: ["test/actors/supervisor/machine-boot.test.ts"],
  },
  {
    name: "R14: a second GO sends a request again",
    file: "src/actors/dispatcher/http-dispatcher.ts",
    search: 'if (held?.phase !== "armed") return "gone";',
    replace: 'if (held === undefined) return "gone";',
    tests: ["test/actors/dispatcher/contract.test.ts"],
  },
  {
    name: "S20: a request whose turn comes too late is sent all the same",
    file: "src/actors/dispatcher/exchange.ts",
    search: "else if (isPast(this.#latestAt, this.#clock.now())) this.#end(ABORTED_LATE);",
    replace: "",
    tests: ["test/actors/dispatcher/dispatcher.test.ts"],
  },
  {
    name: "Security list: one good address is enough",
    file: "src/actors/dispatcher/admit.ts",
    search: "const forbidden = found.value.find((address) => !isAdmitted(address, policy));",
    replace: "const forbidden = found.value.slice(1, 1).find((address) => !isAdmitted(address, policy));",
    tests: ["test/actors/dispatcher/admit.test.ts"],
  },
  {
    name: "C14: an end that nobody has taken is forgotten",
    file: AWAY,
    search: 'if (isOurs && answer === "taken")',
    replace: "if (isOurs)",
    tests: AWAY_TESTS,
  },
  {
    name: "C14: a run that comes back is adopted anew, which costs its exit code",
    file: AWAY,
    search: "if (kept === undefined) return inner.adopt(request);",
    replace: "if (kept === undefined || kept.end !== null) return inner.adopt(request);",
    tests: AWAY_TESTS,
  },
  {
    name: "C14: runs are not handed over when a shard is given up",
    file: "src/actors/supervisor/supervisor-actor.ts",
    search: "this.#ports.onAway?.(this.#elsewhere.staying(this.#runPlace()));",
    replace: "",
    tests: AWAY_TESTS,
  },
  {
    name: "C14: whoever does not have the job takes the end of its run",
    file: ELSEWHERE,
    search: 'if (!this.#mayHear) return "unknown";',
    replace: 'if (!this.#mayHear) return "taken";',
    tests: AWAY_TESTS,
  },
  {
    name: "C14: a run of another node is adopted here",
    file: LOST,
    search: "return node === ourNode || (ourNode === undefined && isOfHere) ? null : node;",
    replace: "return node === ourNode || isOfHere ? null : null;",
    tests: [...AWAY_TESTS, "test/actors/supervisor/nodes.test.ts"],
  },
  {
    name: "C15: a run counts as lost as soon as its node is gone",
    file: LOST,
    search: 'return holder.kind !== "process" || now >= news.sinceAt + lostAfterMs(limits);',
    replace: "return now >= news.sinceAt;",
    tests: AWAY_TESTS,
  },
  {
    name: "C15: a run that is lost, and was to end, is waited for",
    file: ELSEWHERE,
    search: "this.#core.executor.giveUp(attemptId);",
    replace: "",
    tests: AWAY_TESTS,
  },
  {
    name: "S53: what was due before another server took over is not closed",
    file: "src/core/state/fence.ts",
    search: "const steps = [fencedBoot, fencedPeriod, fencedRetry, fencedSlots];",
    replace: "const steps = [fencedBoot, fencedRetry, fencedSlots];",
    tests: ["test/core/state/fence.test.ts", "test/actors/supervisor/start/failover.test.ts"],
    quick: true,
  },
  {
    name: "S53: an interval goes on as if nothing had been forgotten",
    file: "src/core/state/fence.ts",
    search:
      "document: withSlotUsed(closed.document, source, Math.max(slotAt, upToAt), wholeSecondsFrom(chosenAt, upToAt)),",
    replace: "document: closed.document,",
    tests: ["test/core/state/fence.test.ts"],
  },
  {
    name: "S40, S53: after a failover all intervals are due at one instant",
    file: "src/core/state/fence.ts",
    search: "wholeSecondsFrom(chosenAt, upToAt)),",
    replace: "wholeSecondsFrom(upToAt, upToAt)),",
    tests: ["test/core/state/fence.test.ts"],
  },
  {
    name: "S40: a run ends before it has begun",
    file: "src/core/state/run-transitions.ts",
    search: "return wholeSecondsFrom(instantOrNull(StartedAt) ?? 0, now);",
    replace: "return wholeSecondsFrom(0 * (instantOrNull(StartedAt) ?? 0), now);",
    tests: ["test/core/state/ran-at.test.ts"],
  },
  {
    name: "S40: a run is counted at another instant than it has on record",
    file: "src/actors/endpoints/health-book.ts",
    search: "const run = endedRunOf(ending, endedAt);",
    replace: "const run = endedRunOf(ending, endedAt - (endedAt % 1_000));",
    tests: ["test/actors/endpoints/health-book.test.ts"],
  },
  {
    name: "S40: a rehearsal says when a run began that begins a second later",
    file: "src/actors/supervisor/run/rehearsal.ts",
    search: "if (!isOneStart(arm.params.chosenAt, forAt)) return null;",
    replace: "",
    tests: REHEARSAL_TESTS,
  },
  {
    name: "S13: what a daemon has left counts although it is due by now",
    file: FAREWELL,
    search: "if (isDue || isPauseOver(page, index, now))",
    replace: "if (isPauseOver(page, index, now))",
    tests: ["test/actors/supervisor/stop-points.test.ts"],
  },
  {
    name: "S17: a pause that is over by now is left on record",
    file: FAREWELL,
    search: "if (isDue || isPauseOver(page, index, now))",
    replace: "if (isDue)",
    tests: FAREWELL_TESTS,
  },
  {
    name: "S29: what a daemon was doing when it ended is forgotten",
    file: "src/actors/supervisor/start/take-left.ts",
    search: "  await takeRead(unsaid, store, survey, rules);\n",
    replace: "",
    tests: FAREWELL_TESTS,
  },
  {
    name: "S16: a job that comes back is taken for a new one",
    file: "src/actors/supervisor/start/take-left.ts",
    search: "  await takeRead(unseen, store, survey, rules);\n",
    replace: "",
    tests: FAREWELL_TESTS,
    quick: true,
  },
  {
    name: "S6: a farewell is said by a clock that went back",
    file: "src/actors/supervisor/supervisor-actor.ts",
    search: "if (isBehind || !this.#schedule.knowsTheTime()) return;",
    replace: "",
    tests: FAREWELL_TESTS,
  },
  {
    name: "S44: a job is not told of the boot of the machine",
    file: "src/core/restart/glance.ts",
    search: "return compiled.isReboot || retry !== undefined ||",
    replace: "return retry !== undefined ||",
    tests: FAREWELL_TESTS,
  },
  {
    name: "a daemon that has not seen all jobs says what there is",
    file: "src/actors/supervisor/supervisor-actor.ts",
    search: "const boot = new Boot(this.#ports, this.#core, this.#jobs, this.#schedule, settings);",
    replace:
      "const boot = new Boot(this.#ports, this.#core, this.#jobs, this.#schedule, settings); this.#started = boot;",
    tests: FAREWELL_TESTS,
  },
  {
    name: "S31: what was left counts although the store was written to",
    file: "src/persist/farewell.ts",
    search: "now.inode === seal.inode && now.bytes === seal.bytes && now.changedAtNs === seal.changedAtNs",
    replace: "now.inode === seal.inode && now.bytes === seal.bytes",
    tests: ["test/persist/farewell.test.ts"],
  },
  {
    name: "S32: what was left counts although a document is damaged",
    file: "src/persist/lmdb/open.ts",
    search: "const isBelieved = isIts && pages?.value.areIntact === true;",
    replace: "const isBelieved = isIts;",
    tests: ["test/persist/farewell.test.ts"],
    quick: true,
  },
  {
    name: "S51: a last instant that passes while nobody is there is not put on record",
    file: "src/core/restart/glance.ts",
    search: "(stopAt !== null && pausedUntilAt !== FOR_GOOD_AT);",
    replace: "false;",
    tests: FAREWELL_TESTS,
  },
  {
    name: "S43: a retry that is given up while nobody is there is not told",
    file: "src/core/restart/glance.ts",
    search: "return compiled.isReboot || retry !== undefined ||",
    replace: "return compiled.isReboot ||",
    tests: FAREWELL_TESTS,
  },
  {
    name: "S32: a job that was recovered is read again by every start",
    file: "src/actors/supervisor/start/boot.ts",
    search: "    entry.content = contentHashOf(text);\n",
    replace: "",
    tests: FAREWELL_TESTS,
  },
  {
    name: "what was left is handed out after a document has changed",
    file: "src/persist/parting.ts",
    search: "    this.#words = null;\n    this.#left = null;\n",
    replace: "    this.#words = null;\n",
    tests: ["test/persist/farewell.test.ts"],
  },
];
