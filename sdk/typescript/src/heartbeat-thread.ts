/**
 * The thread that keeps the leases of a worker alive. It shares no event loop with the handlers, so a handler that
 * computes cannot starve it.
 */
import { writeSync } from "node:fs";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { Server } from "./http.js";
import type { LiveControl } from "./job.js";
import { ServerUnavailableError } from "./errors.js";
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

class HeartbeatThread {
  private readonly server: Server;
  /** Leases of this worker's name, by job. */
  private readonly leases = new Map<string, number>();
  /** Tasks that were pushed, each with a token of its own. */
  private readonly tasks = new Map<string, PushedTask>();
  private failedInARow = 0;
  private degraded = false;
  private blockedSince = Date.now();
  private lastTick = 0;
  private blocked = false;

  constructor(
    private readonly port: MessagePort,
    private readonly settings: KeeperSettings,
  ) {
    this.server = new Server(settings);
    port.on("message", (message: ToKeeper) => this.take(message));
    void this.beats();
    void this.commands();
  }

  private take(message: ToKeeper): void {
    switch (message.type) {
      case "hold":
        message.leases.forEach(([id, attempt]) => this.hold(id, attempt));
        break;
      case "drop":
        for (const [id, attempt] of message.leases) {
          if (this.leases.get(id) === attempt) {
            this.leases.delete(id);
          }
        }
        break;
      case "holdTask":
        this.tasks.set(message.task.key, new PushedTask(message.task, this));
        break;
      case "dropTask":
        this.tasks.get(message.key)?.end();
        this.tasks.delete(message.key);
        break;
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
    for (;;) {
      await after(this.failedInARow === 0 ? this.settings.heartbeatMs : this.settings.heartbeatMs / 4);
      if (this.leases.size > 0 && !this.isBlocked()) {
        await this.beat();
      }
    }
  }

  private async beat(): Promise<void> {
    const all = [...this.leases].map(([taskId, attempt]) => ({
      taskId,
      attempt,
      workerId: this.settings.workerId,
    }));
    const heard: HeartbeatResult[] = [];
    try {
      for (let from = 0; from < all.length; from += MOST_LEASES) {
        const leases = all.slice(from, from + MOST_LEASES);
        const { leases } = await this.server.post<{ leases: HeartbeatResult[] }>("/v1/leases/heartbeat", {
          body: { leaseMs: this.settings.leaseMs, leases },
          timeoutMs: Math.min(TIMEOUT_MS, this.settings.leaseMs),
        });
        heard.push(...leases);
      }
      this.hear(heard);
      this.well();
    } catch (trouble) {
      this.failed(trouble);
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
      if (this.leases.size > 0 && this.failedInARow === 0) {
        try {
          const path = `/v1/leases/commands?workerId=${encodeURIComponent(this.settings.workerId)}`;
          const { leases } = await this.server.get<{ leases: HeartbeatResult[] }>(path, { timeoutMs: TIMEOUT_MS });
          this.hear(leases);
        } catch {
          // The heartbeat says what is wrong.
        }
      }
    }
  }

  well(): void {
    if (this.degraded) {
      this.tell({ type: "log", level: "info", message: "HEARTBEAT_RECOVERED: heartbeats work again" });
    }
    this.degraded = false;
    this.failedInARow = 0;
  }

  failed(trouble: unknown): void {
    this.failedInARow++;
    const message = trouble instanceof Error ? trouble.message : String(trouble);
    if (this.failedInARow > TOLERATED && !this.degraded) {
      this.degraded = true;
      this.tell({
        type: "log",
        level: "warn",
        message: `HEARTBEAT_DEGRADED: ${this.failedInARow} heartbeats in a row failed; the work goes on (${message})`,
      });
    } else if (!(trouble instanceof ServerUnavailableError)) {
      this.tell({ type: "log", level: "warn", message: `a heartbeat failed: ${message}` });
    }
  }
}

/** Sends the heartbeats of one task that was pushed. */
class PushedTask {
  private readonly server: Server;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly task: HeldTask,
    private readonly thread: HeartbeatThread,
  ) {
    this.server = new Server({ url: task.url, apiKey: task.token });
    this.timer = this.next(task.intervalMs);
  }

  private next(ms: number): NodeJS.Timeout {
    return setTimeout(() => void this.beat(), ms);
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private async beat(): Promise<void> {
    const task = this.task;
    let pauseMs = task.intervalMs;
    if (!this.thread.isBlocked()) {
      try {
        const answer = await this.server.post<{
          shouldCancel: boolean;
          cancelReason?: string | null;
          taskToken?: string | null;
          liveControl?: LiveControl | null;
        }>(`/v1/tasks/${task.id}/heartbeat`, {
          body: { attempt: task.attempt, workerId: task.workerId },
          headers: { authorization: `Bearer ${task.token}` },
          timeoutMs: TIMEOUT_MS,
        });
        if (answer.taskToken != null) {
          task.token = answer.taskToken;
          this.thread.tell({ type: "token", key: task.key, token: answer.taskToken });
        }
        this.thread.tell({
          type: "taskAsked",
          key: task.key,
          cancelReason: answer.shouldCancel ? (answer.cancelReason ?? "") : undefined,
          control: answer.liveControl ?? undefined,
        });
        this.thread.well();
      } catch (trouble) {
        const status = (trouble as { status?: number }).status;
        if (status !== undefined && [401, 403, 404, 409, 410].includes(status)) {
          this.thread.tell({ type: "taskLost", key: task.key });
          return;
        }
        this.thread.failed(trouble);
        pauseMs = task.intervalMs / 4;
      }
    }
    this.timer = this.next(pauseMs);
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

if (parentPort !== null) {
  new HeartbeatThread(parentPort, workerData as KeeperSettings);
}
