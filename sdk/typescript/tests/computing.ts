/** A handler that runs in a thread of its own. */
import { threadId } from "node:worker_threads";
import { FailedError, type JobContext } from "holdfast";

interface Task {
  what: "double" | "fail" | "snooze" | "spin" | "stubborn" | "exit" | "wait" | "loop" | "both";
  n?: number;
}

/** What a careless handler sees of the wait that ended its attempt before. */
let seen = "nothing";

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
    case "wait": {
      const items: number[] = await ctx.map("map", [1, 2], (payload) => ({ kind: "echo", payload }));
      try {
        return [await ctx.awaitSignal("go"), items, await ctx.step("last", () => items.length), seen];
      } catch (left) {
        await ctx
          .step("late", () => undefined)
          .catch((again: unknown) => {
            seen = again === left ? (left as Error).name : String(again);
          });
        return "passed over";
      }
    }
    case "loop":
      return ctx.continueAs({ what: "double", n: 21 } satisfies Task);
    case "both":
      return Promise.all([ctx.sleep("a", 60_000), ctx.awaitSignal("b")]);
    case "exit":
      process.exit(7);
  }
}
