import { Attempt, type AttemptHost } from "./attempt.js";
import { check, Claimer } from "./claimer.js";
import type { Handler, HandlerOptions } from "./context.js";
import { FailedError, HoldfastError } from "./errors.js";
import { Server } from "./http.js";
import type { Envelope } from "./job.js";
import { type LeaseKey, LeaseKeeper } from "./lease-keeper.js";
import { LeaseLink, type LeaseLinks } from "./lease-link.js";
import type { Settlement } from "./link.js";
import type { Logger } from "./log.js";
import { Outage } from "./outage.js";
import { Outbox, stopped } from "./outbox.js";
import { pause } from "./pause.js";
import { type PushOptions, PushReceiver } from "./push.js";
import { type OutputOf, type StandardSchema, validated } from "./schema.js";
import { HandlerThreads } from "./threads.js";
import { type Settings, settingsOf, type WorkerOptions } from "./worker-options.js";

export type { WorkerOptions } from "./worker-options.js";

/** How many jobs may be on their way to the server beside those that run. */
const MOST_UNSETTLED = 500;
const GRACE_AT_STOP_MS = 2_000;
const LAST_WORDS_MS = 5_000;
const UNKNOWN_FIRST_MS = 1_000;
const UNKNOWN_LONGEST_MS = 30_000;

export interface Registered {
  handler: Handler;
  strict: boolean;
}

/** Runs handlers for the jobs of some queues. */
export class Worker {
  readonly name: string;
  private readonly server: Server;
  private readonly settings: Settings;
  private readonly handlers = new Map<string, Registered>();
  private readonly running = new Set<Attempt>();
  private readonly outage: Outage;
  private readonly host: AttemptHost;
  /** Their handlers have left, and their ends are on the way to the server. */
  private readonly settling = new Set<Attempt>();
  private links: LeaseLinks | undefined;
  private claimer: Claimer | undefined;
  private claiming: Promise<void> | undefined;
  private receiver: PushReceiver | undefined;
  private changed: (() => void)[] = [];
  private stopped: Promise<void> | undefined;
  private readonly threads = new HandlerThreads();
  private readonly closed = new AbortController();

  constructor(options: WorkerOptions = {}) {
    this.server = new Server(options);
    this.settings = settingsOf(options);
    this.name = this.settings.name;
    this.outage = new Outage(this.server.url, this.logger);
    this.host = {
      logger: this.logger,
      left: (attempt) => {
        this.running.delete(attempt);
        this.settling.add(attempt);
        this.tellChanged();
      },
      settled: (attempt, ack) => {
        this.settling.delete(attempt);
        this.tellChanged();
        if (ack === "LEASE_LOST") {
          this.logger.warn(`${attempt.task.kind} ${attempt.id}: its end came too late, another attempt holds the job`);
        }
      },
    };
  }

  private get logger(): Logger {
    return this.settings.logger;
  }

  /** The handler for jobs of that kind; the payload is what a schema, such as one of zod, makes of what was enqueued. */
  handler<S extends StandardSchema, R>(
    kind: string,
    handler: Handler<OutputOf<S>, R>,
    options: HandlerOptions & { payload: S },
  ): this;
  /** The handler for jobs of that kind; the payload is what the sender enqueued, unchecked. */
  handler<P, R>(kind: string, handler: Handler<P, R>, options?: HandlerOptions): this;
  /** The same in a thread of its own, for handlers that compute: the handler is the module's default export. */
  handler(kind: string, module: URL, options?: HandlerOptions & { payload?: StandardSchema }): this;
  handler(kind: string, given: Handler | URL, options: HandlerOptions & { payload?: StandardSchema } = {}): this {
    const plain = given instanceof URL ? this.threads.handler(given) : given;
    const handler = options.payload === undefined ? plain : validated(kind, options.payload, plain);
    if (this.handlers.has(kind)) {
      throw new HoldfastError("handler_taken", `there is a handler for '${kind}' already; a kind has one`);
    }
    this.handlers.set(kind, { handler, strict: options.strict ?? false });
    return this;
  }

  /** Resolves when the worker serves its queues; throws what to do when it could not work. */
  async start(): Promise<void> {
    if (this.handlers.size === 0) {
      throw new HoldfastError("no_handlers", "a worker needs at least one handler: call worker.handler(kind, …) first");
    }
    if (this.claimer || this.stopped) {
      throw new HoldfastError("already_started", "a worker starts once: make another one");
    }
    const { queues, leaseMs, pollMs, concurrency } = this.settings;
    await check(this.server, queues);
    const shared = this.connect();
    this.claimer = new Claimer(
      this.server,
      { workerId: this.name, queues, leaseMs, pollMs },
      {
        free: () =>
          Math.min(
            concurrency - this.running.size,
            concurrency + MOST_UNSETTLED - this.running.size - this.settling.size,
          ),
        take: (tasks, askedMs) => this.take(shared, tasks, askedMs),
        lostAnswer: () => this.releaseUnknown(shared),
      },
      this.outage,
    );
    this.claiming = this.claimer.run();
    this.logger.info(`${this.name} serves ${queues.join(", ")} at ${this.server.url} with concurrency ${concurrency}`);
  }

  /**
   * Starts, and stops on SIGTERM or SIGINT; resolves when the worker has stopped. A second signal ends the process.
   *
   * @param started called when the worker serves its queues
   */
  async run(started?: () => void): Promise<void> {
    await this.start();
    started?.();
    await new Promise<void>((resolve) => {
      let told = false;
      const onSignal = (signal: NodeJS.Signals): void => {
        if (told) {
          process.exit(signal === "SIGINT" ? 130 : 143);
        }
        told = true;
        this.logger.info(`${signal}: ${this.running.size} jobs are running; no more are claimed`);
        void this.close().then(() => {
          process.off("SIGTERM", onSignal).off("SIGINT", onSignal);
          resolve();
        });
      };
      process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
    });
  }

  /**
   * Takes tasks that the server pushes: a function from `Request` to `Response`, for servers that work with these.
   * The worker need not be started for it.
   */
  push(options: PushOptions): (request: Request) => Promise<Response> {
    this.receiver ??= new PushReceiver(options, {
      workerId: this.name,
      keeper: () => this.connect().keeper,
      closed: this.closed.signal,
      handlerOf: (kind) => this.handlers.get(kind),
      room: () => this.running.size < this.settings.concurrency && this.stopped === undefined,
      host: this.host,
      began: (attempt) => this.running.add(attempt),
    });
    // Now, and not with the first task: its answer must not wait for a thread to start.
    this.connect();
    const receiver = this.receiver;
    return (request) => receiver.receive(request);
  }

  private connect(): LeaseLinks {
    const { leaseMs, maxBlockedMs } = this.settings;
    this.server.onKey = (apiKey) => this.links?.keeper.key(apiKey);
    return (this.links ??= {
      server: this.server,
      workerId: this.name,
      reports: new Outbox(this.server, "/v1/leases/report", "reports", 1, this.outage),
      settlements: new Outbox(this.server, "/v1/leases/settle", "settlements", 2, this.outage),
      keeper: new LeaseKeeper(
        {
          url: this.server.url,
          apiKey: this.server.apiKey,
          workerId: this.name,
          leaseMs,
          heartbeatMs: Math.round(leaseMs / 3),
          commandsMs: 500,
          maxBlockedMs,
        },
        this.logger,
        () => void this.server.freshKey().catch(() => undefined),
      ),
      closed: this.closed.signal,
    });
  }

  /** @param askedMs when the leases were asked for: they do not last longer than from then */
  private take(shared: LeaseLinks, tasks: Envelope[], askedMs: number): void {
    // Before the first handler runs: one that computes would not let the message out.
    shared.keeper.hold(
      tasks.map((task) => [task.taskId, task.attempt]),
      tasks.filter((task) => this.handlers.get(task.kind)?.strict).map((task) => task.taskId),
    );
    for (const task of tasks) {
      const lease: LeaseKey = [task.taskId, task.attempt];
      const { handler, strict } = this.handlers.get(task.kind) ?? { handler: this.unknown(task), strict: false };
      const attempt = new Attempt(task, handler, new LeaseLink(shared, lease), this.host);
      if (strict) {
        attempt.stopAfter(this.settings.leaseMs, askedMs);
      }
      shared.keeper.watch(lease, attempt);
      this.running.add(attempt);
      void attempt.run();
    }
  }

  /** Leaves a job for workers that know its kind; longer with every attempt, and not for ever. */
  private unknown(task: Envelope): Handler {
    return (_, ctx) => {
      let leftMs = 0;
      for (let attempt = 1; attempt < task.attempt; attempt++) {
        leftMs += unknownDelayMs(attempt);
      }
      if (leftMs < this.settings.unknownKindsMs) {
        throw ctx.snooze(unknownDelayMs(task.attempt));
      }
      throw new FailedError(
        "CONFIGURATION",
        "NO_HANDLER",
        `no handler for kind '${task.kind}' in any worker that saw the job`,
      );
    };
  }

  /** An answer to a claim was lost: what it held goes back at once, and not when its lease has run out. */
  private async releaseUnknown(shared: LeaseLinks): Promise<void> {
    const path = `/v1/leases?workerId=${encodeURIComponent(this.name)}`;
    const { leases } = await this.server.get<{ leases: { taskId: string; attempt: number }[] }>(path);
    const known = new Set([...this.running, ...this.settling].map((attempt) => `${attempt.id}.${attempt.attempt}`));
    const unknown = leases.filter((lease) => !known.has(`${lease.taskId}.${lease.attempt}`));
    const released: Settlement = { outcome: "RELEASED", abortedByShutdown: false };
    await Promise.all(unknown.map(({ taskId, attempt }) => new LeaseLink(shared, [taskId, attempt]).settle(released)));
  }

  private tellChanged(): void {
    this.claimer?.wake();
    if (this.changed.length > 0) {
      this.changed.splice(0).forEach((resolve) => resolve());
    }
  }

  /**
   * Claims nothing more, waits for running jobs, then tells the rest to stop and gives their jobs back at once.
   *
   * @param timeoutMs how long to wait for running jobs
   */
  close(timeoutMs: number = this.settings.shutdownTimeoutMs): Promise<void> {
    return (this.stopped ??= this.shutDown(timeoutMs));
  }

  private async shutDown(timeoutMs: number): Promise<void> {
    this.claimer?.stop();
    await this.claiming;
    const isEmpty = (): boolean => this.running.size === 0;
    if (!(await this.within(timeoutMs, isEmpty))) {
      this.running.forEach((attempt) => attempt.stop("SHUTDOWN"));
      if (!(await this.within(GRACE_AT_STOP_MS, isEmpty))) {
        this.running.forEach((attempt) => attempt.abandon());
      }
    }
    const told = await this.within(LAST_WORDS_MS, () => this.running.size + this.settling.size === 0);
    if (!told) {
      this.logger.warn(`the ends of ${this.settling.size} jobs could not be told; their leases will run out`);
    }
    this.closed.abort(stopped());
    this.links?.reports.close();
    this.links?.settlements.close();
    await this.links?.keeper.close();
    this.threads.close();
    this.logger.info(`${this.name} has stopped`);
  }

  /** Whether it came true in time. */
  private async within(ms: number, isTrue: () => boolean): Promise<boolean> {
    const over = new AbortController();
    const timer = pause(ms, over.signal).then(() => over.abort());
    while (!isTrue() && !over.signal.aborted) {
      await Promise.race([timer, new Promise<void>((resolve) => this.changed.push(resolve))]);
    }
    over.abort();
    return isTrue();
  }
}

function unknownDelayMs(attempt: number): number {
  return Math.min(UNKNOWN_LONGEST_MS, UNKNOWN_FIRST_MS * 2 ** (attempt - 1));
}
