import assert from "node:assert/strict";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { test, type TestContext } from "node:test";
import { Holdfast, type JobStatus, type Logger, type Worker, type WorkerOptions } from "holdfast";

export const url = needed("TEST_URL");
export const adminKey = needed("TEST_ADMIN");
export const workerKey = needed("TEST_WORKER");

function needed(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run the tests with ./test`);
  return value;
}

/** A test that waits for long, and is left out of a short run. */
export function slow(name: string, run: (t: TestContext) => Promise<void>): void {
  void test(name, { skip: process.env["TEST_QUICK"] !== undefined && "left out of a short run" }, run);
}

export const holdfast = new Holdfast({ url, apiKey: adminKey });

let queues = 0;

/** A queue that nobody else uses. */
export function newQueue(): string {
  return `ts-${process.pid}-${Date.now()}-${++queues}`;
}

/** What a worker said. */
export class Messages implements Logger {
  readonly all: string[] = [];
  info = (message: string): void => void this.all.push(message);
  warn = (message: string): void => void this.all.push(message);
  error = (message: string, cause?: unknown): void => void this.all.push(`${message} ${String(cause)}`);
}

/** A worker with a key of role worker, which is stopped with its test. */
export function newWorker(t: TestContext, options: WorkerOptions): Worker {
  const worker = new Holdfast({ url, apiKey: workerKey }).worker({ logger: new Messages(), ...options });
  t.after(() => worker.close(0));
  return worker;
}

export async function until(what: string, isTrue: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await isTrue())) {
    assert.ok(Date.now() < end, `not within ${ms} ms: ${what}`);
    await sleep(20);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves when the signal aborts, with its reason. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(signal.reason);
    }
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}

/** Ends as expected, or the test says how it ended. */
export async function ends<R = unknown>(id: string, state: JobStatus["state"], ms = 60_000): Promise<JobStatus<R>> {
  const job = await holdfast.wait<R>(id, { timeoutMs: ms });
  assert.equal(job.state, state, JSON.stringify({ failure: job.failure, timeline: await holdfast.timeline(id) }));
  return job;
}

/** An HTTP call with the admin's key. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${adminKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/** A port that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Stands between a worker and the server, and does harm to some requests. */
export class FaultyProxy {
  /** Whether this answer is lost, although the server has done what was asked. */
  loses: (path: string, answer: string) => boolean = () => false;
  /** Whether this request is cut off before the server sees it. */
  cuts: (path: string) => boolean = () => false;
  /** When given, the answer is held back until it resolves. */
  holds: (path: string) => Promise<void> | undefined = () => undefined;
  /** When given, the request is answered with it instead. */
  answers: (path: string) => number | undefined = () => undefined;
  readonly seen: string[] = [];
  /** From which event each stream wanted to go on. */
  readonly resumed: (string | undefined)[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(t: TestContext): Promise<FaultyProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const proxy = new FaultyProxy(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on("request", (request, response) => proxy.pass(request, response));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return proxy;
  }

  /** Ends every request that is under way. */
  cutAll(): void {
    this.server.closeAllConnections();
  }

  private pass(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "/";
    this.seen.push(path);
    if (path.startsWith("/v1/events")) {
      this.resumed.push(request.headers["last-event-id"] as string | undefined);
    }
    if (this.cuts(path)) {
      request.socket.destroy();
      return;
    }
    const status = this.answers(path);
    if (status !== undefined) {
      request.resume();
      response.writeHead(status, { "content-type": "application/json" }).end('{"error":"faulty"}');
      return;
    }
    const onward = httpRequest(url + path, { method: request.method, headers: request.headers }, (answer) => {
      if (path.startsWith("/v1/events")) {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
        return;
      }
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const body = Buffer.concat(chunks);
        if (this.loses(path, body.toString())) {
          request.socket.destroy();
        } else {
          void Promise.resolve(this.holds(path)).then(() =>
            response.writeHead(answer.statusCode ?? 500, answer.headers).end(body),
          );
        }
      });
    });
    onward.on("error", () => request.socket.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }
}
