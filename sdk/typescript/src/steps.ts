import { CancelledError, FailedError, LeaseLostError, storable } from "./errors.js";
import type { LiveControl, Recovery } from "./job.js";
import { encoded } from "./json.js";
import type { AttemptLink, StepReport, StepStatus } from "./link.js";

const MOST_STEPS = 1_000;

/** Leaves the handler, to begin it anew from its first line, past the checkpoints. */
class AgainError extends Error {
  override readonly name = "AgainError";
}

/** Aborts the body of a step that an operator wants to stop. */
class OperatorStop extends Error {
  override readonly name = "OperatorStop";
}

/** The steps of one attempt: what earlier attempts left, and what operators ask of it. */
export class Steps {
  private known: Promise<Map<string, StepStatus>> | undefined;
  private readonly begun = new Set<string>();
  private control: LiveControl | undefined;
  private honoured: string | undefined;
  private wake: (() => void)[] = [];
  private again = false;

  constructor(
    private readonly link: AttemptLink,
    private readonly jobSignal: () => AbortSignal,
  ) {}

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

  async run<T>(id: string, body: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    if (this.begun.has(id)) {
      throw new Error(`step '${id}' has been run in this attempt: each step needs an id of its own`);
    }
    this.begun.add(id);
    this.known ??= this.link.steps().then((steps) => new Map(steps.map((step) => [step.stepId, step])));
    const known = await this.known;
    const before = known.get(id) ?? first(id, known);
    known.set(id, before);
    for (;;) {
      const recovery = await this.released(before, known);
      if (before.state === "DONE" && recovery === undefined) {
        return before.checkpoint as T;
      }
      const done = await this.attempt(before, known, recovery, body);
      if (done) {
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

  /** Undefined when an operator stopped it: then it begins again. */
  private async attempt<T>(
    step: StepStatus,
    known: Map<string, StepStatus>,
    recovery: Recovery | undefined,
    body: (signal: AbortSignal) => T | Promise<T>,
  ): Promise<{ result: T } | undefined> {
    step.attempt++;
    step.state = "RUNNING";
    const about = { stepId: step.stepId, stepIndex: step.stepIndex, stepAttempt: step.attempt };
    await this.tell({ ...about, state: "RUNNING", ...(recovery ? { honoured: recovery } : {}) });
    if (recovery) {
      this.honoured = recovery.updatedAt;
      if (recovery.action !== "retry_step") {
        forgetAfter(step, known);
      }
      if (recovery.action === "accept_step") {
        await this.done(step, about, "null");
        return { result: null as T };
      }
    }
    const stop = new AbortController();
    const release = this.abortWhenAsked(step, known, stop);
    try {
      const result = await body(stop.signal);
      await this.done(step, about, encoded(result, "CHECKPOINT") ?? "null");
      step.checkpoint = result;
      return { result };
    } catch (thrown) {
      step.state = "FAILED";
      if (stop.signal.reason instanceof OperatorStop && !this.jobSignal().aborted) {
        await this.tell({ ...about, state: "FAILED", summary: "stopped for an operator" });
        return undefined;
      }
      await this.failed(about, thrown);
      throw thrown;
    } finally {
      release();
    }
  }

  private async done(step: StepStatus, about: Pick<StepReport, "stepId" | "stepIndex" | "stepAttempt">, json: string) {
    await this.tell({ ...about, state: "DONE", checkpoint: json });
    step.state = "DONE";
  }

  private async failed(
    about: Pick<StepReport, "stepId" | "stepIndex" | "stepAttempt">,
    thrown: unknown,
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
      strategy: permanent ? "fail" : "queue_retry",
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
  }
}

function first(id: string, known: Map<string, StepStatus>): StepStatus {
  const last = Math.max(0, ...[...known.values()].map((step) => step.stepIndex));
  if (last >= MOST_STEPS) {
    throw new Error(`a job has at most ${MOST_STEPS} steps`);
  }
  return { stepId: id, stepIndex: last + 1, state: "FAILED", attempt: 0 };
}

function forgetAfter(step: StepStatus, known: Map<string, StepStatus>): void {
  for (const other of known.values()) {
    if (other.stepIndex > step.stepIndex && other.state === "DONE") {
      other.state = "FAILED";
      delete other.checkpoint;
    }
  }
}
