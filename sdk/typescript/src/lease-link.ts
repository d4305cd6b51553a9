import type { Server } from "./http.js";
import type { LeaseKey, LeaseKeeper } from "./lease-keeper.js";
import type { Artifact, ChildEnd } from "./job.js";
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
import type { Ack, Outbox } from "./outbox.js";
import { Backoff, pause } from "./pause.js";
import { ServerUnavailableError } from "./errors.js";

const PIECE_CHARS = 4_096;
const LINE_CHARS = 2_000;
const MOST_CHILDREN = 1_000;

const STEP_EVENTS = {
  RUNNING: "task.step.attempt.started",
  DONE: "task.step.attempt.finished",
  FAILED: "task.step.attempt.failed",
  INTERRUPTED: "task.step.attempt.failed",
} as const;

/** What the leases of one worker have in common. */
export interface LeaseLinks {
  server: Server;
  workerId: string;
  reports: Outbox;
  settlements: Outbox;
  keeper: LeaseKeeper;
  /** Aborts when the worker has closed: nothing is sent again from then on. */
  closed: AbortSignal;
}

/** An attempt that was claimed: all it says goes out in batches with what others say. */
export class LeaseLink implements AttemptLink {
  /** The fields that name the lease, as the beginning of a JSON object. */
  private readonly head: string;
  private piece = 1;
  private pieceText = "";

  constructor(
    private readonly shared: LeaseLinks,
    private readonly lease: LeaseKey,
  ) {
    const [id, attempt] = lease;
    this.head = `{"taskId":"${id}","attempt":${attempt},"workerId":${JSON.stringify(shared.workerId)}`;
  }

  settle(settlement: Settlement): Promise<Ack> {
    const fields = this.fieldsOf(settlement);
    return this.shared.settlements.add(`${this.head},"outcome":"${settlement.outcome}"${fields}}`);
  }

  private fieldsOf(settlement: Settlement): string {
    switch (settlement.outcome) {
      case "SUCCEEDED":
        return settlement.output === undefined ? "" : `,"output":${settlement.output}`;
      case "CONTINUED":
        return `,"payload":${settlement.payload}`;
      default:
        return rest({ ...settlement, outcome: undefined });
    }
  }

  progress(progressPct: number, message: string | undefined): Promise<Ack> {
    return this.report(rest({ progressPct, message }));
  }

  event(type: string, data: string): Promise<Ack> {
    return this.report(`,"type":${JSON.stringify(type)},"data":${data}`);
  }

  /** The server keeps the last 16 pieces, so a piece is filled up before the next one begins. */
  async log(lines: string[]): Promise<Ack> {
    const changed = new Map<number, string>();
    for (const line of lines) {
      const text = `${line.slice(0, LINE_CHARS)}\n`;
      if (this.pieceText.length + text.length > PIECE_CHARS) {
        this.piece++;
        this.pieceText = "";
      }
      this.pieceText += text;
      changed.set(this.piece, this.pieceText);
    }
    const acks = await Promise.all([...changed].map(([piece, text]) => this.report(rest({ log: { piece, text } }))));
    return acks.includes("LEASE_LOST") ? "LEASE_LOST" : "ACCEPTED";
  }

  async publish(name: string, content: Uint8Array): Promise<Artifact | undefined> {
    const path = `/v1/leases/artifacts/${encodeURIComponent(name)}?${this.query()}`;
    const { ack, ...artifact } = await this.insist(() =>
      this.shared.server.call<Artifact & { ack: Ack }>("PUT", path, { bytes: content, timeoutMs: UPLOAD_MS }),
    );
    return ack === "ACCEPTED" ? artifact : undefined;
  }

  async steps(): Promise<StepStatus[]> {
    const path = `/v1/leases/steps?${this.query()}`;
    return (await this.insist(() => this.shared.server.get<{ steps: StepStatus[] }>(path))).steps;
  }

  private query(): string {
    const [task, attempt] = this.lease;
    return `taskId=${task}&attempt=${attempt}&workerId=${encodeURIComponent(this.shared.workerId)}`;
  }

  suspend(index: number, wait: Wait, signal: AbortSignal): Promise<WaitAnswer> {
    return this.ask("/v1/leases/suspend", rest({ index, wait }), signal);
  }

  /** In parts; how many they are comes with the last. */
  async startChildren({ id, index, ids, jobs }: ChildrenStart, signal: AbortSignal): Promise<string[] | undefined> {
    for (let from = 0; from === 0 || from < ids.length; from += MOST_CHILDREN) {
      const to = Math.min(ids.length, from + MOST_CHILDREN);
      const part = jobs.slice(from, to).map((job, i) => `{"id":"${ids[from + i] ?? ""}",${job.slice(1)}`);
      const fields = rest({ startedAs: id, index, count: to === ids.length ? to : 0 });
      const json = `${fields},"jobs":[${part.join(",")}]`;
      if ((await this.ask<{ ack: Ack }>("/v1/leases/children", json, signal)).ack !== "ACCEPTED") {
        return undefined;
      }
    }
    return ids;
  }

  async childrenEnds(ids: string[], signal: AbortSignal): Promise<ChildEnd[]> {
    const path = "/v1/leases/children/ends";
    const { jobs } = await this.ask<{ jobs: Parameters<typeof childEnd>[0][] }>(path, rest({ jobs: ids }), signal);
    return jobs.map(childEnd);
  }

  private ask<T>(path: string, fields: string, signal: AbortSignal): Promise<T> {
    return this.insist(() => this.shared.server.post<T>(path, { json: `${this.head}${fields}}`, signal }), signal);
  }

  /** Calls it again while the server is away. */
  private async insist<T>(call: () => Promise<T>, signal = this.shared.closed): Promise<T> {
    const backoff = new Backoff();
    for (;;) {
      try {
        return await call();
      } catch (trouble) {
        if (!(trouble instanceof ServerUnavailableError)) {
          throw trouble;
        }
        await pause(backoff.next(trouble.retryAfterMs), signal);
        signal.throwIfAborted();
        this.shared.closed.throwIfAborted();
      }
    }
  }

  step(report: StepReport): Promise<Ack> {
    const { honoured, checkpoint } = report;
    const about = { stepId: report.stepId, stepIndex: report.stepIndex, attempt: report.stepAttempt };
    const events: { type: string; data: unknown }[] = [
      {
        type: STEP_EVENTS[report.state],
        data: {
          ...about,
          failureClass: report.failureClass,
          failureSignature: report.failureSignature,
          strategy: report.strategy,
          summary: report.summary,
        },
      },
    ];
    if (report.dropped) {
      // What was asked says it all.
      events.pop();
    } else if (report.tookMs !== undefined && report.state === "DONE") {
      // The server says that it began and that it is done.
      events.pop();
    } else if (report.tookMs !== undefined) {
      events.unshift({ type: STEP_EVENTS.RUNNING, data: about });
    }
    if (honoured) {
      const { action, stepId, requestedBy, updatedAt } = honoured;
      events.unshift({
        type: "task.control.recovery.ack",
        data: { ...about, action, stepId, requestedBy, updatedAt },
      });
    }
    const fields = rest({
      stepIndex: report.stepIndex,
      state: report.state,
      stepAttempt: report.stepAttempt,
      reset: false,
      // A request other than retry_step takes back what this step and those after it had left.
      discardFromIndex: honoured && honoured.action !== "retry_step" ? report.stepIndex : undefined,
      handledCommand: honoured?.updatedAt,
      events,
      tookMs: report.tookMs,
    });
    const left = checkpoint === undefined ? "" : `,"checkpoint":${checkpoint}`;
    return this.report(`,"step":{"stepId":${JSON.stringify(report.stepId)}${fields}${left}}`);
  }

  private report(fields: string): Promise<Ack> {
    return this.shared.reports.add(`${this.head}${fields}}`);
  }

  ended(): void {
    this.shared.keeper.drop(this.lease);
  }
}

/** The fields of an object, to go on with after others. */
function rest(fields: Record<string, unknown>): string {
  const json = JSON.stringify(fields);
  return json === "{}" ? "" : `,${json.slice(1, -1)}`;
}
