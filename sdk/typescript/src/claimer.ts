import { HoldfastError, KeyRefusedError, ServerUnavailableError } from "./errors.js";
import type { Server } from "./http.js";
import type { Envelope } from "./job.js";
import type { Outage } from "./outage.js";
import { Backoff, monotonicMs, pause } from "./pause.js";

const MOST_TASKS = 100;
const MOST_LANES = 4;
const CLAIM_TIMEOUT_MS = 40_000;
const SLACK_MS = 10_000;
const GATHER_MS = 2;

interface Claimed {
  tasks: Envelope[];
  nextDueInMs?: number | null;
}

export interface ClaimerSettings {
  workerId: string;
  queues: readonly string[];
  leaseMs: number;
  pollMs: number;
}

export interface ClaimerHost {
  /** How many jobs there is room for. */
  free(): number;
  /** @param askedMs when they were asked for, by `monotonicMs` */
  take(tasks: Envelope[], askedMs: number): void;
  /** Jobs may be held under the worker's name that it does not know of. */
  lostAnswer(): Promise<void>;
}

/**
 * Claims jobs while there is room for them, from each queue in turn, and waits at the server when there are none.
 *
 * It waits by `/v1/queues/wait`, which hands out nothing, and not by a lease that waits: an answer to a wait that
 * nobody hears any more costs nothing, while a lease in it would have to run out.
 */
export class Claimer {
  private readonly stopping = new AbortController();
  private wakeUp: (() => void) | undefined;
  private turn = 0;
  private unheard = false;
  /** Queues whose last claims brought all that was asked for. */
  private readonly busy = new Set<string>();

  constructor(
    private readonly server: Server,
    private readonly settings: ClaimerSettings,
    private readonly host: ClaimerHost,
    private readonly outage: Outage,
  ) {}

  /** Until `stop`. No claim is cut off: what it was answered is taken. */
  async run(): Promise<void> {
    const backoff = new Backoff();
    while (!this.isStopping()) {
      try {
        if (this.unheard) {
          await this.host.lostAnswer();
          this.unheard = false;
        }
        await this.round();
        backoff.reset();
        this.outage.ends();
      } catch (trouble) {
        if (this.isStopping()) {
          return;
        }
        const error = trouble instanceof Error ? trouble : new Error(String(trouble));
        this.outage.begins(error);
        await pause(backoff.next(this.least(trouble)), this.stopping.signal);
      }
    }
  }

  private least(trouble: unknown): number | undefined {
    return trouble instanceof ServerUnavailableError ? trouble.retryAfterMs : undefined;
  }

  private async round(): Promise<void> {
    let claimed = 0;
    let waitMs = this.settings.pollMs;
    const { queues } = this.settings;
    for (let i = 0; i < queues.length && !this.isStopping(); i++) {
      const room = this.host.free();
      if (room <= 0) {
        await this.room();
        // Handlers that end at about the same time are replaced by one claim and not by one each.
        await pause(GATHER_MS, this.stopping.signal);
        return;
      }
      const answers = await this.claims(queues[this.turn++ % queues.length] as string, room);
      for (const answer of answers) {
        claimed += answer.tasks.length;
        waitMs = Math.min(waitMs, (answer.nextDueInMs ?? Infinity) + 1);
      }
    }
    if (claimed === 0 && !this.isStopping()) {
      await this.server.post("/v1/queues/wait", {
        body: { workerId: this.settings.workerId, queues, waitMs: Math.max(1, Math.ceil(waitMs)) },
        timeoutMs: waitMs + SLACK_MS,
        signal: this.stopping.signal,
      });
    }
  }

  private isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** A claim brings 100 jobs at most: while a queue is full of them, several claims are under way at once. */
  private async claims(queue: string, room: number): Promise<Claimed[]> {
    const lanes = this.busy.has(queue) ? Math.max(1, Math.min(MOST_LANES, Math.floor(room / MOST_TASKS))) : 1;
    const most = Math.min(room, MOST_TASKS);
    const answers = await Promise.allSettled(Array.from({ length: lanes }, () => this.claim(queue, most)));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed) {
      throw failed.reason;
    }
    const claimed = answers.map((answer) => (answer as PromiseFulfilledResult<Claimed>).value);
    if (claimed.every((answer) => answer.tasks.length === most)) {
      this.busy.add(queue);
    } else {
      this.busy.delete(queue);
    }
    return claimed;
  }

  private async claim(queue: string, max: number): Promise<Claimed> {
    const { workerId, leaseMs } = this.settings;
    const askedMs = monotonicMs();
    try {
      const answer = await this.server.post<Claimed>(`/v1/queues/${encodeURIComponent(queue)}/lease`, {
        body: { workerId, max, waitMs: 0, leaseMs },
        timeoutMs: CLAIM_TIMEOUT_MS,
      });
      if (answer.tasks.length > 0) {
        this.host.take(answer.tasks, askedMs);
      }
      return answer;
    } catch (trouble) {
      this.unheard ||= !(trouble instanceof ServerUnavailableError) || trouble.mayHaveHappened;
      throw trouble;
    }
  }

  private room(): Promise<void> {
    return new Promise((resolve) => {
      if (this.host.free() > 0 || this.stopping.signal.aborted) {
        resolve();
      } else {
        this.wakeUp = resolve;
      }
    });
  }

  /** There may be room again. */
  wake(): void {
    this.wakeUp?.();
    this.wakeUp = undefined;
  }

  stop(): void {
    this.stopping.abort();
    this.wake();
  }
}

const START_TIMEOUT_MS = 15_000;
const REFUSED_TIMEOUT_MS = 5_000;
const START_PAUSE_MS = 250;

/** Finds a wrong address or key before anything runs; a server that is away for a moment is waited for. */
export async function check(server: Server, queues: readonly string[]): Promise<void> {
  const began = Date.now();
  for (;;) {
    try {
      await server.post("/v1/queues/depth", { body: { queues, limit: 1 } });
      return;
    } catch (trouble) {
      if (trouble instanceof KeyRefusedError || !(trouble instanceof ServerUnavailableError)) {
        throw trouble instanceof HoldfastError && trouble.status === 404
          ? new HoldfastError("not_holdfast", `${server.url} is not a Holdfast server, or an older one`, {
              cause: trouble,
            })
          : trouble;
      }
      const timeout =
        trouble.code === "ENOTFOUND" ? 0 : trouble.code === "ECONNREFUSED" ? REFUSED_TIMEOUT_MS : START_TIMEOUT_MS;
      if (Date.now() - began > timeout) {
        throw trouble;
      }
      await pause(START_PAUSE_MS);
    }
  }
}
