/** The program that the conformance kit starts: sdk/conformance/run -- node …/conformance-worker.js */
import { appendFileSync } from "node:fs";
import { FailedError, type FailureCategory, type JobContext, Worker } from "holdfast";
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
