/** The program that the conformance kit starts: sdk/conformance/run -- node …/conformance-worker.js */
import { appendFileSync } from "node:fs";
import { type Child, FailedError, type FailureCategory, type JobContext, SuspendedError, Worker } from "holdfast";
import { listen } from "./fetch-server.js";

const given = (name: string): string | undefined => process.env[`CONFORMANCE_${name}`];

const worker = new Worker({
  url: given("URL"),
  apiKey: given("KEY"),
  queues: [given("QUEUE") as string],
  concurrency: Number(given("CONCURRENCY")),
  leaseMs: Number(given("LEASE_MS")),
  shutdownTimeoutMs: Number(given("SHUTDOWN_MS")),
});

function note(word: string, ctx: JobContext): void {
  appendFileSync(given("JOURNAL") as string, `${word} ${ctx.job.kind} ${ctx.id} ${ctx.attempt}\n`);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) {
      stop();
    }
  });
}

interface Span {
  ms: number;
  later?: number;
}

const spanOf = (payload: Span, ctx: JobContext): number =>
  ctx.attempt > 1 ? (payload.later ?? payload.ms) : payload.ms;

worker.handler("noop", () => null);
worker.handler("echo", (payload: unknown, ctx) => {
  note("begin", ctx);
  return payload;
});
worker.handler("sleep", async (payload: Span, ctx) => {
  note("begin", ctx);
  try {
    await sleep(spanOf(payload, ctx), ctx.signal);
  } catch (stopped) {
    note("stopped", ctx);
    throw stopped;
  }
  note("end", ctx);
  return { attempt: ctx.attempt };
});
worker.handler("block", (payload: Span, ctx) => {
  note("begin", ctx);
  // As deaf as a computation, and leaves the processor to others.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, spanOf(payload, ctx));
  note("end", ctx);
  return { attempt: ctx.attempt };
});
interface Fail {
  category: FailureCategory;
  code: string;
  message: string;
  retryAfterMs?: number | null;
  until: number;
}
worker.handler("fail", (payload: Fail, ctx) => {
  note("begin", ctx);
  if (ctx.attempt < payload.until) {
    const { category, code, message, retryAfterMs } = payload;
    throw new FailedError(category, code, message, retryAfterMs == null ? {} : { retryAfterMs });
  }
  return { attempt: ctx.attempt };
});
worker.handler("progress", async (payload: { percent: number; message: string; lines: string[] }, ctx) => {
  payload.lines.forEach((line) => ctx.log(line));
  ctx.progress(payload.percent, payload.message);
  await sleep(2_500, ctx.signal);
  return null;
});
worker.handler("large", (payload: { bytes: number }) => "x".repeat(payload.bytes));
worker.handler("steps", async (payload: { steps: string[]; stopIn?: string }, ctx) => {
  note("begin", ctx);
  const results: unknown[] = [];
  for (const step of payload.steps) {
    results.push(
      await ctx.step(step, async (signal) => {
        note(`step:${step}`, ctx);
        if (step === payload.stopIn && ctx.attempt === 1) {
          await sleep(60_000, signal);
        }
        return { step, attempt: ctx.attempt };
      }),
    );
  }
  return results;
});

type Operation =
  | { op: "step"; id: string }
  | { op: "sleep"; id: string; ms: number }
  | { op: "await"; name: string; id?: string; withinMs?: number }
  | { op: "approve"; id: string; text: string }
  | { op: "spawn"; id: string; kind: string; payload: unknown }
  | { op: "map"; id: string; items: unknown[] }
  | { op: "join"; id: string; of: string[]; collect?: boolean }
  | { op: "pause"; ms: number; until: number }
  | { op: "continueAs"; payload: unknown }
  | { op: "careless" };

async function perform(op: Operation, ctx: JobContext, children: Map<string, Child>): Promise<unknown> {
  switch (op.op) {
    case "step":
      return ctx.step(op.id, () => {
        note(`step:${op.id}`, ctx);
        return { step: op.id, attempt: ctx.attempt };
      });
    case "sleep":
      await ctx.sleep(op.id, op.ms);
      return null;
    case "await":
      return (await ctx.awaitSignal(op.name, op)) ?? null;
    case "approve": {
      const { approved, by, comment } = await ctx.approve(op.id, op.text);
      return { approved, by, comment };
    }
    case "spawn":
      children.set(op.id, await ctx.spawn(op.id, { kind: op.kind, payload: op.payload }));
      return null;
    case "map":
      return ctx.map(op.id, op.items, (payload) => ({ kind: "echo", payload }));
    case "join": {
      const all = op.of.map((id) => children.get(id) as Child);
      return (await ctx.join(op.id, all, { collect: op.collect ?? false })).map((end) => end.state);
    }
    case "pause":
      if (ctx.attempt < op.until) {
        await sleep(op.ms, ctx.signal);
      }
      return null;
    case "continueAs":
      return ctx.continueAs(op.payload);
    case "careless":
      return null;
  }
}

worker.handler("script", async (payload: { do: Operation[] }, ctx) => {
  note("begin", ctx);
  const careless = payload.do.some((op) => op.op === "careless");
  const children = new Map<string, Child>();
  const results: unknown[] = [];
  for (const op of payload.do) {
    try {
      results.push(await perform(op, ctx, children));
    } catch (thrown) {
      if (!careless || !(thrown instanceof SuspendedError)) {
        throw thrown;
      }
      results.push(null);
    }
  }
  return results;
});

const port = given("PUSH_PORT");
if (port === undefined || port === "") {
  await worker.run(() => console.log("ready"));
} else {
  const server = await listen(worker.push({ secret: given("PUSH_SECRET") as string }), Number(port));
  process.once("SIGTERM", () => {
    void worker.close().then(() => {
      server.closeAllConnections();
      server.close();
    });
  });
  console.log("ready");
}
