import type { StepBody, StepOptions } from "./context.js";
import { CancelledError, FailedError, LeaseLostError, SnoozeError, storable } from "./errors.js";
import type { LiveControl, Recovery } from "./job.js";
import { encoded } from "./json.js";
import type { AttemptLink, StepReport, StepStatus, WaitEnd } from "./link.js";
import { pause } from "./pause.js";

const MOST_STEPS = 1_000;
const LONGEST_DELAY_MS = 300_000;
const ANNOUNCED_AFTER_MS = 500;

/** Leaves the handler, to begin it anew from its first line, past the checkpoints. */
class AgainError extends Error {
  override readonly name = "AgainError";
}

/** Aborts the body of a step that an operator wants to stop. */
class OperatorStop extends Error {
  override readonly name = "OperatorStop";
}

/** A wait or start of jobs that the handler asks for. */
export interface Asked {
  status: StepStatus;
  recovery: Recovery | undefined;
}

/** The steps of one attempt: what earlier attempts left, and what operators ask of it. */
export class Steps {
  private known: Promise<Map<string, StepStatus>> | undefined;
  private readonly begun = new Set<string>();
  /** Whether another attempt of the job has left steps. */
  private continues = false;
  private running = 0;
  private control: LiveControl | undefined;
  private honoured: string | undefined;
  private wake: (() => void)[] = [];
  private again = false;
  private hasTold = false;
  private start: Start | undefined;

  constructor(
    private readonly link: Pick<AttemptLink, "steps" | "step">,
    private readonly jobSignal: () => AbortSignal,
  ) {}

  /** What the handler reports comes after the start of its step. */
  async announced(): Promise<void> {
    await this.start?.tell();
  }

  hear(asked: LiveControl | undefined): void {
    this.control = asked;
    this.wake.splice(0).forEach((resolve) => resolve());
  }

  /** Whether the handler is to begin anew; asked when it has left, however it did. */
  beginsAgain(): boolean {
    const wanted = this.again;
    this.again = false;
    this.begun.clear();
    if (wanted) {
      this.known = undefined;
    }
    return wanted;
  }

  /** Whether the body of a step has begun, or is about to. */
  isRunning(): boolean {
    return this.running > 0;
  }

  async run<T>(id: string, body: StepBody<T>, options: StepOptions = {}): Promise<T> {
    const budget = budgetOf(id, options);
    this.running++;
    try {
      return await this.runWithin(id, body, budget);
    } finally {
      this.running--;
    }
  }

  /** What is known of a wait or start of jobs, for which a handler asks once, and what an operator asks of it. */
  async ask(id: string): Promise<Asked> {
    const [status, known] = await this.find(id);
    return { status, recovery: await this.released(status, known) };
  }

  /** A wait or start of jobs that is done anew: what it was is dropped, if an operator has asked for that. */
  async redo({ status, recovery }: Asked): Promise<void> {
    if (recovery === undefined) {
      return;
    }
    status.attempt++;
    forget(status);
    const { stepId, stepIndex, attempt } = status;
    await this.tell({ stepId, stepIndex, stepAttempt: attempt, state: "FAILED", honoured: recovery, dropped: true });
    this.honoured = recovery.updatedAt;
    if (recovery.action !== "retry_step") {
      forgetAfter(status, (await this.known) ?? new Map<string, StepStatus>());
    }
  }

  /** What a wait has brought, or that jobs were started; the server keeps it. */
  keep(status: StepStatus, waitEnd: WaitEnd, checkpoint?: unknown): void {
    status.attempt++;
    status.state = "DONE";
    status.waitEnd = waitEnd;
    status.checkpoint = checkpoint;
  }

  private async find(id: string): Promise<[StepStatus, Map<string, StepStatus>]> {
    if (this.begun.has(id)) {
      throw new Error(
        `'${id}' was asked for in this attempt: each step, wait and start of jobs needs an id of its own`,
      );
    }
    this.begun.add(id);
    this.known ??= this.load();
    const known = await this.known;
    const before = known.get(id) ?? first(id, known);
    known.set(id, before);
    return [before, known];
  }

  private async load(): Promise<Map<string, StepStatus>> {
    const steps = await this.link.steps();
    this.continues = steps.some((step) => step.attempt > 0);
    return new Map(steps.map((step) => [step.stepId, step]));
  }

  private async runWithin<T>(id: string, body: StepBody<T>, budget: Budget): Promise<T> {
    const [before, known] = await this.find(id);
    for (let call = 1; ;) {
      const recovery = await this.released(before, known);
      if (before.state === "DONE" && recovery === undefined) {
        if (before.waitEnd) {
          throw new Error(`'${id}' was ${whatIs(before)} before, and is a step now: give it another id`);
        }
        return before.checkpoint as T;
      }
      const done = await this.attempt(before, known, recovery, body, { ...budget, isLast: call >= budget.attempts });
      if (done === "failed") {
        await pause(Math.min(LONGEST_DELAY_MS, budget.delayMs * 2 ** (call++ - 1)), this.jobSignal());
        this.jobSignal().throwIfAborted();
      } else if (done !== "stopped") {
        return done.result;
      }
    }
  }

  /** Waits while an operator holds the job up; the answer is what is asked of this step. */
  private async released(step: StepStatus, known: Map<string, StepStatus>): Promise<Recovery | undefined> {
    while (this.control?.paused || this.control?.takeover) {
      await this.changed();
    }
    const recovery = this.pending();
    if (recovery === undefined || recovery.stepId === step.stepId) {
      return recovery;
    }
    const other = known.get(recovery.stepId);
    if (other !== undefined && other.stepIndex < step.stepIndex) {
      this.again = true;
      throw new AgainError(`an operator asked for ${recovery.action} of step '${recovery.stepId}'`);
    }
    return undefined;
  }

  private pending(): Recovery | undefined {
    const recovery = this.control?.recovery ?? undefined;
    return recovery?.updatedAt === this.honoured ? undefined : recovery;
  }

  private async changed(): Promise<void> {
    const signal = this.jobSignal();
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      this.wake.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    signal.throwIfAborted();
  }

  /** Unless it is done, it begins again: an operator stopped it, or it failed and has budget left. */
  private async attempt<T>(
    step: StepStatus,
    known: Map<string, StepStatus>,
    recovery: Recovery | undefined,
    body: StepBody<T>,
    budget: { timeoutMs: number | undefined; isLast: boolean },
  ): Promise<{ result: T } | "stopped" | "failed"> {
    // Where another attempt of the job continues, the server says so when it learns of the start.
    const isQuiet = step.attempt === 0 && !recovery && (this.hasTold || !this.continues);
    step.attempt++;
    step.state = "RUNNING";
    delete step.waitEnd;
    const about = { stepId: step.stepId, stepIndex: step.stepIndex, stepAttempt: step.attempt };
    const start = new Start(() =>
      this.tell({ ...about, state: "RUNNING", ...(recovery ? { honoured: recovery } : {}) }),
    );
    if (!isQuiet) {
      await start.tell();
    }
    if (recovery) {
      this.honoured = recovery.updatedAt;
      if (recovery.action !== "retry_step") {
        forgetAfter(step, known);
      }
      if (recovery.action === "accept_step") {
        await this.done(step, about, "null", {});
        return { result: null as T };
      }
    }
    const stop = new AbortController();
    const release = this.abortWhenAsked(step, known, stop);
    this.start = start;
    start.tellSoon();
    try {
      const result = await within(budget.timeoutMs, step.stepId, stop, body);
      const json = encoded(result, "CHECKPOINT") ?? "null";
      await this.done(step, about, json, await start.end());
      step.checkpoint = result;
      return { result };
    } catch (thrown) {
      step.state = "FAILED";
      if (stop.signal.reason instanceof OperatorStop && !this.jobSignal().aborted) {
        await this.tell({ ...about, state: "FAILED", summary: "stopped for an operator", ...(await start.end()) });
        return "stopped";
      }
      const again = !budget.isLast && isRetried(thrown) && !this.jobSignal().aborted;
      await this.failed({ ...about, ...(await start.end()) }, thrown, again);
      if (again) {
        return "failed";
      }
      throw thrown;
    } finally {
      this.start = undefined;
      release();
    }
  }

  private async done(
    step: StepStatus,
    about: Pick<StepReport, "stepId" | "stepIndex" | "stepAttempt">,
    json: string,
    took: Pick<StepReport, "tookMs">,
  ) {
    await this.tell({ ...about, state: "DONE", checkpoint: json, ...took });
    step.state = "DONE";
  }

  private async failed(
    about: Pick<StepReport, "stepId" | "stepIndex" | "stepAttempt" | "tookMs">,
    thrown: unknown,
    again: boolean,
  ): Promise<void> {
    if (thrown instanceof LeaseLostError) {
      return;
    }
    const text = storable(thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown));
    if (thrown instanceof CancelledError || this.jobSignal().aborted) {
      await this.tell({ ...about, state: "INTERRUPTED", summary: "stopped with its job" }).catch(() => undefined);
      return;
    }
    const permanent = thrown instanceof FailedError && !thrown.retryable;
    await this.tell({
      ...about,
      state: "FAILED",
      failureClass: permanent ? "deterministic_contract" : "transient_runtime",
      failureSignature: text.slice(0, 1_000),
      strategy: again ? "soft_reset" : permanent ? "fail" : "queue_retry",
      summary: text.slice(0, 4_000),
    });
  }

  /** A takeover, or a request for this step or one before it, does not wait for the body. */
  private abortWhenAsked(step: StepStatus, known: Map<string, StepStatus>, stop: AbortController): () => void {
    const signal = this.jobSignal();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) {
      onAbort();
    }
    let over = false;
    const look = (): void => {
      if (over) {
        return;
      }
      const recovery = this.pending();
      const index = recovery && known.get(recovery.stepId)?.stepIndex;
      if (this.control?.takeover || (index !== undefined && index <= step.stepIndex)) {
        stop.abort(new OperatorStop("an operator wants the step to stop"));
      } else {
        this.wake.push(look);
      }
    };
    look();
    return () => {
      over = true;
      signal.removeEventListener("abort", onAbort);
    };
  }

  private async tell(report: StepReport): Promise<void> {
    if ((await this.link.step(report)) === "LEASE_LOST") {
      throw new LeaseLostError();
    }
    this.hasTold = true;
  }
}

/** The start of an attempt of a step. It is reported when that has run for a while, or something else is reported. */
class Start {
  private readonly since = performance.now();
  private told: Promise<void> | undefined;
  private tookMs: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly report: () => Promise<void>) {}

  tell(): Promise<void> {
    clearTimeout(this.timer);
    this.told ??= this.report();
    return this.told;
  }

  tellSoon(): void {
    if (this.told === undefined) {
      // The report of the end says what became of it.
      this.timer = setTimeout(() => void this.tell().catch(() => undefined), ANNOUNCED_AFTER_MS);
    }
  }

  /** How long it took, if nobody knows that it has begun. */
  async end(): Promise<Pick<StepReport, "tookMs">> {
    clearTimeout(this.timer);
    if (this.told === undefined) {
      this.told = Promise.resolve();
      this.tookMs = Math.round(performance.now() - this.since);
    }
    await this.told.catch(() => undefined);
    return this.tookMs === undefined ? {} : { tookMs: this.tookMs };
  }
}

/** What it was, for people. */
export function whatIs({ waitEnd }: StepStatus): string {
  if (!waitEnd) {
    return "a step";
  }
  return waitEnd.outcome === "STARTED" ? "a start of jobs" : `a wait of the sort ${waitEnd.sort}`;
}

interface Budget {
  attempts: number;
  delayMs: number;
  timeoutMs: number | undefined;
}

function budgetOf(id: string, { attempts = 1, delayMs = 1_000, timeoutMs }: StepOptions): Budget {
  if (!Number.isInteger(attempts) || attempts < 1 || !(delayMs >= 0) || (timeoutMs !== undefined && !(timeoutMs > 0))) {
    throw new RangeError(`step '${id}': attempts must be 1 or more, delayMs 0 or more, and timeoutMs more than 0`);
  }
  return { attempts, delayMs, timeoutMs };
}

function isRetried(thrown: unknown): boolean {
  return thrown instanceof FailedError
    ? thrown.retryable
    : !(thrown instanceof CancelledError || thrown instanceof SnoozeError);
}

/** What the body returns; after the timeout its signal aborts, and it is not waited for. */
async function within<T>(ms: number | undefined, id: string, stop: AbortController, body: StepBody<T>): Promise<T> {
  if (ms === undefined) {
    return body(stop.signal);
  }
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const why = new FailedError("TIMEOUT", "STEP_TIMEOUT", `step '${id}' took longer than ${ms} ms`);
      stop.abort(why);
      reject(why);
    }, ms);
  });
  try {
    return await Promise.race([body(stop.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function first(id: string, known: Map<string, StepStatus>): StepStatus {
  const last = Math.max(0, ...[...known.values()].map((step) => step.stepIndex));
  if (last >= MOST_STEPS) {
    const why = `'${id}' is one too many: a job has at most ${MOST_STEPS} steps, waits and starts of jobs`;
    throw new FailedError("USER_CODE", "BAD_LIMIT", why, { retryable: false });
  }
  return { stepId: id, stepIndex: last + 1, state: "FAILED", attempt: 0 };
}

function forgetAfter(step: StepStatus, known: Map<string, StepStatus>): void {
  for (const other of known.values()) {
    if (other.stepIndex > step.stepIndex && other.state === "DONE") {
      forget(other);
    }
  }
}

function forget(step: StepStatus): void {
  step.state = "FAILED";
  delete step.checkpoint;
  delete step.waitEnd;
}
