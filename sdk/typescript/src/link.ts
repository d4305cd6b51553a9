import type { Failure } from "./errors.js";
import type { Artifact, Recovery } from "./job.js";
import type { Ack } from "./outbox.js";

/** How long the upload of a file may take. */
export const UPLOAD_MS = 120_000;

/** How an attempt ends. */
export type Settlement =
  | { outcome: "SUCCEEDED"; /** JSON. */ output: string | undefined }
  | { outcome: "FAILED"; error: Failure; delayMs: number | undefined }
  | { outcome: "CANCELLED" }
  | { outcome: "SNOOZED"; delayMs: number }
  | { outcome: "RELEASED"; abortedByShutdown: boolean };

export interface StepStatus {
  stepId: string;
  stepIndex: number;
  state: "RUNNING" | "DONE" | "FAILED" | "INTERRUPTED";
  attempt: number;
  checkpoint?: unknown;
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
  /** Nothing more is said of the attempt; its heartbeats end. */
  ended(): void;
}
