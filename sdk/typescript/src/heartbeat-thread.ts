/**
 * The thread that keeps the leases of a worker alive. It shares no event loop with the handlers, so a handler that
 * computes cannot starve it.
 */
import { writeSync } from "node:fs";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { Server } from "./http.js";
import type { LiveControl } from "./job.js";
import { monotonicMs } from "./pause.js";
import { KeyRefusedError, ServerUnavailableError } from "./errors.js";
import type { Asked, FromKeeper, HeldTask, KeeperSettings, ToKeeper } from "./lease-keeper.js";

const MOST_LEASES = 1_000;
const TIMEOUT_MS = 15_000;
const TOLERATED = 3;

interface HeartbeatResult {
  taskId: string;
  attempt: number;
  ack: "ACCEPTED" | "LEASE_LOST";
  cancelReason?: string | null;
  liveControl?: LiveControl | null;
}

/** The answer to a heartbeat of a task that was pushed. */
interface TaskHeartbeat {
  shouldCancel: boolean;
  cancelReason?: string | null;
  taskToken?: string | null;
  liveControl?: LiveControl | null;
}

/** Whoever sends heartbeats: the thread for all leases together, or for one task that was pushed. */
interface Sender {
  readonly intervalMs: number;
  failedInARow: number;
}

class HeartbeatThread {
  private server: Server;
  /** Leases of this worker's name, by job. */
  private readonly leases = new Map<string, number>();
  /** Jobs of strict kinds among them. */
  private readonly strict = new Set<string>();
  /** Tasks that were pushed, each with a token of its own. */
  private readonly tasks = new Map<string, PushedTask>();
  private readonly batch: Sender;
  /** Those of whose heartbeats more than three in a row have failed. */
  private readonly degraded = new Set<Sender>();
  private failedSinceWarning: number | undefined;
  private blockedSince = Date.now();
  private lastTick = 0;
  private blocked = false;

  constructor(
    private readonly port: MessagePort,
    private readonly settings: KeeperSettings,
  ) {
    this.server = new Server(settings);
    this.batch = { intervalMs: settings.heartbeatMs, failedInARow: 0 };
    port.on("message", (message: ToKeeper) => this.take(message));
    void this.beats();
    void this.commands();
  }

  private take(message: ToKeeper): void {
    switch (message.type) {
      case "hold":
        message.leases.forEach(([id, attempt]) => this.hold(id, attempt));
        message.strict.forEach((id) => this.strict.add(id));
        break;
      case "drop":
        for (const [id, attempt] of message.leases) {
          if (this.leases.get(id) === attempt) {
            this.leases.delete(id);
            this.strict.delete(id);
          }
        }
        break;
      case "key":
        this.server = new Server({ url: this.settings.url, apiKey: message.apiKey });
        break;
      case "holdTask":
        this.tasks.set(message.task.key, new PushedTask(message.task, this));
        break;
      case "dropTask":
        this.dropTask(message.key);
        break;
    }
  }

  private dropTask(key: string): void {
    const task = this.tasks.get(key);
    if (task !== undefined) {
      task.end();
      this.tasks.delete(key);
      this.degraded.delete(task);
    }
  }

  /** A job that is claimed again was lost by the attempt that held it before. */
  private hold(id: string, attempt: number): void {
    const before = this.leases.get(id);
    if (before !== undefined && before !== attempt) {
      this.tell({ type: "lost", leases: [[id, before]] });
    }
    this.leases.set(id, attempt);
  }

  tell(message: FromKeeper): void {
    this.port.postMessage(message);
  }

  /** The main thread counts up once a second; one that no longer does so is stuck in a handler. */
  isBlocked(): boolean {
    const tick = Atomics.load(this.settings.ticks, 0);
    const now = Date.now();
    if (tick !== this.lastTick) {
      this.lastTick = tick;
      this.blockedSince = now;
      this.blocked = false;
    } else if (now - this.blockedSince > this.settings.maxBlockedMs && !this.blocked) {
      this.blocked = true;
      // Not through the logger, which lives in the thread that is stuck.
      writeSync(
        2,
        `holdfast: a handler has blocked the event loop for ${Math.round(this.settings.maxBlockedMs / 1000)} s; ` +
          "heartbeats stop, so that other workers get the jobs\n",
      );
    }
    return this.blocked;
  }

  private async beats(): Promise<never> {
    const { heartbeatMs } = this.settings;
    for (;;) {
      // Sooner than after a whole interval once one has failed: leases run out meanwhile.
      await after(this.batch.failedInARow === 0 ? heartbeatMs : heartbeatMs / 4);
      if (this.leases.size > 0 && !this.isBlocked()) {
        await this.beat();
      } else if (this.batch.failedInARow > 0) {
        await this.probe();
      }
    }
  }

  /** No lease to extend: this only finds out whether the server answers again. */
  private async probe(): Promise<void> {
    try {
      await this.pending();
      this.well(this.batch);
    } catch {
      // There is nothing that could be harmed.
    }
  }

  private async beat(): Promise<void> {
    const all = [...this.leases].map(([taskId, attempt]) => ({
      taskId,
      attempt,
      workerId: this.settings.workerId,
    }));
    const heard: HeartbeatResult[] = [];
    const beganMs = monotonicMs();
    try {
      for (let from = 0; from < all.length; from += MOST_LEASES) {
        const leases = all.slice(from, from + MOST_LEASES);
        const sentMs = monotonicMs();
        const answer = await this.server.post<{ leases: HeartbeatResult[] }>("/v1/leases/heartbeat", {
          body: { leaseMs: this.settings.leaseMs, leases },
          timeoutMs: Math.min(TIMEOUT_MS, this.settings.leaseMs),
        });
        heard.push(...answer.leases);
        this.tellExtended(answer.leases, sentMs);
      }
      this.hear(heard);
      this.well(this.batch);
    } catch (trouble) {
      this.failed(this.batch, trouble, monotonicMs() - beganMs);
    }
  }

  private tellExtended(results: HeartbeatResult[], sentMs: number): void {
    if (this.strict.size > 0) {
      const held = results.filter((result) => result.ack === "ACCEPTED" && this.strict.has(result.taskId));
      this.tell({ type: "extended", leases: held.map((result) => [result.taskId, result.attempt]), sentMs });
    }
  }

  private hear(results: HeartbeatResult[]): void {
    const lost: [string, number][] = [];
    const asked: Asked[] = [];
    for (const result of results) {
      if (this.leases.get(result.taskId) !== result.attempt) {
        continue;
      }
      if (result.ack === "LEASE_LOST") {
        this.leases.delete(result.taskId);
        this.strict.delete(result.taskId);
        lost.push([result.taskId, result.attempt]);
      } else if (result.cancelReason != null || result.liveControl != null) {
        asked.push({
          lease: [result.taskId, result.attempt],
          cancelReason: result.cancelReason ?? undefined,
          control: result.liveControl ?? undefined,
        });
      }
    }
    if (lost.length > 0) {
      this.tell({ type: "lost", leases: lost });
    }
    this.tell({ type: "asked", asked });
  }

  /** Between heartbeats, so that a cancellation arrives within a second. */
  private async commands(): Promise<never> {
    for (;;) {
      await after(this.settings.commandsMs);
      // While heartbeats fail the server is left to them.
      if (this.leases.size > 0 && this.batch.failedInARow === 0) {
        try {
          this.hear(await this.pending());
        } catch {
          // The heartbeat says what is wrong.
        }
      }
    }
  }

  private async pending(): Promise<HeartbeatResult[]> {
    const path = `/v1/leases/commands?workerId=${encodeURIComponent(this.settings.workerId)}`;
    return (await this.server.get<{ leases: HeartbeatResult[] }>(path, { timeoutMs: TIMEOUT_MS })).leases;
  }

  well(sender: Sender): void {
    sender.failedInARow = 0;
    this.degraded.delete(sender);
    if (this.failedSinceWarning !== undefined && this.degraded.size === 0) {
      const message = `HEARTBEAT_RECOVERED: heartbeats work again after ${this.failedSinceWarning} failures`;
      this.tell({ type: "log", level: "info", message });
      this.failedSinceWarning = undefined;
    }
  }

  failed(sender: Sender, trouble: unknown, tookMs: number): void {
    if (sender === this.batch && trouble instanceof KeyRefusedError) {
      this.tell({ type: "keyRefused" });
    }
    const isFirst = sender.failedInARow === 0;
    // A heartbeat that took as long as several intervals counts as several failures.
    const failures = Math.max(1, Math.floor(tookMs / sender.intervalMs));
    sender.failedInARow += failures;
    const message = trouble instanceof Error ? trouble.message : String(trouble);
    if (this.failedSinceWarning !== undefined) {
      this.failedSinceWarning += failures;
    }
    if (sender.failedInARow > TOLERATED) {
      this.degraded.add(sender);
    }
    if (this.degraded.size > 0 && this.failedSinceWarning === undefined) {
      this.failedSinceWarning = sender.failedInARow;
      const held = this.leases.size + this.tasks.size;
      this.tell({
        type: "log",
        level: "warn",
        message:
          `HEARTBEAT_DEGRADED: ${sender.failedInARow} heartbeats in a row failed for ` +
          `${held} ${held === 1 ? "job" : "jobs"}; running jobs continue (${message})`,
      });
    } else if (isFirst && !(trouble instanceof ServerUnavailableError)) {
      // Nothing is known to heal it, so it is told at once.
      this.tell({ type: "log", level: "warn", message: `a heartbeat failed: ${message}` });
    }
  }
}

/** Sends the heartbeats of one task that was pushed. */
class PushedTask implements Sender {
  failedInARow = 0;
  private readonly server: Server;
  private timer: NodeJS.Timeout;
  private ended = false;

  constructor(
    private readonly task: HeldTask,
    private readonly thread: HeartbeatThread,
  ) {
    this.server = new Server({ url: task.url, apiKey: task.token });
    this.timer = this.next(task.intervalMs);
  }

  get intervalMs(): number {
    return this.task.intervalMs;
  }

  private next(ms: number): NodeJS.Timeout {
    return setTimeout(() => void this.beat(), ms);
  }

  /** A heartbeat that is under way is not followed by another one, and what it is answered is not told. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }

  private async beat(): Promise<void> {
    let pauseMs = this.task.intervalMs;
    if (!this.thread.isBlocked()) {
      const sentMs = monotonicMs();
      try {
        const answer = await this.send();
        if (this.ended) {
          return;
        }
        this.hear(answer, sentMs);
        this.thread.well(this);
      } catch (trouble) {
        if (this.ended) {
          return;
        }
        const status = (trouble as { status?: number }).status;
        if (status !== undefined && [401, 403, 404, 409, 410].includes(status)) {
          this.thread.tell({ type: "taskLost", key: this.task.key });
          return;
        }
        this.thread.failed(this, trouble, monotonicMs() - sentMs);
        pauseMs = this.task.intervalMs / 4;
      }
    }
    this.timer = this.next(pauseMs);
  }

  private send(): Promise<TaskHeartbeat> {
    const { id, attempt, workerId, token } = this.task;
    return this.server.post<TaskHeartbeat>(`/v1/tasks/${id}/heartbeat`, {
      body: { attempt, workerId },
      headers: { authorization: `Bearer ${token}` },
      timeoutMs: TIMEOUT_MS,
    });
  }

  private hear(answer: TaskHeartbeat, sentMs: number): void {
    const task = this.task;
    if (answer.taskToken != null) {
      task.token = answer.taskToken;
      this.thread.tell({ type: "token", key: task.key, token: answer.taskToken });
    }
    this.thread.tell({
      type: "taskAsked",
      key: task.key,
      cancelReason: answer.shouldCancel ? (answer.cancelReason ?? "") : undefined,
      control: answer.liveControl ?? undefined,
      sentMs,
    });
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

if (parentPort !== null) {
  new HeartbeatThread(parentPort, workerData as KeeperSettings);
}
