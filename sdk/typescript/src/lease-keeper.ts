import { Worker as Thread } from "node:worker_threads";
import type { LiveControl } from "./job.js";
import type { Logger } from "./log.js";

export interface KeeperSettings {
  url: string;
  apiKey: string | undefined;
  workerId: string;
  leaseMs: number;
  heartbeatMs: number;
  commandsMs: number;
  maxBlockedMs: number;
  ticks: Int32Array;
}

/** Job and attempt. */
export type LeaseKey = [id: string, attempt: number];

/** A task that was pushed. */
export interface HeldTask {
  key: string;
  id: string;
  attempt: number;
  workerId: string;
  url: string;
  token: string;
  intervalMs: number;
}

export type ToKeeper =
  /** `strict` are the jobs of which every extension is told. */
  | { type: "hold"; leases: LeaseKey[]; strict: string[] }
  | { type: "drop"; leases: LeaseKey[] }
  | { type: "key"; apiKey: string }
  | { type: "holdTask"; task: HeldTask }
  | { type: "dropTask"; key: string };

export interface Asked {
  lease: LeaseKey;
  cancelReason: string | undefined;
  control: LiveControl | undefined;
}

export type FromKeeper =
  | { type: "lost"; leases: LeaseKey[] }
  /** Extended by a heartbeat that was sent at this time. */
  | { type: "extended"; leases: LeaseKey[]; sentMs: number }
  /** Of a lease that is not among them nothing is asked. */
  | { type: "asked"; asked: Asked[] }
  | { type: "taskLost"; key: string }
  | {
      type: "taskAsked";
      key: string;
      cancelReason: string | undefined;
      control: LiveControl | undefined;
      sentMs: number;
    }
  | { type: "token"; key: string; token: string }
  | { type: "keyRefused" }
  | { type: "log"; level: "info" | "warn"; message: string };

/** Of one attempt, what the heartbeats tell. */
export interface Held {
  lost(): void;
  cancelled(reason: string): void;
  /** The lease lasts from this time on; told of strict kinds and of tasks that were pushed. */
  extended(sentMs: number): void;
  /** Undefined when nothing is asked any more. */
  control(asked: LiveControl | undefined): void;
  token?(fresh: string): void;
}

const TICK_MS = 500;

/** Starts the thread that sends heartbeats, and passes on what it hears. */
export class LeaseKeeper {
  private readonly held = new Map<string, Held>();
  private readonly ticks = new Int32Array(new SharedArrayBuffer(4));
  private readonly thread: Thread;
  private readonly ticking: NodeJS.Timeout;
  private dropped: LeaseKey[] = [];
  /** Attempts of which something is asked at present. */
  private steered = new Set<string>();
  private closing = false;

  constructor(
    settings: Omit<KeeperSettings, "ticks">,
    private readonly logger: Logger,
    /** Called when the server refuses the key of heartbeats. */
    private readonly keyRefused: () => void,
  ) {
    this.thread = new Thread(new URL("./heartbeat-thread.js", import.meta.url), {
      workerData: { ...settings, ticks: this.ticks },
      name: "holdfast-heartbeats",
      // What was meant for the main thread, such as --test or a loader, has no business there.
      execArgv: [],
    });
    this.thread.on("message", (message: FromKeeper) => this.hear(message));
    this.thread.on("error", (trouble) => {
      this.logger.error("the thread that sends heartbeats has failed; the worker must be restarted", trouble);
    });
    this.thread.on("exit", () => {
      if (!this.closing) {
        this.logger.error("the thread that sends heartbeats has ended; the worker must be restarted");
      }
    });
    this.ticking = setInterval(() => Atomics.add(this.ticks, 0, 1), TICK_MS);
    this.ticking.unref();
  }

  /** Leases that were just claimed, in one message to the thread. */
  hold(leases: LeaseKey[], strict: string[]): void {
    this.post({ type: "hold", leases, strict });
  }

  watch(lease: LeaseKey, held: Held): void {
    this.held.set(keyOf(lease), held);
  }

  holdTask(task: HeldTask, held: Held): void {
    this.held.set(task.key, held);
    this.post({ type: "holdTask", task });
  }

  dropTask(key: string): void {
    this.held.delete(key);
    this.steered.delete(key);
    this.post({ type: "dropTask", key });
  }

  /** The key that heartbeats are sent with from here on. */
  key(apiKey: string): void {
    this.post({ type: "key", apiKey });
  }

  /** Gathers what ends in one turn of the event loop into one message. */
  drop(lease: LeaseKey): void {
    const key = keyOf(lease);
    this.held.delete(key);
    this.steered.delete(key);
    if (this.dropped.length === 0) {
      setImmediate(() => {
        this.post({ type: "drop", leases: this.dropped });
        this.dropped = [];
      });
    }
    this.dropped.push(lease);
  }

  private post(message: ToKeeper): void {
    if (!this.closing) {
      this.thread.postMessage(message);
    }
  }

  private hear(message: FromKeeper): void {
    switch (message.type) {
      case "lost":
        message.leases.forEach((lease) => this.held.get(keyOf(lease))?.lost());
        break;
      case "extended":
        message.leases.forEach((lease) => this.held.get(keyOf(lease))?.extended(message.sentMs));
        break;
      case "asked":
        this.hearAsked(message.asked);
        break;
      case "taskLost":
        this.held.get(message.key)?.lost();
        break;
      case "taskAsked":
        this.held.get(message.key)?.extended(message.sentMs);
        this.tell(message.key, message.cancelReason, message.control);
        break;
      case "token":
        this.held.get(message.key)?.token?.(message.token);
        break;
      case "keyRefused":
        this.keyRefused();
        break;
      case "log":
        this.logger[message.level](message.message);
        break;
    }
  }

  private hearAsked(all: Asked[]): void {
    const now = new Set<string>();
    for (const asked of all) {
      const key = keyOf(asked.lease);
      now.add(key);
      this.tell(key, asked.cancelReason, asked.control);
    }
    for (const key of this.steered) {
      if (!now.has(key)) {
        this.held.get(key)?.control(undefined);
      }
    }
    this.steered = now;
  }

  private tell(key: string, cancelReason: string | undefined, control: LiveControl | undefined): void {
    const held = this.held.get(key);
    held?.control(control);
    if (cancelReason !== undefined) {
      held?.cancelled(cancelReason);
    }
  }

  async close(): Promise<void> {
    this.closing = true;
    clearInterval(this.ticking);
    await this.thread.terminate();
  }
}

function keyOf([id, attempt]: LeaseKey): string {
  return `${id}.${attempt}`;
}
