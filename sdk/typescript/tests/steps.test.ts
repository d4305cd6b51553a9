import assert from "node:assert/strict";
import { test } from "node:test";
import { FailedError } from "holdfast";
import { aborted, call, ends, holdfast, newQueue, newWorker, until } from "./fixtures.js";

interface StepRow {
  stepId: string;
  state: string;
  attempt: number;
}

async function steps(id: string): Promise<string[]> {
  const { steps } = await call<{ steps: StepRow[] }>("GET", `/v1/jobs/${id}/steps`);
  return steps.map((step) => `${step.stepId} ${step.state} ${step.attempt}`);
}

test("a step that is done is not done again by a later attempt", async (t) => {
  const queue = newQueue();
  const ran: string[] = [];
  await newWorker(t, { queues: [queue] })
    .handler("ingest", async (_, ctx) => {
      const text = await ctx.step("fetch", () => {
        ran.push("fetch");
        return { words: ["a", "b"] };
      });
      const size = await ctx.step("embed", async () => {
        ran.push("embed");
        if (ctx.attempt === 1) {
          throw new FailedError("INFRASTRUCTURE", "BUSY", "not now", { retryAfterMs: 1 });
        }
        return Promise.resolve(text.words.length);
      });
      await ctx.step("store", () => void ran.push("store"));
      return size;
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "ingest", queue });
  assert.equal((await ends(id, "SUCCEEDED")).result, 2);
  assert.deepEqual(ran, ["fetch", "embed", "embed", "store"]);
  assert.deepEqual(await steps(id), ["fetch DONE 1", "embed DONE 2", "store DONE 1"]);
  const types = (await holdfast.timeline(id)).map((event) => event.type).filter((type) => type.startsWith("task."));
  assert.deepEqual(types, [
    "task.step.attempt.started",
    "task.step.attempt.finished",
    "task.step.attempt.started",
    "task.step.attempt.failed",
    "task.resume.from_step",
    "task.step.attempt.started",
    "task.step.attempt.finished",
    "task.step.attempt.started",
    "task.step.attempt.finished",
  ]);
});

test("a step that takes long is seen to run, and what it reports comes after its start", async (t) => {
  const queue = newQueue();
  let finish = (): void => undefined;
  const gate = new Promise<void>((resolve) => (finish = resolve));
  await newWorker(t, { queues: [queue] })
    .handler("slow", async (_, ctx) => {
      await ctx.step("soon", () => 1);
      await ctx.step("told", () => ctx.event("halved"));
      await ctx.step("slow", () => gate);
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "slow", queue });
  await until("the slow step runs", async () => (await steps(id)).includes("slow RUNNING 1"));
  finish();
  await ends(id, "SUCCEEDED");
  const types = (await holdfast.timeline(id)).map((event) => event.type.replace("task.step.attempt.", ""));
  assert.deepEqual(types.slice(2, -1), ["started", "finished", "started", "halved", "finished", "started", "finished"]);
  assert.deepEqual(
    (await holdfast.timeline(id)).map((event) => event.number),
    types.map((_, i) => i + 1),
  );
});

test("a step may be run once in an attempt, and its result must be JSON", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("twice", async (_, ctx) => {
      await ctx.step("a", () => 1);
      await ctx.step("a", () => 2);
    })
    .handler("big", (_, ctx) => ctx.step("a", () => "x".repeat(1 << 20)))
    .start();
  const [twice, big] = await holdfast.enqueue([
    { kind: "twice", queue, maxAttempts: 1 },
    { kind: "big", queue },
  ]);
  assert.match((await ends(twice?.id ?? "", "FAILED")).failure?.message ?? "", /id of its own/);
  assert.equal((await ends(big?.id ?? "", "FAILED")).failure?.code, "CHECKPOINT_TOO_LARGE");
});

test("a pause holds up the next step until resume", async (t) => {
  const queue = newQueue();
  let first = (): void => undefined;
  const gate = new Promise<void>((resolve) => (first = resolve));
  const ran: string[] = [];
  await newWorker(t, { queues: [queue] })
    .handler("paused", async (_, ctx) => {
      await ctx.step("one", () => gate);
      await ctx.step("two", () => void ran.push("two"));
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "paused", queue });
  await until("step one runs", async () => (await steps(id)).includes("one RUNNING 1"));
  await call("POST", `/v1/jobs/${id}/control`, { action: "pause", reason: "wait" });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  first();
  await until("step one is done", async () => (await steps(id)).includes("one DONE 1"));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.deepEqual(ran, []);
  await call("POST", `/v1/jobs/${id}/control`, { action: "resume" });
  await ends(id, "SUCCEEDED");
  assert.deepEqual(ran, ["two"]);
});

test("an operator's request for an earlier step begins the handler anew, past the checkpoints", async (t) => {
  const queue = newQueue();
  const ran: string[] = [];
  await newWorker(t, { queues: [queue] })
    .handler("again", async (_, ctx) => {
      await ctx.step("one", () => void ran.push("one"));
      await ctx.step("two", () => void ran.push("two"));
      await ctx.step("three", async (signal) => {
        ran.push("three");
        if (ran.filter((step) => step === "three").length === 1) {
          throw await aborted(signal);
        }
      });
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "again", queue });
  await until("step three runs", async () => (await steps(id)).includes("three RUNNING 1"));
  await call("POST", `/v1/jobs/${id}/control`, {
    action: "resume_from_step",
    stepId: "two",
    reason: "the data was mended",
  });
  assert.equal((await ends(id, "SUCCEEDED")).attempt, 1);
  assert.deepEqual(ran, ["one", "two", "three", "two", "three"]);
  const acks = (await holdfast.timeline(id)).filter((event) => event.type === "task.control.recovery.ack");
  assert.equal(acks.length, 1);
});

test("a step is tried again within its budget, and not when that cannot help", async (t) => {
  const queue = newQueue();
  const calls: string[] = [];
  await newWorker(t, { queues: [queue] })
    .handler("tries", (_, ctx) =>
      ctx.step(
        "flaky",
        () => {
          calls.push("flaky");
          if (calls.filter((call) => call === "flaky").length < 3) {
            throw new Error("not yet");
          }
          return 3;
        },
        { attempts: 3, delayMs: 1 },
      ),
    )
    .handler("permanent", (_, ctx) =>
      ctx.step(
        "bad",
        () => {
          calls.push("bad");
          throw new FailedError("DATA_QUALITY", "BAD_ROW", "row 7");
        },
        { attempts: 3, delayMs: 1 },
      ),
    )
    .handler("hangs", (_, ctx) =>
      ctx.step("hangs", (signal) => aborted(signal).then(() => new Promise(() => undefined)), {
        attempts: 2,
        delayMs: 1,
        timeoutMs: 50,
      }),
    )
    .start();
  const [tries, permanent, hangs] = await holdfast.enqueue(
    ["tries", "permanent", "hangs"].map((kind) => ({ kind, queue, maxAttempts: 1 })),
  );
  const job = await ends(tries?.id ?? "", "SUCCEEDED");
  assert.deepEqual([job.result, job.attempt], [3, 1]);
  assert.deepEqual(await steps(job.id), ["flaky DONE 3"]);
  assert.equal((await ends(permanent?.id ?? "", "FAILED")).failure?.code, "BAD_ROW");
  assert.equal(calls.filter((call) => call === "bad").length, 1);
  const failed = await ends(hangs?.id ?? "", "FAILED");
  assert.match(failed.failure?.message ?? "", /took longer than 50 ms/);
  assert.deepEqual(await steps(failed.id), ["hangs FAILED 2"]);
});
