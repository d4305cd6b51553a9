/** A handler that runs in a thread of its own. */
import { threadId } from "node:worker_threads";
import { FailedError, type JobContext } from "holdfast";

interface Task {
  what: "double" | "fail" | "snooze" | "spin" | "stubborn" | "exit";
  n?: number;
}

export default async function compute(task: Task, ctx: JobContext): Promise<unknown> {
  switch (task.what) {
    case "double": {
      ctx.progress(50, "half");
      ctx.log("from the thread");
      await ctx.event("computed", { n: task.n });
      const n = await ctx.step("first", () => (task.n ?? 0) * 2, { attempts: 2 });
      await ctx.publish("n.txt", new TextEncoder().encode(String(n)));
      return { n, thread: threadId, kind: ctx.job.kind };
    }
    case "fail":
      throw new FailedError("DATA_QUALITY", "BAD_ROW", "row 7");
    case "snooze":
      if (ctx.attempt === 1) {
        throw ctx.snooze(1);
      }
      return ctx.attempt;
    case "spin":
      // Yields to nobody, so no message arrives by itself.
      for (;;) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        ctx.checkCancelled();
      }
    case "stubborn":
      for (;;) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      }
    case "exit":
      process.exit(7);
  }
}
