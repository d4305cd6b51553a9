import { HoldfastError, JobFailedError, NotFoundError, RefusedError, ServerUnavailableError } from "./errors.js";
import { type EventOptions, type LiveEvent, streamEvents } from "./events.js";
import { Server, type ServerOptions } from "./http.js";
import { uuidv7 } from "./ids.js";
import type { Artifact, Cancellation, Decision, Enqueued, Job, JobEvent, JobFilter, JobStatus } from "./job.js";
import { isTerminal } from "./job.js";
import { Backoff, pause } from "./pause.js";
import { Worker, type WorkerOptions } from "./worker.js";

export interface ClientOptions extends ServerOptions {
  /** How long a call is repeated while the server is away; 15 seconds unless given. */
  retryForMs?: number;
}

export interface WaitOptions {
  /** How long to wait for the end of the job; without end unless given. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** The job that was told. */
export interface Signalled {
  id: string;
  /** It was told before, by a signal with the same key. */
  duplicate: boolean;
}

const MOST_JOBS = 10_000;
const FIRST_LOOK_MS = 50;
const SLOWEST_LOOK_MS = 1_000;

/** Enqueues jobs, looks at them and steers them, over the HTTP API of a server. */
export class Holdfast {
  private readonly server: Server;
  private readonly retryForMs: number;

  constructor(private readonly options: ClientOptions = {}) {
    this.server = new Server(options);
    this.retryForMs = options.retryForMs ?? 15_000;
  }

  /** Resolves once the job is durable. The same job, by its id, enqueued twice is one job. */
  enqueue(job: Job): Promise<Enqueued>;
  /** Up to 10,000 jobs, all of them or none. */
  enqueue(jobs: readonly Job[]): Promise<Enqueued[]>;
  async enqueue(given: Job | readonly Job[]): Promise<Enqueued | Enqueued[]> {
    const many = Array.isArray(given);
    const jobs = (many ? given : [given]) as readonly Job[];
    if (jobs.length === 0) {
      return [];
    }
    if (jobs.length > MOST_JOBS) {
      throw new RefusedError(
        "too_many_jobs",
        `${jobs.length} jobs in one call: enqueue ${MOST_JOBS} at most at once, all or none; split them`,
      );
    }
    // With an id of its own a job may be sent again after a lost answer, and is one job.
    const sent = jobs.map((job) => ({ ...job, id: job.id ?? uuidv7() }));
    const json = JSON.stringify(many ? { jobs: sent } : sent[0]);
    const answer = await this.insist<Enqueued | { jobs: Enqueued[] }>("POST", "/v1/jobs", json, true);
    const enqueued = "jobs" in answer ? answer.jobs : [answer];
    return many ? enqueued : (enqueued[0] as Enqueued);
  }

  /** Throws `NotFoundError` when there is no such job. */
  get<R = unknown>(id: string): Promise<JobStatus<R>> {
    return this.insist("GET", `/v1/jobs/${encodeURIComponent(id)}`);
  }

  /** The same, with undefined for a job that is not there. */
  async find<R = unknown>(id: string): Promise<JobStatus<R> | undefined> {
    try {
      return await this.get<R>(id);
    } catch (trouble) {
      if (trouble instanceof NotFoundError) {
        return undefined;
      }
      throw trouble;
    }
  }

  /** Newest first, page after page, for as long as you go on. */
  async *list(filter: JobFilter = {}): AsyncGenerator<JobStatus, void> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter) as [string, JobFilter[keyof JobFilter]][]) {
      if (value !== undefined) {
        query.set(name, value instanceof Date ? value.toISOString() : String(value));
      }
    }
    for (;;) {
      const page = await this.insist<{ jobs: JobStatus[]; next?: string }>("GET", `/v1/jobs?${query.toString()}`);
      yield* page.jobs;
      if (page.next === undefined) {
        return;
      }
      query.set("cursor", page.next);
    }
  }

  /** The job once it has ended, however it did. Looks often at first, then once a second. */
  async wait<R = unknown>(id: string, options: WaitOptions = {}): Promise<JobStatus<R>> {
    const end = options.timeoutMs === undefined ? Infinity : Date.now() + options.timeoutMs;
    const looks = new Backoff(FIRST_LOOK_MS, SLOWEST_LOOK_MS);
    for (;;) {
      options.signal?.throwIfAborted();
      const job = await this.get<R>(id);
      if (isTerminal(job.state)) {
        return job;
      }
      const left = end - Date.now();
      if (left <= 0) {
        throw new HoldfastError(
          "wait_timeout",
          `job ${id} is still ${job.state} after ${options.timeoutMs ?? 0} ms; wait longer, or look why with get(id)`,
        );
      }
      await pause(Math.min(looks.next(), left), options.signal);
    }
  }

  /** What the job returned, once it has ended; throws `JobFailedError` when it did not succeed. */
  async result<R = unknown>(id: string, options: WaitOptions = {}): Promise<R> {
    const job = await this.wait<R>(id, options);
    if (job.state === "SUCCEEDED") {
      return job.result as R;
    }
    const { code, message } = job.failure ?? { code: "CANCELLED", message: job.cancelReason ?? "no reason was given" };
    throw new JobFailedError(id, job.state === "FAILED" ? "FAILED" : "CANCELLED", code, message);
  }

  /** A job that runs is asked to stop; another one is cancelled at once. One that has ended stays as it is. */
  async cancel(id: string, reason?: string, options: { cascade?: boolean } = {}): Promise<Cancellation> {
    const path = `/v1/jobs/${encodeURIComponent(id)}/cancel`;
    try {
      const json = JSON.stringify({ reason, cascade: options.cascade });
      const { jobs } = await this.insist<{ jobs: Cancellation[] }>("POST", path, json, true);
      return jobs.find((one) => one.id === id) ?? (jobs[0] as Cancellation);
    } catch (trouble) {
      if (trouble instanceof RefusedError && trouble.code === "job_already_terminal") {
        return { id, outcome: "ALREADY_TERMINAL" };
      }
      throw trouble;
    }
  }

  /** Puts a job that is FAILED or CANCELLED back into its queue, with a fresh budget. */
  async retry(id: string): Promise<JobStatus> {
    await this.insist("POST", `/v1/jobs/${encodeURIComponent(id)}/retry`);
    return this.get(id);
  }

  /**
   * Tells a job something: it stays in the mailbox of the job until a wait takes it.
   *
   * @param job its id, or the kind and unique key by which it is found
   * @param options of two signals to a job with the same `key` only the first counts
   */
  async signal(
    job: string | { kind: string; uniqueKey: string; tenant?: string },
    name: string,
    payload?: unknown,
    options: { key?: string } = {},
  ): Promise<Signalled> {
    // With a key of its own a signal may be sent again after a lost answer, and is one signal.
    const signal = { name, payload, key: options.key ?? uuidv7() };
    if (typeof job !== "string") {
      return this.insist("POST", "/v1/signals", JSON.stringify({ ...job, ...signal }), true);
    }
    const path = `/v1/jobs/${encodeURIComponent(job)}/signals`;
    return { id: job, ...(await this.insist<{ duplicate: boolean }>("POST", path, JSON.stringify(signal), true)) };
  }

  /** Answers what a job asks by `approve`; `list({ waits: "approval" })` finds those that ask. */
  async decide(id: string, decision: Decision): Promise<void> {
    await this.insist("POST", `/v1/jobs/${encodeURIComponent(id)}/decisions`, JSON.stringify(decision));
  }

  /** What happened to a job, numbered from 1. */
  async timeline(id: string): Promise<JobEvent[]> {
    const path = `/v1/jobs/${encodeURIComponent(id)}/timeline`;
    return (await this.insist<{ events: JobEvent[] }>("GET", path)).events;
  }

  /** What the job's handler logged last, over all attempts. */
  async log(id: string): Promise<string> {
    const path = `/v1/jobs/${encodeURIComponent(id)}/log`;
    const { parts } = await this.insist<{ parts: { text: string }[] }>("GET", path);
    return parts.map((part) => part.text).join("");
  }

  /** The files that the job has published. */
  async artifacts(id: string): Promise<Artifact[]> {
    const path = `/v1/jobs/${encodeURIComponent(id)}/artifacts`;
    return (await this.insist<{ artifacts: Artifact[] }>("GET", path)).artifacts;
  }

  /** The content of one of them. */
  artifact(id: string, name: string): Promise<Uint8Array> {
    return this.server.download(`/v1/jobs/${encodeURIComponent(id)}/artifacts/${encodeURIComponent(name)}`);
  }

  /** What changes, as it happens; goes on after outages. `break`, or the signal, ends it. */
  events(options: EventOptions = {}): AsyncGenerator<LiveEvent, void> {
    return streamEvents(this.server, options);
  }

  /** A worker for the same server, with the same key unless another is given. */
  worker(options: WorkerOptions = {}): Worker {
    return new Worker({ ...this.options, ...options });
  }

  /**
   * Sends it again while the server is away and `retryForMs` lasts.
   *
   * @param again whether the server answers the second of two equal requests as it did the first
   */
  private async insist<T>(method: "GET" | "POST", path: string, json?: string, again = method === "GET"): Promise<T> {
    const end = Date.now() + this.retryForMs;
    const backoff = new Backoff();
    for (;;) {
      try {
        return await this.server.call<T>(method, path, json === undefined ? {} : { json });
      } catch (trouble) {
        const pauseMs = backoff.next(trouble instanceof ServerUnavailableError ? trouble.retryAfterMs : 0);
        if (
          !(trouble instanceof ServerUnavailableError) ||
          trouble.code === "ENOTFOUND" ||
          (trouble.mayHaveHappened && !again) ||
          Date.now() + pauseMs > end
        ) {
          throw trouble;
        }
        await pause(pauseMs);
      }
    }
  }
}
