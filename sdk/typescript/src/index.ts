export { type ClientOptions, Holdfast, type Signalled, type WaitOptions } from "./client.js";
export type { Handler, HandlerOptions, JobContext, LeasedJob, StepOptions } from "./context.js";
export { currentJob } from "./current-job.js";
export {
  CancelledError,
  ChildFailedError,
  FailedError,
  type Failure,
  type FailureCategory,
  HoldfastError,
  JobFailedError,
  KeyRefusedError,
  LeaseLostError,
  NotFoundError,
  RefusedError,
  ServerUnavailableError,
  SnoozeError,
  type StopReason,
  SuspendedError,
} from "./errors.js";
export type { EventOptions, LiveEvent } from "./events.js";
export type { ApiKey, ServerOptions } from "./http.js";
export type {
  Artifact,
  Cancellation,
  Child,
  ChildEnd,
  ChildJob,
  Decision,
  Enqueued,
  Job,
  JobEvent,
  JobFilter,
  JobState,
  JobStatus,
  OpenWait,
} from "./job.js";
export type { Logger } from "./log.js";
export type { PushOptions } from "./push.js";
export type { OutputOf, StandardSchema } from "./schema.js";
export type { Approval, JoinOptions, Question, SignalOptions } from "./waits.js";
export { Worker, type WorkerOptions } from "./worker.js";
