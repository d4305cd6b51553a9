import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { type CancelledError, FailedError } from "holdfast";
import { listen } from "./fetch-server.js";
import { aborted, call, ends, holdfast, newQueue, newWorker, sleep, slow, until } from "./fixtures.js";

const SECRET = "a-secret-of-enough-characters";

type Fetch = (request: Request) => Promise<Response>;

async function serve(t: TestContext, handle: Fetch): Promise<string> {
  const server = await listen(handle);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tasks`;
}

async function pushTo(t: TestContext, queue: string, url: string, secret = SECRET): Promise<void> {
  await call("PUT", `/v1/queues/${queue}/dispatch`, { url, secret, maxInFlight: 5 });
  t.after(() => call("DELETE", `/v1/queues/${queue}/dispatch`).catch(() => undefined));
}

test("a task that is pushed runs like one that is claimed", async (t) => {
  const queue = newQueue();
  const ran: string[] = [];
  const worker = newWorker(t, {}).handler("pushed", async (payload: { n: number }, ctx) => {
    ctx.progress(50, "half");
    ctx.log("one\ntwo");
    const n = await ctx.step("first", () => {
      ran.push("first");
      return payload.n + 1;
    });
    if (ctx.attempt === 1) {
      throw new FailedError("INFRASTRUCTURE", "BUSY", "again", { retryAfterMs: 1 });
    }
    return ctx.step("second", () => n + 1);
  });
  await pushTo(t, queue, await serve(t, worker.push({ secret: SECRET })));
  const { id } = await holdfast.enqueue({ kind: "pushed", queue, payload: { n: 1 } });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.result, job.attempt, job.progressMessage], [3, 2, "half"]);
  assert.deepEqual(ran, ["first"]);
  assert.match(await holdfast.log(id), /one\ntwo\n/);
});

test("a pushed task that is cancelled hears it with a heartbeat", async (t) => {
  const queue = newQueue();
  let reason: string | undefined;
  let began = false;
  const worker = newWorker(t, {}).handler("stops", async (_, ctx) => {
    began = true;
    reason = ((await aborted(ctx.signal)) as CancelledError).reason;
    ctx.checkCancelled();
  });
  await pushTo(t, queue, await serve(t, worker.push({ secret: SECRET, answer: "settled" })));
  const { id } = await holdfast.enqueue({ kind: "stops", queue });
  await until("it runs", () => began);
  await holdfast.cancel(id, "withdrawn");
  await ends(id, "CANCELLED");
  assert.equal(reason, "withdrawn");
});

slow("a pushed task lives longer than its heartbeat timeout", async (t) => {
  const queue = newQueue();
  const worker = newWorker(t, {}).handler("long", async () => {
    await sleep(10_000); // the server's is 8 seconds
    return "done";
  });
  await pushTo(t, queue, await serve(t, worker.push({ secret: SECRET })));
  const { id } = await holdfast.enqueue({ kind: "long", queue });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.result, job.attempt], ["done", 1]);
});

test("a wrong secret and a kind without a handler are refused", async (t) => {
  const queue = newQueue();
  const worker = newWorker(t, {}).handler("known", () => 1);
  const push = worker.push({ secret: SECRET });
  const url = await serve(t, push);
  await pushTo(t, queue, url);
  const unknown = await holdfast.enqueue({ kind: "unknown", queue });
  const failure = (await ends(unknown.id, "FAILED")).failure;
  assert.equal(failure?.code, "DISPATCH_REFUSED");
  assert.match(failure.message, /no handler for kind 'unknown'/);
  await pushTo(t, queue, url, "another-secret-long-enough");
  const known = await holdfast.enqueue({ kind: "known", queue });
  assert.match((await ends(known.id, "FAILED")).failure?.message ?? "", /401/);
  assert.equal((await push(new Request("http://localhost/"))).status, 405);
  const headers = { authorization: `Bearer ${SECRET}` };
  assert.equal((await push(new Request("http://localhost/", { method: "POST", body: "{}", headers }))).status, 400);
  assert.throws(() => newWorker(t, {}).push({ secret: "short" }), /16 to 1000 characters/);
});

test("a task whose dispatch is repeated is begun once", async (t) => {
  const queue = newQueue();
  let runs = 0;
  const worker = newWorker(t, {}).handler("once", () => ++runs);
  const push = worker.push({ secret: SECRET });
  let dispatches = 0;
  const url = await serve(t, async (request) => {
    const response = await push(request);
    // The first answer is lost on the way, as far as the server can tell.
    return ++dispatches === 1 ? new Response("", { status: 500 }) : response;
  });
  const { id } = await holdfast.enqueue({ kind: "once", queue });
  const [envelope] = (
    await call<{ tasks: object[] }>("POST", `/v1/queues/${queue}/lease`, { workerId: "hand", max: 1 })
  ).tasks;
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: JSON.stringify(envelope),
  };
  assert.equal((await fetch(url, init)).status, 500);
  assert.equal((await fetch(url, init)).status, 202);
  await ends(id, "SUCCEEDED");
  assert.equal(runs, 1);
});

test("a pushed task has events, artifacts, and a snooze that uses no budget", async (t) => {
  const queue = newQueue();
  const worker = newWorker(t, {}).handler("pushed", async (_, ctx) => {
    if (ctx.attempt < 3) {
      await ctx.event("mine", { attempt: ctx.attempt });
      throw ctx.snooze(1);
    }
    return (await ctx.publish("out.txt", new TextEncoder().encode("pushed"))).size;
  });
  await pushTo(t, queue, await serve(t, worker.push({ secret: SECRET })));
  const { id } = await holdfast.enqueue({ kind: "pushed", queue, maxAttempts: 1 });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.result, job.attempt, job.failures], [6, 3, 0]);
  assert.equal((await holdfast.timeline(id)).filter((event) => event.type === "mine").length, 2);
  assert.equal(new TextDecoder().decode(await holdfast.artifact(id, "out.txt")), "pushed");
});

test("a pushed task whose worker stops goes back without using budget", async (t) => {
  const queue = newQueue();
  let began = false;
  const worker = newWorker(t, {}).handler("long", async (_, ctx) => {
    began = true;
    await aborted(ctx.signal);
    ctx.checkCancelled();
  });
  await pushTo(t, queue, await serve(t, worker.push({ secret: SECRET })));
  const { id } = await holdfast.enqueue({ kind: "long", queue, maxAttempts: 1 });
  await until("it runs", () => began);
  await call("DELETE", `/v1/queues/${queue}/dispatch`);
  await worker.close(0);
  const job = await holdfast.get(id);
  assert.deepEqual([job.state, job.failures, job.crashes], ["PENDING", 0, 0]);
});
