import type { Failure } from "./errors.js";

export type JobState = "WAITING" | "PENDING" | "RUNNING" | "RETRYING" | "SUCCEEDED" | "FAILED" | "CANCELLED";

const TERMINAL: ReadonlySet<JobState> = new Set(["SUCCEEDED", "FAILED", "CANCELLED"]);

export function isTerminal(state: JobState): boolean {
  return TERMINAL.has(state);
}

/** A job to enqueue. Only `kind` must be there. */
export interface Job<P = unknown> {
  /** Names the handler. */
  kind: string;
  /** Any JSON, 1 MiB at most; `{}` unless given. */
  payload?: P;
  /** `default` unless given. */
  queue?: string;
  /** From 0, first, to 9, last; 5 unless given. */
  priority?: number;
  delayMs?: number;
  runAt?: Date | string;
  /** How many attempts may fail, the first included. */
  maxAttempts?: number;
  /** How often the job is requeued after its worker died; 2 unless given. */
  maxCrashes?: number;
  /** Of one attempt. */
  timeoutMs?: number;
  /** When the job is of no use any more. */
  deadline?: Date | string;
  tenant?: string;
  workspace?: string;
  runId?: string;
  runKey?: string;
  parentId?: string;
  /** Ids of jobs that must end first. */
  dependsOn?: readonly string[];
  whenDependencyFails?: "CANCEL" | "FAIL" | "RUN";
  /** At most one unfinished job of the kind has this key. */
  uniqueKey?: string;
  uniqueStates?: readonly JobState[];
  uniqueWindowMs?: number;
  /** Jobs of the queue with this key take turns. */
  concurrencyKey?: string;
  concurrencyLimit?: number;
  assetId?: string;
  partitionKey?: string;
  resources?: Record<string, unknown>;
  traceparent?: string;
  /** Words to find the job by. */
  tags?: readonly string[];
  /** A UUIDv7 of this library unless given. */
  id?: string;
}

export interface Enqueued {
  id: string;
  /** The unique key was taken, no job was made, and `id` is that of the job that holds the key. */
  duplicate: boolean;
}

/** A job as it stands. */
export interface JobStatus<R = unknown> {
  id: string;
  kind: string;
  queue: string;
  state: JobState;
  priority: number;
  /** The number of the last attempt; it only rises. */
  attempt: number;
  failures: number;
  maxAttempts: number;
  crashes: number;
  maxCrashes: number;
  progress?: number | null;
  progressMessage?: string | null;
  workerId?: string | null;
  createdAt: string;
  runAt: string;
  startedAt?: string | null;
  heartbeatAt?: string | null;
  leaseExpiresAt?: string | null;
  finishedAt?: string | null;
  deadline?: string | null;
  cancelRequestedAt?: string | null;
  cancelReason?: string | null;
  tenant: string;
  workspace: string;
  runId: string;
  runKey: string;
  parentId?: string | null;
  uniqueKey?: string | null;
  concurrencyKey?: string | null;
  assetId?: string | null;
  partitionKey?: string | null;
  resources?: Record<string, unknown>;
  traceparent?: string | null;
  tags?: string[];
  payload?: unknown;
  result?: R;
  failure?: Failure | null;
  /** What the handler of a WAITING job waits for. */
  waitsFor?: OpenWait | null;
  /** What a list left out because it is long. */
  omitted?: ("payload" | "result" | "failure.stackTrace")[];
}

export interface OpenWait {
  /** Of the wait, among the steps of the job. */
  id: string;
  sort: "SLEEP" | "SIGNAL" | "APPROVAL" | "CHILDREN";
  /** The name of the signal. */
  signal?: string | null;
  since: string;
  /** When it is over by itself. */
  until?: string | null;
  question?: { text: string; details: string; role: string; afterwards: string } | null;
  /** The ids under which the jobs were started that it waits for. */
  started: string[];
}

/** A job that a handler starts. Tenant, workspace and run are those of the job that starts it. */
export type ChildJob<P = unknown> = Omit<
  Job<P>,
  | "id"
  | "tenant"
  | "workspace"
  | "runId"
  | "parentId"
  | "dependsOn"
  | "whenDependencyFails"
  | "uniqueKey"
  | "uniqueStates"
  | "uniqueWindowMs"
>;

/** A job that a handler has started, to wait for. */
export interface Child {
  readonly id: string;
  /** The id under which it was started. */
  readonly startedAs: string;
}

/** How a job has ended that another one has started. */
export interface ChildEnd<R = unknown> {
  readonly id: string;
  readonly state: JobState;
  /** That of one that has succeeded, if it has any. */
  readonly result?: R;
  /** That of one that has failed. */
  readonly failure?: Failure | null;
}

/** What somebody answers who is asked by a job. */
export interface Decision {
  /** The id under which the job asks. */
  waitId: string;
  approved: boolean;
  /** Kept in the timeline, and given to the handler. */
  comment?: string;
}

export interface JobFilter {
  /** Jobs that wait for this. */
  waits?: "approval" | "signal" | "sleep" | "children";
  state?: JobState | readonly JobState[];
  queue?: string;
  kind?: string;
  runId?: string;
  parentId?: string;
  tenant?: string;
  q?: string;
  createdAfter?: Date | string;
  createdBefore?: Date | string;
  brief?: boolean;
}

export interface Cancellation {
  id: string;
  /** The state the job was in; undefined where the job had ended before and the server does not say more. */
  previousState?: JobState;
  outcome: "CANCELLED" | "REQUESTED" | "ALREADY_REQUESTED" | "ALREADY_TERMINAL";
}

export interface JobEvent {
  number: number;
  type: string;
  attempt: number;
  at: string;
  data?: unknown;
}

/** A file that a job has published. */
export interface Artifact {
  name: string;
  /** In bytes. */
  size: number;
  sha256: string;
}

/** What operators ask of a job that runs in steps. */
export interface LiveControl {
  paused: boolean;
  takeover: boolean;
  recovery?: Recovery | null;
}

export interface Recovery {
  action: "retry_step" | "hard_reset_step" | "resume_from_step" | "accept_step";
  stepId: string;
  strategy?: "soft_reset" | "hard_reset" | null;
  requestedBy: string;
  reason: string;
  updatedAt: string;
}

/** A task as a server hands it to a worker. */
export interface Envelope {
  taskId: string;
  runId: string;
  taskKey: string;
  tenantId: string;
  workspaceId: string;
  attempt: number;
  attemptId: string;
  dispatchId: string;
  workerQueue: string;
  kind: string;
  payload: unknown;
  resources: Record<string, unknown>;
  enqueuedAt: string;
  deadline?: string | null;
  assetId?: string | null;
  partitionKey?: string | null;
  traceparent?: string | null;
  tags?: string[];
  callbackBaseUrl: string;
  taskToken: string;
  tokenExpiresAt: string;
  heartbeatIntervalMs: number;
  heartbeatTimeoutMs: number;
  cancelGracePeriodMs: number;
  liveControl?: LiveControl | null;
  retryContext?: { category: string; code: string; message: string; retryable: boolean } | null;
  timeoutMs?: number | null;
  deadlineMs?: number | null;
  failures?: number | null;
  maxAttempts?: number | null;
  queueWaitMs?: number | null;
}
