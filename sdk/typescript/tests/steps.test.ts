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
    "task.step.attempt.started",
    "task.step.attempt.finished",
    "task.step.attempt.started",
    "task.step.attempt.finished",
  ]);
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
