import type { Failure } from "./errors.js";
import type { Artifact, ChildEnd, Recovery } from "./job.js";
import type { Ack } from "./outbox.js";

/** How long the upload of a file may take. */
export const UPLOAD_MS = 120_000;

/** How an attempt ends. */
export type Settlement =
  | { outcome: "SUCCEEDED"; /** JSON. */ output: string | undefined }
  | { outcome: "FAILED"; error: Failure; delayMs: number | undefined }
  | { outcome: "CANCELLED" }
  | { outcome: "SNOOZED"; delayMs: number }
  | { outcome: "RELEASED"; abortedByShutdown: boolean }
  | { outcome: "CONTINUED"; /** JSON. */ payload: string };

export interface StepStatus {
  stepId: string;
  stepIndex: number;
  state: "RUNNING" | "DONE" | "FAILED" | "INTERRUPTED";
  attempt: number;
  checkpoint?: unknown;
  /** Where it was no step. */
  waitEnd?: WaitEnd | null;
}

/** What a handler waits for. */
export interface Wait {
  id: string;
  sort: "SLEEP" | "SIGNAL" | "APPROVAL" | "CHILDREN";
  withinMs?: number | undefined;
  until?: string;
  signal?: string;
  question?: { text: string; details?: string; role?: string; afterwards?: string };
  started?: string[];
  any?: boolean;
  failFast?: boolean;
}

/** How a wait has ended, in words that a newer server may have more of. */
export interface WaitEnd {
  sort: string;
  outcome: string;
  by?: string | null;
  at?: string | null;
  comment?: string | null;
  job?: string | null;
  jobs?: number | null;
}

/** `OVER`, and the attempt goes on, `SUSPENDED`, and it has ended, or `LEASE_LOST`. */
export interface WaitAnswer {
  outcome: string;
  end?: WaitEnd | null;
  payload?: unknown;
}

/** Jobs that a handler starts under one id. */
export interface ChildrenStart {
  id: string;
  index: number;
  ids: string[];
  /** JSON of each, without its id. */
  jobs: string[];
}

/** What is told of a step as it begins and ends. */
export interface StepReport {
  stepId: string;
  stepIndex: number;
  state: "RUNNING" | "DONE" | "FAILED" | "INTERRUPTED";
  stepAttempt: number;
  /** How long the attempt has run, where its start was not reported. */
  tookMs?: number;
  /** JSON. */
  checkpoint?: string;
  honoured?: Recovery;
  failureClass?: "transient_runtime" | "deterministic_contract";
  failureSignature?: string;
  strategy?: "soft_reset" | "queue_retry" | "fail";
  summary?: string;
  /** What it was is done no longer, because an operator has asked for it; no body of a step has run. */
  dropped?: true;
}

/** How one attempt talks to the server: in batches under its worker's key, or by its own task token. */
export interface AttemptLink {
  settle(settlement: Settlement): Promise<Ack>;
  progress(percent: number, message: string | undefined): Promise<Ack>;
  event(type: string, data: string): Promise<Ack>;
  /** @param firstLine the number of the first of them in this attempt, from 1 */
  log(lines: string[], firstLine: number): Promise<Ack>;
  /** Undefined when the attempt does not hold its job any more. */
  publish(name: string, content: Uint8Array): Promise<Artifact | undefined>;
  steps(): Promise<StepStatus[]>;
  step(report: StepReport): Promise<Ack>;
  /** @param signal ends the call, whatever came of it */
  suspend(index: number, wait: Wait, signal: AbortSignal): Promise<WaitAnswer>;
  /** Their ids, or undefined when the attempt does not hold its job any more. */
  startChildren(start: ChildrenStart, signal: AbortSignal): Promise<string[] | undefined>;
  /** Those that are there, in the order asked. */
  childrenEnds(ids: string[], signal: AbortSignal): Promise<ChildEnd[]>;
  /** Nothing more is said of the attempt; its heartbeats end. */
  ended(): void;
}

/** As the server says it. */
export function childEnd({ job, ...end }: { job: string } & Omit<ChildEnd, "id">): ChildEnd {
  return { id: job, ...end };
}
