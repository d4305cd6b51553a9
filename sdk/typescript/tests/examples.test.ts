/** The examples that the README shows, each run as it is. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { adminKey, call, ends, freePort, holdfast, newQueue, until, url, workerKey } from "./fixtures.js";
import { type Program, startProcess } from "./program.js";

const SECRET = "a-secret-of-the-examples";

function start(t: TestContext, name: string, key = workerKey): Program {
  const file = join(import.meta.dirname, "../examples", `${name}.js`);
  const program = startProcess(process.execPath, [file], ".", {
    HOLDFAST_SERVER_URL: url,
    HOLDFAST_SERVER_API_KEY: key,
  });
  t.after(() => program.process.kill("SIGKILL"));
  return program;
}

test("the worker and the program that enqueues", async (t) => {
  await start(t, "worker").line(/serves images/);
  const enqueue = start(t, "enqueue", adminKey);
  await enqueue.line(/^SUCCEEDED 5 no failure$/m);
  assert.equal(await enqueue.exited, 0);
});

test("the worker with steps", async (t) => {
  await start(t, "steps").line(/serves texts/);
  const { id } = await holdfast.enqueue({ kind: "ingest", queue: "texts", payload: { url: "data:,one%20two" } });
  assert.deepEqual((await ends(id, "SUCCEEDED")).result, { words: 2 });
});

test("the durable worker", async (t) => {
  await start(t, "durable").line(/serves onboarding/);
  const payload = { name: "Ada", pages: ["one", "one two"], trialMs: 300 };
  const { id } = await holdfast.enqueue({ kind: "onboard", queue: "onboarding", payload });
  await holdfast.signal(id, "contract", { number: "C-17" });
  await until("the question", async () => (await holdfast.get(id)).waitsFor?.id === "limit");
  await holdfast.decide(id, { waitId: "limit", approved: true });
  assert.deepEqual((await ends(id, "SUCCEEDED")).result, { contract: "C-17", limit: true, words: [1, 2] });
});

test("the worker that computes in a thread", async (t) => {
  await start(t, "compute").line(/serves hashes/);
  const { id } = await holdfast.enqueue({ kind: "stretch", queue: "hashes", payload: { text: "a" } });
  assert.match((await ends<string>(id, "SUCCEEDED")).result ?? "", /^[0-9a-f]{64}$/);
});

test("the worker that fails", async (t) => {
  await start(t, "failing").line(/serves payments/);
  const { id } = await holdfast.enqueue({ kind: "charge", queue: "payments", payload: { cents: 0 } });
  assert.equal((await ends(id, "FAILED")).failure?.code, "BAD_AMOUNT");
});

test("the program that hears of events", async (t) => {
  const events = start(t, "events", adminKey);
  const enqueue = async (): Promise<string> => (await holdfast.enqueue({ kind: "x", queue: newQueue() })).id;
  // The first ones may come before it listens.
  const timer = setInterval(() => void enqueue(), 500);
  t.after(() => clearInterval(timer));
  await events.line(/^[0-9a-f-]{36} PENDING$/m);
});

test("the worker that tasks are pushed to", async (t) => {
  const port = await freePort();
  const serve = join(import.meta.dirname, "serve.js");
  const push = join(import.meta.dirname, "../examples/push.js");
  const program = startProcess(process.execPath, [serve, push, String(port)], ".", { DISPATCH_SECRET: SECRET });
  await program.line(/^ready$/m);
  const queue = newQueue();
  t.after(async () => {
    await call("DELETE", `/v1/queues/${queue}/dispatch`);
    program.process.kill("SIGKILL");
  });
  await call("PUT", `/v1/queues/${queue}/dispatch`, { url: `http://127.0.0.1:${port}/`, secret: SECRET });
  const { id } = await holdfast.enqueue({ kind: "resize", queue, payload: { url: "data:,a" } });
  assert.deepEqual((await ends(id, "SUCCEEDED")).result, { resized: "data:,a" });
});
