import type { ChildEnd } from "./job.js";

/** The base of everything this library throws by itself; `code` is for programs, `message` for people. */
export class HoldfastError extends Error {
  override readonly name: string = "HoldfastError";
  readonly code: string;
  /** The HTTP status, where a server answered. */
  readonly status: number | undefined;

  constructor(code: string, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status;
  }
}

/** The server did not answer, or cannot work at the moment. The same call may succeed later. */
export class ServerUnavailableError extends HoldfastError {
  override readonly name = "ServerUnavailableError";
  /** What `Retry-After` said. */
  readonly retryAfterMs: number | undefined;
  /** Whether the server may have done what was asked, although no answer arrived. */
  readonly mayHaveHappened: boolean;

  constructor(
    code: string,
    message: string,
    options: {
      status?: number;
      cause?: unknown;
      retryAfterMs?: number | undefined;
      mayHaveHappened: boolean;
    },
  ) {
    super(code, message, options);
    this.retryAfterMs = options.retryAfterMs;
    this.mayHaveHappened = options.mayHaveHappened;
  }
}

/** The server does not accept the API key, or the role of the key does not permit the call. */
export class KeyRefusedError extends HoldfastError {
  override readonly name = "KeyRefusedError";
}

/** The server refuses the request as it is; the message names the field or the state that is in the way. */
export class RefusedError extends HoldfastError {
  override readonly name = "RefusedError";
}

/** There is no such job, or it belongs to another tenant. */
export class NotFoundError extends HoldfastError {
  override readonly name = "NotFoundError";
}

/** The job whose result was wanted did not succeed; `code` and the message are those of its failure. */
export class JobFailedError extends HoldfastError {
  override readonly name = "JobFailedError";
  readonly jobId: string;
  readonly state: "FAILED" | "CANCELLED";

  constructor(jobId: string, state: "FAILED" | "CANCELLED", code: string, why: string) {
    super(code, `job ${jobId} is ${state}: ${why} (${code})`);
    this.jobId = jobId;
    this.state = state;
  }
}

export type FailureCategory =
  "USER_CODE" | "DATA_QUALITY" | "INFRASTRUCTURE" | "CONFIGURATION" | "TIMEOUT" | "CANCELLED";

const RETRYABLE: Readonly<Record<FailureCategory, boolean>> = {
  USER_CODE: true,
  DATA_QUALITY: false,
  INFRASTRUCTURE: true,
  CONFIGURATION: false,
  TIMEOUT: true,
  CANCELLED: false,
};

const NEVER_RETRIED: ReadonlySet<string> = new Set([
  "INPUT_TOO_LARGE",
  "VALIDATION",
  "NO_HANDLER",
  "DEADLINE_EXCEEDED",
  "CANCEL_TIMEOUT",
  "TOXIC_JOB",
  "NOT_DECIDED",
  "NOT_SIGNALLED",
  "REJECTED",
]);

/** Thrown by a handler that knows what is wrong. Any other error is `USER_CODE` and is retried. */
export class FailedError extends Error {
  override readonly name: string = "FailedError";
  readonly category: FailureCategory;
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    category: FailureCategory,
    code: string,
    message: string,
    options: { retryable?: boolean; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.category = category;
    this.code = code;
    this.retryable = options.retryable ?? (RETRYABLE[category] && !NEVER_RETRIED.has(code));
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Thrown by a handler whose job is to come back later, without using budget. */
export class SnoozeError extends Error {
  override readonly name = "SnoozeError";
  readonly delayMs: number;

  constructor(delayMs: number) {
    super(`come back in ${delayMs} ms`);
    if (!Number.isFinite(delayMs) || delayMs < 0) {
      throw new RangeError(`snooze(${delayMs}): the delay is in milliseconds, and zero or more`);
    }
    this.delayMs = Math.round(delayMs);
  }
}

export type StopReason =
  "CANCELLED" | "LEASE_LOST" | "ATTEMPT_TIMEOUT" | "DEADLINE_EXCEEDED" | "SHUTDOWN" | "SUSPENDED";

const STOP_TEXT: Readonly<Record<StopReason, string>> = {
  CANCELLED: "the job was cancelled",
  LEASE_LOST: "the lease was lost: another attempt may hold the job",
  ATTEMPT_TIMEOUT: "the attempt's timeout has passed",
  DEADLINE_EXCEEDED: "the job's deadline has passed",
  SHUTDOWN: "the worker is shutting down",
  SUSPENDED: "the attempt has ended",
};

/** The reason of `ctx.signal`, thrown by `ctx.checkCancelled()`. Let it leave the handler. */
export class CancelledError extends Error {
  override readonly name: string = "CancelledError";
  readonly why: StopReason;
  /** What whoever cancelled the job gave as the reason, or for what it waits; undefined for the others. */
  readonly reason: string | undefined;

  constructor(why: StopReason, reason?: string) {
    super(reason ? `${STOP_TEXT[why]}: ${reason}` : STOP_TEXT[why]);
    this.why = why;
    this.reason = reason;
  }
}

/** The attempt no longer holds its job: what it reports counts for nothing. Leave the handler. */
export class LeaseLostError extends CancelledError {
  override readonly name = "LeaseLostError";

  constructor() {
    super("LEASE_LOST");
  }
}

/**
 * The job waits and a later attempt calls the handler again, or it goes on as another one: leave the handler. Whatever is
 * asked of its context from now on rejects with this, and what it returns or throws is passed over.
 */
export class SuspendedError extends CancelledError {
  override readonly name = "SuspendedError";

  constructor(reason?: string) {
    super("SUSPENDED", reason);
  }
}

/** A job that this one has started, and waits for, has not succeeded. Another attempt would find the same. */
export class ChildFailedError extends FailedError {
  override readonly name = "ChildFailedError";
  readonly child: ChildEnd;

  constructor(child: ChildEnd) {
    const why = child.failure ? `: ${child.failure.message}` : "";
    super("USER_CODE", "CHILD_FAILED", `job ${child.id}, which this one has started, ended ${child.state}${why}`, {
      retryable: false,
    });
    this.child = child;
  }
}

/** What an earlier attempt, a signal or another job has left cannot be used. A later attempt would find the same. */
export function doesNotFit(what: string, why: string): FailedError {
  return new FailedError("DATA_QUALITY", "VALIDATION", `${what} is not what the handler asks for: ${why}`);
}

/** The server would refuse the same from another attempt. */
export function refusedForGood(trouble: unknown): unknown {
  return trouble instanceof RefusedError
    ? new FailedError("USER_CODE", trouble.code.toUpperCase(), trouble.message, { retryable: false, cause: trouble })
    : trouble;
}

/** A failure as the server keeps it. */
export interface Failure {
  category: FailureCategory;
  code: string;
  message: string;
  retryable: boolean;
  stackTrace?: string | null;
}

/** What an error that left a handler means. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof FailedError) {
    return failure(thrown.category, thrown.code, thrown.message, thrown.retryable, thrown.stack);
  }
  if (thrown instanceof Error) {
    const text = thrown.message === "" ? thrown.name : `${thrown.name}: ${thrown.message}`;
    return failure("USER_CODE", "HANDLER_FAILED", text, true, thrown.stack);
  }
  return failure("USER_CODE", "HANDLER_FAILED", `the handler threw ${String(thrown)}`, true);
}

const MESSAGE_CHARS = 4_000;
const TRACE_CHARS = 32_000;

export function failure(
  category: FailureCategory,
  code: string,
  message: string,
  retryable = RETRYABLE[category] && !NEVER_RETRIED.has(code),
  stackTrace?: string,
): Failure {
  return {
    category,
    code: storable(code).slice(0, 100),
    message: storable(message).slice(0, MESSAGE_CHARS),
    retryable,
    ...(stackTrace === undefined ? {} : { stackTrace: storable(stackTrace).slice(0, TRACE_CHARS) }),
  };
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair; a failure must not be lost because of one. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}
