import assert from "node:assert/strict";
import { test } from "node:test";
import { holdfast, newQueue, newWorker, until } from "./fixtures.js";

const JOBS = Number(process.env["LOAD_JOBS"] ?? 10_000);
const BATCH = 5_000;
/** A leak of a kilobyte in every second job is found. */
const MB_PER_JOB = 0.0004;

test(`memory is flat over ${JOBS} jobs, and the rate is said`, async (t) => {
  const queue = newQueue();
  for (let from = 0; from < JOBS; from += BATCH) {
    const jobs = Math.min(BATCH, JOBS - from);
    await holdfast.enqueue(Array.from({ length: jobs }, (_, n) => ({ kind: "noop", queue, payload: { n } })));
  }
  const collect = (globalThis as { gc?: () => void }).gc;
  const heap = (): number => {
    collect?.();
    return process.memoryUsage().heapUsed / 1e6;
  };
  let ran = 0;
  let early = 0;
  const worker = newWorker(t, { queues: [queue], concurrency: 400 });
  worker.handler("noop", () => {
    if (++ran === JOBS / 4) {
      early = heap();
    }
  });
  const began = performance.now();
  const cpu = process.cpuUsage();
  await worker.start();
  await until("all have run", () => ran >= JOBS, 600_000);
  await worker.close();
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const late = heap();
  t.diagnostic(`${Math.round(JOBS / seconds)} jobs/s, ${Math.round((user + system) / JOBS)} µs of CPU per job`);
  t.diagnostic(`heap after a quarter ${early.toFixed(1)} MB, at the end ${late.toFixed(1)} MB`);
  assert.equal(ran, JOBS);
  assert.ok(late < early + MB_PER_JOB * JOBS, `the heap grew from ${early} to ${late} MB`);
  const { value } = await holdfast.list({ queue, state: ["PENDING", "RUNNING", "RETRYING", "FAILED"] }).next();
  assert.equal(value, undefined, "every job has succeeded");
});
