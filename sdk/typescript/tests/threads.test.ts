import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Worker } from "holdfast";
import { ends, holdfast, newQueue, newWorker, slow, until } from "./fixtures.js";

const MODULE = new URL("./computing.js", import.meta.url);

async function started(t: TestContext, queue: string, module = MODULE): Promise<Worker> {
  const worker = newWorker(t, { queues: [queue], concurrency: 2 }).handler("compute", module);
  await worker.start();
  return worker;
}

async function enqueue(queue: string, what: string, n?: number): Promise<string> {
  return (await holdfast.enqueue({ kind: "compute", queue, payload: { what, n }, maxAttempts: 1 })).id;
}

test("a handler in a thread has all that another one has", async (t) => {
  const queue = newQueue();
  await started(t, queue);
  const id = await enqueue(queue, "double", 21);
  const job = await ends<{ n: number; thread: number; kind: string }>(id, "SUCCEEDED");
  assert.deepEqual([job.result?.n, job.result?.kind], [42, "compute"]);
  assert.notEqual(job.result?.thread, 0);
  assert.deepEqual([job.progress, job.progressMessage], [50, "half"]);
  assert.equal(await holdfast.log(id), "from the thread\n");
  assert.ok((await holdfast.timeline(id)).some((event) => event.type === "computed"));
  assert.equal(new TextDecoder().decode(await holdfast.artifact(id, "n.txt")), "42");
  const again = await ends<{ thread: number }>(await enqueue(queue, "double", 1), "SUCCEEDED");
  assert.equal(again.result?.thread, job.result?.thread, "a thread is used again");
});

test("what it throws is what it means", async (t) => {
  const queue = newQueue();
  await started(t, queue);
  const failed = await ends(await enqueue(queue, "fail"), "FAILED");
  assert.deepEqual([failed.failure?.code, failed.failure?.message], ["BAD_ROW", "row 7"]);
  assert.match(failed.failure?.stackTrace ?? "", /computing/);
  const snoozed = await ends(await enqueue(queue, "snooze"), "SUCCEEDED");
  assert.deepEqual([snoozed.result, snoozed.failures], [2, 0]);
  const died = await ends(await enqueue(queue, "exit"), "FAILED");
  assert.match(died.failure?.message ?? "", /thread ended with code 7/);
  await ends(await enqueue(queue, "double", 1), "SUCCEEDED");
});

test("a handler that computes without a pause sees that it is cancelled", async (t) => {
  const queue = newQueue();
  await started(t, queue);
  const id = await enqueue(queue, "spin");
  await until("it runs", async () => (await holdfast.get(id)).state === "RUNNING");
  await holdfast.cancel(id, "no longer needed");
  await ends(id, "CANCELLED");
});

slow("a thread that does not stop is ended, and its place is free", async (t) => {
  const queue = newQueue();
  await started(t, queue);
  const id = await enqueue(queue, "stubborn");
  await until("it runs", async () => (await holdfast.get(id)).state === "RUNNING");
  await holdfast.cancel(id);
  await ends(id, "CANCELLED");
  await ends(await enqueue(queue, "double", 1), "SUCCEEDED");
});

test("a module without a handler is named", async (t) => {
  const queue = newQueue();
  await started(t, queue, new URL("./fetch-server.js", import.meta.url));
  const failure = (await ends(await enqueue(queue, "double"), "FAILED")).failure;
  assert.equal(failure?.code, "NO_HANDLER");
  assert.match(failure.message, /default export/);
});
