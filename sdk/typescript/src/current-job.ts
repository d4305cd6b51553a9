import { AsyncLocalStorage } from "node:async_hooks";
import type { JobContext, LeasedJob } from "./context.js";

const storage = new AsyncLocalStorage<JobContext>();

/**
 * The job whose handler called this, however deep; undefined outside of handlers. For the lines of a log, such as
 * `pino({ mixin: () => ({ jobId: currentJob()?.id }) })`.
 */
export function currentJob(): LeasedJob | undefined {
  return storage.getStore()?.job;
}

export function inJob<T>(context: JobContext, run: () => T): T {
  return storage.run(context, run);
}
