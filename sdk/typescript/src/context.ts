import type { CancelledError, SnoozeError } from "./errors.js";
import type { Artifact, Child, ChildEnd, ChildJob, Envelope } from "./job.js";
import type { OutputOf, StandardSchema } from "./schema.js";
import type { Approval, JoinOptions, Question, SignalOptions } from "./waits.js";

/** What a handler knows about its attempt, and how it talks back. */
export interface JobContext {
  /** The same in every attempt of the job: a good idempotency key for calls to others. */
  readonly id: string;
  /** The number of this execution, crashes and snoozes included. */
  readonly attempt: number;
  readonly job: LeasedJob;

  /** Aborts once the handler should stop; `signal.reason` is a `CancelledError` that says why. */
  readonly signal: AbortSignal;
  /** True once the handler should stop, for whatever reason. */
  readonly isCancelled: boolean;
  /** A good line at every natural break of long work: throws a `CancelledError` when the handler should stop. */
  checkCancelled(): void;
  /** Runs once when the handler should stop; at once when that has already been said. */
  onCancel(action: (why: CancelledError) => void): void;

  /** Cheap to call often: what is written is throttled. From 0 to 100. */
  progress(percent: number, message?: string): void;
  /** Lines that people read at the job while it runs and after; sent about once a second. */
  log(text: string): void;
  /** Adds an entry to the timeline, and resolves once it is durable. Throws `LeaseLostError`. */
  event(type: string, data?: unknown): Promise<void>;

  /**
   * Runs a step of the job, and once it is done never again: a later attempt, on whatever worker, gets its result
   * from the checkpoint. The result is any JSON, 1 MiB at most.
   *
   * @param id of this step in this job
   * @param body gets a signal that aborts when the job, an operator or the step's timeout wants it to stop
   */
  step<T>(id: string, body: StepBody<T>, options?: StepOptions): Promise<T>;

  /**
   * Lets the job wait, by the database's clock. It holds nothing meanwhile: unless the time is over, this rejects with
   * `SuspendedError`, and a later attempt calls the handler again, from its first line, past what is done.
   */
  sleep(id: string, ms: number): Promise<void>;
  /** The same until a moment; one that has passed is no wait. */
  sleepUntil(id: string, until: Date | string): Promise<void>;
  /**
   * Waits for a signal of this name, and resolves with what was sent with it. One that came before is taken at once;
   * several of one name are taken in their order, each once. With `withinMs` it is undefined when nothing came in time.
   */
  awaitSignal<S extends StandardSchema>(
    name: string,
    options: SignalOptions & { payload: S; withinMs: number },
  ): Promise<OutputOf<S> | undefined>;
  awaitSignal<S extends StandardSchema>(name: string, options: SignalOptions & { payload: S }): Promise<OutputOf<S>>;
  awaitSignal<T = unknown>(name: string, options: SignalOptions & { withinMs: number }): Promise<T | undefined>;
  awaitSignal<T = unknown>(name: string, options?: SignalOptions): Promise<T>;
  /** Asks a person, and waits until somebody has decided, or the time of the question is over. */
  approve(id: string, question: string | Question): Promise<Approval>;

  /** Starts a job, once, whatever crashes, and does not wait for it. What is started must follow from the payload and from steps. */
  spawn(id: string, job: ChildJob): Promise<Child>;
  spawn(id: string, jobs: readonly ChildJob[]): Promise<Child[]>;
  /**
   * Waits until these have ended, and resolves with how, in their order. When one has not succeeded it cancels the others
   * and throws `ChildFailedError`, which fails this job for good; with `collect` it waits for all, however they end.
   */
  join<R = unknown>(id: string, children: readonly Child[], options?: JoinOptions): Promise<ChildEnd<R>[]>;
  /** Waits until one of these has ended, and resolves with the one that did so first. */
  any<R = unknown>(id: string, children: readonly Child[]): Promise<ChildEnd<R>>;
  /** Starts a job for each item, waits for all as `join` does, under `ID:join`, and resolves with their results. */
  map<I, R = unknown>(id: string, items: readonly I[], job: (item: I, index: number) => ChildJob): Promise<R[]>;

  /** Ends this job, and another one goes on in its place with this payload: for loops without end. Never resolves. */
  continueAs(payload: unknown): Promise<never>;

  /**
   * Sends a file of at most 64 MiB to the server, and resolves once it is the job's artifact. A later one of the same
   * name takes its place.
   *
   * @param file its path or its content
   */
  publish(name: string, file: string | Uint8Array): Promise<Artifact>;

  /** `throw ctx.snooze(60_000)`: come back later, without using budget. */
  snooze(delayMs: number): SnoozeError;
}

/** The work of a step. */
export type StepBody<T> = (signal: AbortSignal) => T | Promise<T>;

/** The budget of a step within one attempt of its job. */
export interface StepOptions {
  /** How often the body is called when it fails; 1 unless given. */
  attempts?: number;
  /** The pause before the second call, which doubles with every further one; a second unless given. */
  delayMs?: number;
  /** Of each call. Its signal aborts then, and the call has failed. */
  timeoutMs?: number;
}

/** The job of an attempt. */
export interface LeasedJob {
  readonly id: string;
  readonly kind: string;
  readonly queue: string;
  readonly attempt: number;
  /** Failed attempts so far. */
  readonly failures: number;
  /** How many may fail. */
  readonly maxAttempts: number | undefined;
  readonly enqueuedAt: string;
  readonly deadline: string | undefined;
  readonly tenant: string;
  readonly workspace: string;
  readonly run: string;
  readonly runKey: string;
  readonly assetId: string | undefined;
  readonly partitionKey: string | undefined;
  readonly resources: Record<string, unknown>;
  readonly traceparent: string | undefined;
  readonly tags: readonly string[];
  /** Why an attempt before this one failed. */
  readonly lastFailure: { category: string; code: string; message: string; retryable: boolean } | undefined;
}

export function infoOf(task: Envelope): LeasedJob {
  return {
    id: task.taskId,
    kind: task.kind,
    queue: task.workerQueue,
    attempt: task.attempt,
    failures: task.failures ?? 0,
    maxAttempts: task.maxAttempts ?? undefined,
    enqueuedAt: task.enqueuedAt,
    deadline: task.deadline ?? undefined,
    tenant: task.tenantId,
    workspace: task.workspaceId,
    run: task.runId,
    runKey: task.taskKey,
    assetId: task.assetId ?? undefined,
    partitionKey: task.partitionKey ?? undefined,
    resources: task.resources,
    traceparent: task.traceparent ?? undefined,
    tags: task.tags ?? [],
    lastFailure: task.retryContext ?? undefined,
  };
}

/** How the jobs of one kind are run. */
export interface HandlerOptions {
  /**
   * Stops the handler when its lease may have run out, even if nobody has said so: two executions of such a job do not
   * overlap, at the price of stopping during an outage. False unless given.
   */
  strict?: boolean;
}

/** Does the work of one kind. What it returns is the job's result; what it throws fails the attempt. */
// Without a type of its own a payload is what the sender put there, so a handler may name the type it expects.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Handler<P = any, R = unknown> = (payload: P, ctx: JobContext) => R | Promise<R>;
