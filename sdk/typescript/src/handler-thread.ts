/** The thread that runs handlers of one module, one job after the other. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import { artifactContent } from "./artifact.js";
import { type Handler, infoOf, type JobContext, type LeasedJob } from "./context.js";
import { inJob } from "./current-job.js";
import { DurableContext } from "./durable.js";
import { CancelledError, FailedError, LeaseLostError, SnoozeError, type StopReason, SuspendedError } from "./errors.js";
import type { Artifact, ChildEnd, Envelope } from "./job.js";
import { encoded } from "./json.js";
import type { StepReport, StepStatus, WaitAnswer } from "./link.js";
import type { Ack } from "./outbox.js";
import { Steps } from "./steps.js";
import { type Call, type FromThread, packed, type ThreadSettings, type ToThread, unpacked } from "./threads.js";
import { Waits } from "./waits.js";

/** The context of a handler in a thread of its own: what it says becomes messages. */
class ThreadContext extends DurableContext implements JobContext {
  readonly job: LeasedJob;
  readonly steps: Steps;
  private readonly threadWaits: Waits;
  private readonly controller = new AbortController();
  private stopped: CancelledError | undefined;
  private readonly pending = new Map<number, { resolve(value: unknown): void; reject(trouble: unknown): void }>();
  private calls = 0;

  constructor(
    private readonly port: MessagePort,
    private readonly stop: Int32Array,
    task: Envelope,
  ) {
    super();
    this.job = infoOf(task);
    this.steps = new Steps(
      {
        steps: () => this.call({ name: "steps" }) as Promise<StepStatus[]>,
        step: (report: StepReport) => this.call({ name: "step", report }) as Promise<Ack>,
      },
      () => this.controller.signal,
    );
    this.threadWaits = new Waits(
      this.job.id,
      {
        suspend: (index, wait) => this.call({ name: "suspend", index, wait }) as Promise<WaitAnswer>,
        startChildren: (start) => this.call({ name: "startChildren", start }) as Promise<string[] | undefined>,
        childrenEnds: (ids) => this.call({ name: "childrenEnds", ids }) as Promise<ChildEnd[]>,
        goOnAs: (payload) => this.call({ name: "goOnAs", payload }) as Promise<void>,
      },
      this.steps,
      () => this.look(),
    );
  }

  waits(): Waits {
    return this.threadWaits;
  }

  take(message: ToThread): void {
    switch (message.type) {
      case "stop":
        this.stopped = stopOf(message.why, message.reason);
        this.controller.abort(this.stopped);
        break;
      case "control":
        this.steps.hear(message.asked);
        break;
      case "answer": {
        const waiting = this.pending.get(message.call);
        this.pending.delete(message.call);
        if (message.thrown) {
          waiting?.reject(unpacked(message.thrown));
        } else {
          waiting?.resolve(message.value);
        }
        break;
      }
      case "run":
        break;
    }
  }

  tell(message: FromThread): void {
    this.port.postMessage(message);
  }

  private call(what: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.pending.set(++this.calls, { resolve, reject });
      this.tell({ type: "call", call: this.calls, what });
    });
  }

  /** A handler that does not yield gets no messages, so they are read here once there is a reason to stop. */
  private look(): CancelledError | undefined {
    if (this.stopped === undefined && Atomics.load(this.stop, 0) === 1) {
      for (let got = receiveMessageOnPort(this.port); got; got = receiveMessageOnPort(this.port)) {
        this.take(got.message as ToThread);
      }
    }
    return this.stopped;
  }

  get id(): string {
    return this.job.id;
  }

  get attempt(): number {
    return this.job.attempt;
  }

  get signal(): AbortSignal {
    this.look();
    return this.controller.signal;
  }

  get isCancelled(): boolean {
    return this.look() !== undefined;
  }

  checkCancelled(): void {
    const why = this.look();
    if (why) {
      throw why;
    }
  }

  onCancel(action: (why: CancelledError) => void): void {
    const why = this.look();
    if (why) {
      action(why);
    } else {
      this.controller.signal.addEventListener("abort", () => action(this.stopped as CancelledError), { once: true });
    }
  }

  progress(percent: number, message?: string): void {
    this.tell({ type: "progress", percent, message });
  }

  log(text: string): void {
    this.tell({ type: "log", text });
  }

  async event(type: string, data: unknown = {}): Promise<void> {
    this.threadWaits.checkNotSuspended();
    const json = JSON.stringify(data) as string | undefined;
    await this.call({ name: "event", type, data: json ?? "{}" });
  }

  async publish(name: string, file: string | Uint8Array): Promise<Artifact> {
    this.threadWaits.checkNotSuspended();
    return (await this.call({ name: "publish", file: name, content: await artifactContent(name, file) })) as Artifact;
  }

  snooze(delayMs: number): SnoozeError {
    return new SnoozeError(delayMs);
  }
}

class HandlerThread {
  private readonly handler: Promise<Handler>;
  private current: ThreadContext | undefined;

  constructor(
    private readonly port: MessagePort,
    private readonly settings: ThreadSettings,
  ) {
    this.handler = load(settings.module);
    // Told by the job that needs it.
    this.handler.catch(() => undefined);
    port.on("message", (message: ToThread) => {
      if (message.type === "run") {
        void this.run(message.task, message.control);
      } else {
        this.current?.take(message);
      }
    });
  }

  private async run(task: Envelope, control: Parameters<Steps["hear"]>[0]): Promise<void> {
    const context = new ThreadContext(this.port, this.settings.stop, task);
    this.current = context;
    context.steps.hear(control);
    let end: FromThread;
    do {
      end = await this.invoke(task, context);
      const wrong = await context.waits().handlerLeft();
      if (wrong !== undefined && end.type === "returned") {
        end = { type: "threw", thrown: packed(wrong) };
      }
    } while (context.steps.beginsAgain() && !context.isCancelled);
    context.tell(end);
  }

  private async invoke(task: Envelope, context: ThreadContext): Promise<FromThread> {
    try {
      const handler = await this.handler;
      const result: unknown = await inJob(context, () => handler(task.payload, context));
      return { type: "returned", output: encoded(result, "RESULT") };
    } catch (thrown) {
      return { type: "threw", thrown: packed(thrown) };
    }
  }
}

function stopOf(why: StopReason, reason: string | undefined): CancelledError {
  switch (why) {
    case "LEASE_LOST":
      return new LeaseLostError();
    case "SUSPENDED":
      return new SuspendedError(reason);
    default:
      return new CancelledError(why, reason);
  }
}

async function load(module: string): Promise<Handler> {
  let loaded: { default?: unknown };
  try {
    loaded = (await import(module)) as { default?: unknown };
  } catch (trouble) {
    const why = trouble instanceof Error ? trouble.message : String(trouble);
    throw new FailedError("CONFIGURATION", "NO_HANDLER", `the handler's module ${module} cannot be loaded: ${why}`);
  }
  if (typeof loaded.default !== "function") {
    throw new FailedError(
      "CONFIGURATION",
      "NO_HANDLER",
      `the handler's module ${module} has no function as its default export: export default (payload, ctx) => …`,
    );
  }
  return loaded.default as Handler;
}

if (parentPort !== null) {
  new HandlerThread(parentPort, workerData as ThreadSettings);
}
