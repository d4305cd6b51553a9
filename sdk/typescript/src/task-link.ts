import { HoldfastError, LeaseLostError, NotFoundError, RefusedError, ServerUnavailableError } from "./errors.js";
import { type CallOptions, Server } from "./http.js";
import type { Artifact, ChildEnd, Envelope } from "./job.js";
import type { LeaseKeeper } from "./lease-keeper.js";
import {
  type AttemptLink,
  type ChildrenStart,
  childEnd,
  type Settlement,
  type StepReport,
  type StepStatus,
  UPLOAD_MS,
  type Wait,
  type WaitAnswer,
} from "./link.js";
import type { Ack } from "./outbox.js";
import { Backoff, pause } from "./pause.js";

const TRIES_OF_FAULTS = 5;

/** An attempt that was pushed: each call goes out by itself, with the token of the task. */
export class TaskLink implements AttemptLink {
  private readonly server: Server;
  private readonly path: string;
  private token: string;
  private given = false;

  constructor(
    private readonly task: Envelope,
    private readonly workerId: string,
    private readonly key: string,
    private readonly keeper: LeaseKeeper,
    /** Aborts when the worker has closed: nothing is sent again from then on. */
    private readonly closed: AbortSignal,
  ) {
    this.token = task.taskToken;
    this.server = new Server({ url: task.callbackBaseUrl, apiKey: task.taskToken });
    this.path = `/v1/tasks/${task.taskId}`;
  }

  fresh(token: string): void {
    this.token = token;
  }

  /** Throws what the server answered unless it is 200: then the work must not begin. */
  async started(): Promise<void> {
    const json = JSON.stringify({ workerId: this.workerId, attempt: this.task.attempt });
    await this.insist("POST", "/started", { json });
  }

  settle(settlement: Settlement): Promise<Ack> {
    switch (settlement.outcome) {
      case "SUCCEEDED":
        return this.completed(
          `"outcome":"SUCCEEDED"${settlement.output === undefined ? "" : `,"output":${settlement.output}`}`,
        );
      case "FAILED":
        return this.failed(settlement.error, settlement.delayMs);
      case "CANCELLED":
        return this.completed('"outcome":"CANCELLED"');
      case "SNOOZED":
        return this.completed(`"outcome":"SNOOZED","delayMs":${settlement.delayMs}`);
      case "RELEASED":
        return this.completed('"outcome":"RELEASED"');
      case "CONTINUED":
        return this.completed(`"outcome":"CONTINUED","payload":${settlement.payload}`);
    }
  }

  private failed(error: object, retryAfterMs: number | undefined): Promise<Ack> {
    return this.completed(`"outcome":"FAILED","error":${JSON.stringify({ ...error, retryAfterMs })}`);
  }

  private completed(fields: string): Promise<Ack> {
    return this.tell(
      "POST",
      "/completed",
      `{"attempt":${this.task.attempt},"workerId":${JSON.stringify(this.workerId)},${fields}}`,
    );
  }

  /** Progress goes with a heartbeat. */
  progress(progressPct: number, message: string | undefined): Promise<Ack> {
    return this.tell("POST", "/heartbeat", this.body({ workerId: this.workerId, progressPct, message }));
  }

  event(type: string, data: string): Promise<Ack> {
    return this.tell("POST", "/event", `${this.body({ type }).slice(0, -1)},"data":${data}}`);
  }

  async publish(name: string, content: Uint8Array): Promise<Artifact | undefined> {
    const path = `/artifacts/${encodeURIComponent(name)}?attempt=${this.task.attempt}`;
    try {
      const { ack, ...artifact } = await this.insist<Artifact & { ack: Ack }>("PUT", path, {
        bytes: content,
        timeoutMs: UPLOAD_MS,
      });
      return ack === "ACCEPTED" ? artifact : undefined;
    } catch (trouble) {
      if (trouble instanceof LeaseLostError) {
        return undefined;
      }
      throw trouble;
    }
  }

  log(lines: string[], firstLine: number): Promise<Ack> {
    return this.tell("POST", "/log", this.body({ firstLine, lines }));
  }

  async steps(): Promise<StepStatus[]> {
    return (await this.insist<{ steps: StepStatus[] }>("GET", "/steps")).steps;
  }

  step(report: StepReport): Promise<Ack> {
    if (report.state === "INTERRUPTED" || report.dropped) {
      // The server finds that out by itself, or drops what was asked for with the call that is to come.
      return Promise.resolve("ACCEPTED");
    }
    const { stepId, checkpoint, honoured, ...fields } = report;
    const body = this.body({ ...fields, handledCommand: honoured?.updatedAt });
    const json = checkpoint === undefined ? body : `${body.slice(0, -1)},"result":${checkpoint}}`;
    return this.tell("PUT", `/steps/${encodeURIComponent(stepId)}`, json);
  }

  /** The server knows the index. */
  async suspend(_: number, wait: Wait, signal: AbortSignal): Promise<WaitAnswer> {
    return (await this.ask<WaitAnswer>("/wait", this.body({ wait }), signal)) ?? { outcome: "LEASE_LOST" };
  }

  async startChildren({ id, jobs }: ChildrenStart, signal: AbortSignal): Promise<string[] | undefined> {
    const json = `${this.body({ startedAs: id }).slice(0, -1)},"jobs":[${jobs.join(",")}]}`;
    return (await this.ask<{ jobs: string[] }>("/children", json, signal))?.jobs;
  }

  async childrenEnds(ids: string[], signal: AbortSignal): Promise<ChildEnd[]> {
    type Ends = { jobs: Parameters<typeof childEnd>[0][] };
    const answer = await this.ask<Ends>("/children/ends", this.body({ jobs: ids }), signal);
    return answer?.jobs.map(childEnd) ?? [];
  }

  private async ask<T>(path: string, json: string, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.insist<T>("POST", path, { json, signal });
    } catch (trouble) {
      if (trouble instanceof LeaseLostError) {
        return undefined;
      }
      throw trouble;
    }
  }

  private body(fields: Record<string, unknown>): string {
    return JSON.stringify({ attempt: this.task.attempt, ...fields });
  }

  private async tell(method: string, path: string, json: string): Promise<Ack> {
    try {
      await this.insist(method, path, { json });
      return "ACCEPTED";
    } catch (trouble) {
      if (trouble instanceof LeaseLostError) {
        return "LEASE_LOST";
      }
      throw trouble;
    }
  }

  /** Sends it again until it is answered, or the task is given up. */
  private async insist<T>(method: string, path: string, content: CallOptions = {}): Promise<T> {
    const backoff = new Backoff(200, 10_000);
    const signal = content.signal ?? this.closed;
    for (let faults = 0; ;) {
      try {
        return await this.server.call<T>(method, this.path + path, {
          ...content,
          signal,
          headers: { authorization: `Bearer ${this.token}` },
        });
      } catch (trouble) {
        if (trouble instanceof NotFoundError || (trouble instanceof RefusedError && isGone(trouble.status))) {
          throw new LeaseLostError();
        }
        const fault = trouble instanceof HoldfastError && (trouble.status ?? 0) >= 500 && ++faults < TRIES_OF_FAULTS;
        if (!(trouble instanceof ServerUnavailableError || fault) || this.given) {
          throw trouble;
        }
        const pauseMs = backoff.next(trouble instanceof ServerUnavailableError ? trouble.retryAfterMs : undefined);
        await pause(pauseMs, signal);
        signal.throwIfAborted();
        this.closed.throwIfAborted();
      }
    }
  }

  ended(): void {
    this.given = true;
    this.keeper.dropTask(this.key);
  }
}

function isGone(status: number | undefined): boolean {
  return status === 409 || status === 410;
}
