/** Threads for handlers that compute: they hold up neither other handlers nor what the worker has to say. */
import { Worker as Thread } from "node:worker_threads";
import type { Attempt, HandlerThread } from "./attempt.js";
import type { Handler } from "./context.js";
import {
  CancelledError,
  type FailureCategory,
  FailedError,
  LeaseLostError,
  SnoozeError,
  type StopReason,
} from "./errors.js";
import type { Envelope, LiveControl } from "./job.js";
import type { ChildrenStart, StepReport, Wait } from "./link.js";

/** An error on its way from one thread to the other. */
export type Thrown =
  | {
      type: "failed";
      category: FailureCategory;
      code: string;
      message: string;
      retryable: boolean;
      retryAfterMs: number | undefined;
      stack: string | undefined;
    }
  | { type: "snooze"; delayMs: number }
  | { type: "lost" }
  | { type: "other"; name: string; message: string; stack: string | undefined };

export type ToThread =
  | { type: "run"; task: Envelope; control: LiveControl | undefined }
  | { type: "stop"; why: StopReason; reason: string | undefined }
  | { type: "control"; asked: LiveControl | undefined }
  | { type: "answer"; call: number; value?: unknown; thrown?: Thrown };

export type Call =
  | { name: "event"; type: string; data: string }
  | { name: "publish"; file: string; content: Uint8Array }
  | { name: "steps" }
  | { name: "step"; report: StepReport }
  | { name: "suspend"; index: number; wait: Wait }
  | { name: "startChildren"; start: ChildrenStart }
  | { name: "childrenEnds"; ids: string[] }
  | { name: "goOnAs"; payload: string };

export type FromThread =
  | { type: "progress"; percent: number; message: string | undefined }
  | { type: "log"; text: string }
  | { type: "call"; call: number; what: Call }
  | { type: "returned"; output: string | undefined }
  | { type: "threw"; thrown: Thrown };

export interface ThreadSettings {
  module: string;
  /** Becomes 1 when a handler that does not yield should look for the reason to stop. */
  stop: Int32Array;
}

export function packed(thrown: unknown): Thrown {
  if (thrown instanceof FailedError) {
    const { category, code, message, retryable, retryAfterMs, stack } = thrown;
    return { type: "failed", category, code, message, retryable, retryAfterMs, stack };
  }
  if (thrown instanceof SnoozeError) {
    return { type: "snooze", delayMs: thrown.delayMs };
  }
  if (thrown instanceof LeaseLostError) {
    return { type: "lost" };
  }
  return thrown instanceof Error
    ? { type: "other", name: thrown.name, message: thrown.message, stack: thrown.stack }
    : { type: "other", name: "Error", message: `the handler threw ${String(thrown)}`, stack: undefined };
}

export function unpacked(thrown: Thrown): Error {
  switch (thrown.type) {
    case "failed": {
      const { category, code, message, retryable, retryAfterMs, stack } = thrown;
      const options = retryAfterMs === undefined ? { retryable } : { retryable, retryAfterMs };
      return withStack(new FailedError(category, code, message, options), stack);
    }
    case "snooze":
      return new SnoozeError(thrown.delayMs);
    case "lost":
      return new LeaseLostError();
    case "other": {
      const error = withStack(new Error(thrown.message), thrown.stack);
      error.name = thrown.name;
      return error;
    }
  }
}

function withStack<E extends Error>(error: E, stack: string | undefined): E {
  if (stack !== undefined) {
    error.stack = stack;
  }
  return error;
}

/** One thread, which runs one job at a time and is used again. */
class ComputingThread implements HandlerThread {
  private readonly stop = new Int32Array(new SharedArrayBuffer(4));
  private readonly thread: Thread;
  private attempt: Attempt | undefined;
  private end: { resolve(result: unknown): void; reject(trouble: unknown): void } | undefined;
  private trouble: unknown;
  isAlive = true;

  constructor(module: URL) {
    const workerData: ThreadSettings = { module: module.href, stop: this.stop };
    this.thread = new Thread(new URL("./handler-thread.js", import.meta.url), { workerData });
    this.thread.unref();
    this.thread.on("message", (message: FromThread) => this.take(message));
    this.thread.on("error", (trouble) => (this.trouble = trouble));
    this.thread.on("exit", (code) => this.died(code));
  }

  run(attempt: Attempt, payload: unknown, control: LiveControl | undefined): Promise<unknown> {
    Atomics.store(this.stop, 0, 0);
    this.attempt = attempt;
    attempt.thread = this;
    attempt.onCancel((why) => this.tellStop(attempt, why));
    return new Promise((resolve, reject) => {
      this.end = { resolve, reject };
      this.tell({ type: "run", task: { ...attempt.task, payload }, control });
    });
  }

  private tellStop(attempt: Attempt, why: CancelledError): void {
    if (this.attempt === attempt) {
      this.tell({ type: "stop", why: why.why, reason: why.reason });
      Atomics.store(this.stop, 0, 1);
    }
  }

  private take(message: FromThread): void {
    switch (message.type) {
      case "progress":
        this.attempt?.progress(message.percent, message.message);
        break;
      case "log":
        this.attempt?.log(message.text);
        break;
      case "call":
        void this.answer(message.call, message.what);
        break;
      case "returned":
        this.over()?.resolve(message.output === undefined ? undefined : JSON.parse(message.output));
        break;
      case "threw":
        this.over()?.reject(unpacked(message.thrown));
        break;
    }
  }

  private async answer(call: number, what: Call): Promise<void> {
    try {
      this.tell({ type: "answer", call, value: await this.call(what) });
    } catch (thrown) {
      this.tell({ type: "answer", call, thrown: packed(thrown) });
    }
  }

  private async call(what: Call): Promise<unknown> {
    const attempt = this.attempt;
    if (attempt === undefined) {
      throw new LeaseLostError();
    }
    switch (what.name) {
      case "event":
        return attempt.event(what.type, JSON.parse(what.data));
      case "publish":
        return attempt.publish(what.file, what.content);
      case "steps":
        return attempt.link.steps();
      case "step":
        return attempt.link.step(what.report);
      case "suspend":
        return attempt.suspend(what.index, what.wait);
      case "startChildren":
        return attempt.startChildren(what.start);
      case "childrenEnds":
        return attempt.childrenEnds(what.ids);
      case "goOnAs":
        return attempt.goOnAs(what.payload);
    }
  }

  private died(code: number): void {
    this.isAlive = false;
    const why = this.trouble instanceof Error ? `: ${this.trouble.message}` : ` with code ${code}`;
    this.over()?.reject(
      new FailedError("INFRASTRUCTURE", "THREAD_DIED", `the handler's thread ended${why}`, { cause: this.trouble }),
    );
  }

  private over(): ComputingThread["end"] {
    const end = this.end;
    if (this.attempt) {
      this.attempt.thread = undefined;
    }
    this.attempt = undefined;
    this.end = undefined;
    return end;
  }

  private tell(message: ToThread): void {
    if (this.isAlive) {
      this.thread.postMessage(message);
    }
  }

  hear(asked: LiveControl | undefined): void {
    this.tell({ type: "control", asked });
  }

  kill(): void {
    void this.thread.terminate();
  }
}

/** The threads of one worker; as many exist as jobs of such kinds have run at once. */
export class HandlerThreads {
  private readonly idle = new Map<string, ComputingThread[]>();
  private readonly all = new Set<ComputingThread>();

  /** Runs the default export of the module in a thread. */
  handler(module: URL): Handler {
    return async (payload, ctx) => {
      const attempt = ctx as Attempt;
      const thread = this.take(module);
      try {
        return await thread.run(attempt, payload, attempt.task.liveControl ?? undefined);
      } finally {
        if (thread.isAlive) {
          this.idle.get(module.href)?.push(thread);
        } else {
          this.all.delete(thread);
        }
      }
    };
  }

  private take(module: URL): ComputingThread {
    const waiting = this.idle.get(module.href) ?? [];
    this.idle.set(module.href, waiting);
    for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
      if (thread.isAlive) {
        return thread;
      }
      this.all.delete(thread);
    }
    const made = new ComputingThread(module);
    this.all.add(made);
    return made;
  }

  close(): void {
    this.all.forEach((thread) => thread.kill());
    this.all.clear();
    this.idle.clear();
  }
}
