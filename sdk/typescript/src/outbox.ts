import { HoldfastError, KeyRefusedError, RefusedError, ServerUnavailableError } from "./errors.js";
import type { Server } from "./http.js";
import type { Outage } from "./outage.js";
import { Backoff, pause } from "./pause.js";

export type Ack = "ACCEPTED" | "LEASE_LOST";

interface Entry {
  json: string;
  resolve: (ack: Ack) => void;
  reject: (trouble: unknown) => void;
}

const MOST_ENTRIES = 500;
const MOST_CHARS = 4_000_000;
const TRIES_OF_FAULTS = 5;

/**
 * Collects what attempts want written and sends it in batches: all that comes in while a batch is under way is the
 * next one. Each caller gets the answer for its own entry, once it is durable.
 *
 * While the server is away the batch is sent again until it is answered; how much waits here is bounded by the
 * number of jobs that are held.
 */
export class Outbox {
  private waiting: Entry[] = [];
  private inFlight = 0;
  private scheduled = false;
  private readonly closing = new AbortController();

  /**
   * @param field of the request that holds the entries
   * @param lanes how many batches are under way at once; with one, entries arrive in their order
   */
  constructor(
    private readonly server: Server,
    private readonly path: string,
    private readonly field: string,
    private readonly lanes: number,
    private readonly outage: Outage,
  ) {}

  /** @param json one entry, written already */
  add(json: string): Promise<Ack> {
    return new Promise((resolve, reject) => {
      if (this.closing.signal.aborted) {
        reject(stopped());
        return;
      }
      this.waiting.push({ json, resolve, reject });
      this.schedule();
    });
  }

  /** Sends nothing more; what was not answered is rejected. */
  close(): void {
    this.closing.abort();
    for (const entry of this.waiting.splice(0)) {
      entry.reject(stopped());
    }
  }

  /** Once for all entries of one turn of the event loop. */
  private schedule(): void {
    if (!this.scheduled && this.inFlight < this.lanes && this.waiting.length > 0) {
      this.scheduled = true;
      setImmediate(() => {
        this.scheduled = false;
        void this.sendNext();
        this.schedule();
      });
    }
  }

  private async sendNext(): Promise<void> {
    const batch = this.next();
    if (batch.length === 0) {
      return;
    }
    this.inFlight++;
    try {
      await this.send(batch);
    } finally {
      this.inFlight--;
      this.schedule();
    }
  }

  private next(): Entry[] {
    let chars = 0;
    let size = 0;
    for (const entry of this.waiting) {
      if (size === MOST_ENTRIES || (size > 0 && chars + entry.json.length > MOST_CHARS)) {
        break;
      }
      chars += entry.json.length;
      size++;
    }
    return this.waiting.splice(0, size);
  }

  private async send(batch: Entry[]): Promise<void> {
    const backoff = new Backoff(100, 5_000);
    const json = `{"${this.field}":[${batch.map((entry) => entry.json).join(",")}]}`;
    for (let faults = 0; ;) {
      try {
        const { acks } = await this.server.post<{ acks: Ack[] }>(this.path, { json });
        this.outage.ends();
        if (acks.length !== batch.length) {
          throw new HoldfastError("not_holdfast", `the server answered ${acks.length} of ${batch.length}`);
        }
        batch.forEach((entry, i) => entry.resolve(acks[i] as Ack));
        return;
      } catch (trouble) {
        let leastMs: number | undefined;
        if (trouble instanceof ServerUnavailableError || trouble instanceof KeyRefusedError) {
          this.outage.begins(trouble);
          leastMs = trouble instanceof ServerUnavailableError ? trouble.retryAfterMs : undefined;
        } else if (trouble instanceof RefusedError || ++faults === TRIES_OF_FAULTS) {
          await this.apart(batch, trouble);
          return;
        }
        await pause(backoff.next(leastMs), this.closing.signal);
        if (this.closing.signal.aborted) {
          batch.forEach((entry) => entry.reject(stopped()));
          return;
        }
      }
    }
  }

  /** One entry that cannot be written must not take the others with it. */
  private async apart(batch: Entry[], trouble: unknown): Promise<void> {
    if (batch.length === 1) {
      batch[0]?.reject(trouble);
      return;
    }
    const half = batch.length >> 1;
    await this.send(batch.slice(0, half));
    await this.send(batch.slice(half));
  }
}

/** What a worker that has closed rejects. */
export function stopped(): HoldfastError {
  return new HoldfastError("worker_stopped", "the worker has stopped before this could be written");
}
