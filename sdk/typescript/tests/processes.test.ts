import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import {
  adminKey,
  ends,
  FaultyProxy,
  freePort,
  holdfast,
  Messages,
  newQueue,
  newWorker,
  sleep,
  until,
  url,
  workerKey,
} from "./fixtures.js";
import { type Program, startProcess } from "./program.js";

/** A worker in a process of its own. */
function startWorker(t: TestContext, queue: string, environment: Record<string, string> = {}): Program {
  const program = startProcess(process.execPath, [join(import.meta.dirname, "child.js"), queue], ".", {
    HOLDFAST_SERVER_URL: url,
    HOLDFAST_SERVER_API_KEY: workerKey,
    ...environment,
  });
  t.after(() => program.process.kill("SIGKILL"));
  return program;
}

test("on SIGTERM a worker finishes what it runs, claims nothing more, and exits with 0", async (t) => {
  const queue = newQueue();
  const worker = startWorker(t, queue);
  await worker.line(/serves/);
  const running = await holdfast.enqueue({ kind: "sleep", queue, payload: { ms: 1_500 } });
  await worker.line(/began/);
  worker.process.kill("SIGTERM");
  await worker.line(/SIGTERM: 1 jobs are running/);
  const left = await holdfast.enqueue({ kind: "sleep", queue, payload: { ms: 1 } });
  assert.equal(await worker.exited, 0);
  await ends(running.id, "SUCCEEDED");
  assert.equal((await holdfast.get(left.id)).state, "PENDING");
});

test("jobs that do not end in time are released at once, without using budget", async (t) => {
  const queue = newQueue();
  const worker = startWorker(t, queue, { SHUTDOWN_TIMEOUT_MS: "200", LEASE_MS: "600000" });
  await worker.line(/serves/);
  const { id } = await holdfast.enqueue({ kind: "sleep", queue, payload: { ms: 600_000 } });
  await worker.line(/began/);
  worker.process.kill("SIGTERM");
  assert.equal(await worker.exited, 0);
  await newWorker(t, { queues: [queue] })
    .handler("sleep", () => "elsewhere")
    .start();
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.result, job.attempt, job.failures, job.crashes], ["elsewhere", 2, 0, 0]);
});

test("a worker that is blocked for too long loses its jobs to others", async (t) => {
  const queue = newQueue();
  const worker = startWorker(t, queue, { MAX_BLOCKED_MS: "2000", LEASE_MS: "1500" });
  await worker.line(/serves/);
  const { id } = await holdfast.enqueue({ kind: "block", queue });
  await worker.line(/blocked the event loop for 2 s/);
  await newWorker(t, { queues: [queue] })
    .handler("block", () => "elsewhere")
    .start();
  assert.equal((await ends(id, "SUCCEEDED", 120_000)).result, "elsewhere");
});

test("a worker lives through an outage, and says so once", async (t) => {
  const proxy = await FaultyProxy.start(t);
  const queue = newQueue();
  const logger = new Messages();
  let runs = 0;
  const options = { url: proxy.url, queues: [queue], concurrency: 20, leaseMs: 120_000, logger };
  const worker = newWorker(t, options);
  await worker
    .handler("work", async (payload: { ms: number }, ctx) => {
      runs++;
      ctx.progress(10);
      await sleep(payload.ms);
    })
    .start();
  const jobs = await holdfast.enqueue(
    Array.from({ length: 300 }, (_, n) => ({ kind: "work", queue, payload: { ms: n % 400 } })),
  );
  await until("some have run", () => runs > 60);
  proxy.cuts = () => true;
  proxy.cutAll();
  await until("it says so", () => logger.all.some((line) => line.includes("does not answer")));
  await sleep(1_000);
  proxy.cuts = () => false;
  for (const { id } of jobs) {
    const job = await ends(id, "SUCCEEDED", 120_000);
    assert.equal(job.crashes, 0);
  }
  assert.match(logger.all.join("\n"), /does not answer.*\n[^]*answers again after/);
});

test("a client waits for a server that is away for a moment", async () => {
  const port = await freePort();
  const { Holdfast } = await import("holdfast");
  const client = new Holdfast({ url: `http://127.0.0.1:${port}`, apiKey: adminKey });
  const enqueued = client.enqueue({ kind: "late", queue: newQueue() });
  await sleep(500);
  const { createServer: createHttp, request } = await import("node:http");
  const proxy = createHttp((incoming, outgoing) => {
    const onward = request(
      url + (incoming.url ?? ""),
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(port, "127.0.0.1", resolve));
  assert.equal((await holdfast.get((await enqueued).id)).kind, "late");
  proxy.closeAllConnections();
  proxy.close();
});
