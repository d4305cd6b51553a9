import { artifactContent } from "./artifact.js";
import { inJob } from "./current-job.js";
import { type Handler, infoOf, type JobContext, type LeasedJob } from "./context.js";
import { DurableContext } from "./durable.js";
import {
  CancelledError,
  FailedError,
  failure,
  failureOf,
  LeaseLostError,
  RefusedError,
  refusedForGood,
  SnoozeError,
  type StopReason,
  storable,
  SuspendedError,
} from "./errors.js";
import type { Artifact, ChildEnd, Envelope, LiveControl } from "./job.js";
import { JobLog } from "./job-log.js";
import { encoded } from "./json.js";
import type { Held } from "./lease-keeper.js";
import type { AttemptLink, ChildrenStart, Settlement, Wait, WaitAnswer } from "./link.js";
import type { Logger } from "./log.js";
import type { Ack } from "./outbox.js";
import { monotonicMs } from "./pause.js";
import { Progress } from "./progress.js";
import { Steps } from "./steps.js";
import { type WaitLink, Waits } from "./waits.js";

/** A thread that runs the handler of an attempt. */
export interface HandlerThread {
  hear(asked: LiveControl | undefined): void;
  /** Ends the thread, whatever its handler does. */
  kill(): void;
}

/** What an attempt tells its worker. */
export interface AttemptHost {
  readonly logger: Logger;
  /** The handler has left, or is not waited for any longer: its place is free. */
  left(attempt: Attempt): void;
  /** Nothing of it is left to write. */
  settled(attempt: Attempt, ack: Ack | undefined): void;
}

/** What the refusal of an end means for the attempt. */
const REFUSED_ENDS: Readonly<Record<string, string>> = {
  result_too_large: "RESULT_TOO_LARGE",
  bad_dependency: "BAD_DEPENDENCY",
};

type Outcome =
  { type: "returned"; output: string | undefined } | { type: "threw"; thrown: unknown } | { type: "abandoned" };

/** One execution of a job, from its handler's first line to its settlement. */
export class Attempt extends DurableContext implements JobContext, Held, WaitLink {
  private controller: AbortController | undefined;
  private stopped: CancelledError | undefined;
  private ended = false;
  private timers: NodeJS.Timeout[] = [];
  /** Of a strict kind: how long its lease lasts, and what stops the handler when it may have run out. */
  private strictLeaseMs: number | undefined;
  private leaseTimer: NodeJS.Timeout | undefined;
  private jobInfo: LeasedJob | undefined;
  private jobLog: JobLog | undefined;
  private shownProgress: Progress | undefined;
  private jobSteps: Steps | undefined;
  private jobWaits: Waits | undefined;
  /** Whether a wait is on its way to the server, which may end the attempt by it. */
  private asking = false;
  private lostMeanwhile = false;
  /** JSON with which another job goes on, if the handler has said so. */
  private next: string | undefined;
  private asked: LiveControl | undefined;
  /** The thread that runs the handler, when it is not this one. */
  thread: HandlerThread | undefined;

  constructor(
    readonly task: Envelope,
    private readonly handler: Handler,
    readonly link: AttemptLink,
    private readonly host: AttemptHost,
  ) {
    super();
    this.asked = task.liveControl ?? undefined;
  }

  // ---- what the worker does

  async run(): Promise<void> {
    this.arm("ATTEMPT_TIMEOUT", this.task.timeoutMs);
    this.arm("DEADLINE_EXCEEDED", this.task.deadlineMs);
    let outcome: Outcome;
    do {
      outcome = await this.invoke();
    } while (this.jobSteps?.beginsAgain() && this.stopped === undefined);
    await this.end(outcome);
  }

  private async invoke(): Promise<Outcome> {
    const outcome = await this.call();
    const wrong = await this.jobWaits?.handlerLeft();
    return wrong !== undefined && outcome.type === "returned" ? { type: "threw", thrown: wrong } : outcome;
  }

  private async call(): Promise<Outcome> {
    try {
      const result: unknown = await inJob(this, () => this.handler(this.task.payload, this));
      return { type: "returned", output: encoded(result, "RESULT") };
    } catch (thrown) {
      return { type: "threw", thrown };
    }
  }

  private arm(why: StopReason, ms: number | null | undefined): void {
    if (ms != null) {
      // Timers count 31 bits of milliseconds; what lies further away the server enforces.
      this.timers.push(setTimeout(() => this.stop(why), Math.min(Math.max(ms, 0), 0x7fffffff)));
    }
  }

  /** For a strict kind: the lease lasts that long from when it was asked for, or last extended. */
  stopAfter(leaseMs: number, sinceMs: number): void {
    this.strictLeaseMs = leaseMs;
    this.extended(sinceMs);
  }

  extended(sinceMs: number): void {
    if (this.strictLeaseMs !== undefined && !this.ended) {
      clearTimeout(this.leaseTimer);
      this.leaseTimer = setTimeout(() => this.lost(), Math.max(0, sinceMs + this.strictLeaseMs - monotonicMs()));
    }
  }

  /** Tells the handler to stop; it has the grace period to leave. */
  stop(why: StopReason, reason?: string): void {
    if (this.ended || (this.stopped !== undefined && !outranks(why, this.stopped.why))) {
      return;
    }
    if (this.stopped instanceof SuspendedError && this.next === undefined) {
      return;
    }
    this.stopBy(why === "LEASE_LOST" ? new LeaseLostError() : new CancelledError(why, reason));
  }

  private stopBy(why: CancelledError): void {
    const isFirst = this.stopped === undefined;
    this.stopped = why;
    if (isFirst) {
      this.controller?.abort(this.stopped);
      const graceMs = this.task.cancelGracePeriodMs;
      this.timers.push(setTimeout(() => this.thread?.kill(), graceMs / 2));
      this.timers.push(setTimeout(() => this.abandon(), graceMs));
    }
  }

  /** Does not wait for the handler any longer. It goes on running, for nothing. */
  abandon(): void {
    if (!this.ended) {
      this.thread?.kill();
      this.host.logger.warn(
        `the handler of ${this.task.kind} ${this.id} was told to stop (${this.stopped?.message ?? "abandoned"}) and goes on; ` +
          "it is not waited for any longer: pass ctx.signal on to what it waits for",
      );
      void this.end({ type: "abandoned" });
    }
  }

  /** An attempt that is about to be suspended may have been, and its answer is on the way. */
  lost(): void {
    if (this.asking) {
      this.lostMeanwhile = true;
      return;
    }
    this.stop("LEASE_LOST");
  }

  cancelled(reason: string): void {
    this.stop("CANCELLED", reason);
  }

  control(asked: LiveControl | undefined): void {
    this.asked = asked;
    this.jobSteps?.hear(asked);
    this.thread?.hear(asked);
  }

  private async end(outcome: Outcome): Promise<void> {
    if (this.ended) {
      return;
    }
    this.ended = true;
    this.timers.forEach((timer) => clearTimeout(timer));
    clearTimeout(this.leaseTimer);
    this.host.left(this);
    let ack: Ack | undefined;
    try {
      const settlement = this.settlement(outcome);
      if (settlement === undefined) {
        this.jobLog?.close();
      } else {
        await this.flush();
        ack = await this.settle(settlement);
      }
    } catch (trouble) {
      this.host.logger.error(`${this.task.kind} ${this.id}: its end could not be told`, trouble);
    } finally {
      this.link.ended();
      this.host.settled(this, ack);
    }
  }

  /** What a job reports is written before it is settled. */
  private async flush(): Promise<void> {
    if (this.shownProgress) {
      await this.shownProgress.flush();
    }
    if (this.jobLog) {
      await this.jobLog.flush();
    }
  }

  private async settle(settlement: Settlement): Promise<Ack> {
    try {
      return await this.link.settle(settlement);
    } catch (refused) {
      if (!(refused instanceof RefusedError)) {
        throw refused;
      }
      const code = REFUSED_ENDS[refused.code] ?? "RESULT_NOT_JSON";
      const message = `the server does not take what came of the attempt: ${refused.message}`;
      const error = failure("USER_CODE", code, message, false);
      return await this.link.settle({ outcome: "FAILED", error, delayMs: undefined });
    }
  }

  /**
   * Finished work counts, whatever was asked meanwhile. Anything else that happens after a stop is taken as the
   * consequence of the stop. Undefined when there is nothing to settle.
   */
  private settlement(outcome: Outcome): Settlement | undefined {
    const why = this.stopped?.why;
    if (why === "LEASE_LOST") {
      return undefined;
    }
    if (why === "SUSPENDED") {
      return this.next === undefined ? undefined : { outcome: "CONTINUED", payload: this.next };
    }
    if (this.next !== undefined && why !== undefined) {
      return this.afterStop(why, outcome.type === "abandoned");
    }
    if (outcome.type === "returned") {
      return { outcome: "SUCCEEDED", output: outcome.output };
    }
    if (why !== undefined) {
      return this.afterStop(why, outcome.type === "abandoned");
    }
    const thrown = outcome.type === "threw" ? outcome.thrown : undefined;
    if (thrown instanceof LeaseLostError) {
      return undefined;
    }
    if (thrown instanceof SnoozeError) {
      return { outcome: "SNOOZED", delayMs: thrown.delayMs };
    }
    const delayMs = thrown instanceof FailedError ? thrown.retryAfterMs : undefined;
    return { outcome: "FAILED", error: failureOf(thrown), delayMs };
  }

  private afterStop(why: Exclude<StopReason, "LEASE_LOST" | "SUSPENDED">, abandoned: boolean): Settlement {
    const failed = (error: ReturnType<typeof failure>): Settlement => ({
      outcome: "FAILED",
      error,
      delayMs: undefined,
    });
    switch (why) {
      case "SHUTDOWN":
        return { outcome: "RELEASED", abortedByShutdown: true };
      case "CANCELLED":
        return abandoned
          ? failed(failure("CANCELLED", "CANCEL_TIMEOUT", "the handler did not stop within the cancel grace period"))
          : { outcome: "CANCELLED" };
      case "ATTEMPT_TIMEOUT": {
        const text = `the attempt took longer than its timeout of ${this.task.timeoutMs ?? "?"} ms`;
        return failed(failure("TIMEOUT", "ATTEMPT_TIMEOUT", text));
      }
      case "DEADLINE_EXCEEDED":
        return failed(failure("TIMEOUT", "DEADLINE_EXCEEDED", "the job's deadline passed while it was running"));
    }
  }

  // ---- what the handler sees

  get id(): string {
    return this.task.taskId;
  }

  get attempt(): number {
    return this.task.attempt;
  }

  get job(): LeasedJob {
    return (this.jobInfo ??= infoOf(this.task));
  }

  /** Made when first asked for: most jobs are over before anybody does. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.stopped) {
        this.controller.abort(this.stopped);
      }
    }
    return this.controller.signal;
  }

  get isCancelled(): boolean {
    return this.stopped !== undefined;
  }

  checkCancelled(): void {
    if (this.stopped) {
      throw this.stopped;
    }
  }

  onCancel(action: (why: CancelledError) => void): void {
    if (this.stopped) {
      action(this.stopped);
    } else {
      this.signal.addEventListener("abort", () => action(this.stopped as CancelledError), { once: true });
    }
  }

  progress(percent: number, message?: string): void {
    if (!this.ended) {
      void this.jobSteps?.announced().catch(() => undefined);
      this.shownProgress ??= new Progress(
        (pct, text) => this.link.progress(pct, text),
        () => this.lost(),
      );
      this.shownProgress.show(percent, message);
    }
  }

  log(text: string): void {
    if (!this.ended) {
      this.jobLog ??= new JobLog(
        (lines, first) => this.link.log(lines, first),
        () => this.lost(),
      );
      this.jobLog.add(text);
    }
  }

  async event(type: string, data: unknown = {}): Promise<void> {
    this.checkNotSuspended();
    const json = JSON.stringify(data) as string | undefined;
    await this.jobSteps?.announced();
    if (this.ended || (await this.link.event(storable(type), json ?? "{}")) === "LEASE_LOST") {
      throw this.leaseLost();
    }
  }

  async publish(name: string, file: string | Uint8Array): Promise<Artifact> {
    this.checkNotSuspended();
    const artifact = this.ended ? undefined : await this.link.publish(name, await artifactContent(name, file));
    if (artifact === undefined) {
      throw this.leaseLost();
    }
    return artifact;
  }

  private checkNotSuspended(): void {
    if (this.stopped instanceof SuspendedError) {
      throw this.stopped;
    }
  }

  private leaseLost(): CancelledError {
    this.lost();
    return this.stopped instanceof SuspendedError ? this.stopped : new LeaseLostError();
  }

  waits(): Waits {
    if (this.jobWaits === undefined) {
      this.jobSteps = new Steps(this.link, () => this.signal);
      this.jobSteps.hear(this.asked);
      this.jobWaits = new Waits(this.id, this, this.jobSteps, () => this.stopped);
    }
    return this.jobWaits;
  }

  // ---- what waits need

  async suspend(index: number, wait: Wait): Promise<WaitAnswer> {
    await this.flush();
    const answer = await this.asks(async (signal) => {
      this.asking = true;
      try {
        return await this.link.suspend(index, wait, signal);
      } finally {
        this.asking = false;
      }
    });
    if (answer.outcome === "SUSPENDED") {
      this.leave(`the job waits for '${wait.id}'`);
    } else if (answer.outcome === "LEASE_LOST" || this.lostMeanwhile) {
      throw this.leaseLost();
    }
    return answer;
  }

  async startChildren(start: ChildrenStart): Promise<string[]> {
    const ids = await this.asks((signal) => this.link.startChildren(start, signal));
    if (ids === undefined) {
      throw this.leaseLost();
    }
    return ids;
  }

  childrenEnds(ids: string[]): Promise<ChildEnd[]> {
    return this.asks((signal) => this.link.childrenEnds(ids, signal));
  }

  goOnAs(payload: string): void {
    this.checkCancelled();
    this.next = payload;
    this.leave("the job goes on as another one");
  }

  /** The handler is to be left, which it learns from whatever it asks for. */
  private leave(reason: string): void {
    if (!this.ended) {
      this.stopBy(new SuspendedError(reason));
    }
  }

  /** Not for a handler that was given up, and only until the handler is to stop. */
  private async asks<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.ended) {
      throw new LeaseLostError();
    }
    try {
      return await call(this.signal);
    } catch (trouble) {
      throw this.stopped ?? refusedForGood(trouble);
    }
  }

  snooze(delayMs: number): SnoozeError {
    return new SnoozeError(delayMs);
  }
}

/** Without a lease there is nothing to settle, and a worker on its way out gives everything back. */
function outranks(why: StopReason, other: StopReason): boolean {
  if (other === "SUSPENDED") {
    // A loop without end ends here, where it is cancelled and at its deadline.
    return why !== "SHUTDOWN" && why !== "ATTEMPT_TIMEOUT";
  }
  return why === "LEASE_LOST" ? other !== "LEASE_LOST" : why === "SHUTDOWN" && other !== "LEASE_LOST" && other !== why;
}
