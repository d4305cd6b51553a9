import { createHash, timingSafeEqual } from "node:crypto";
import { Attempt, type AttemptHost } from "./attempt.js";
import { HoldfastError, LeaseLostError } from "./errors.js";
import type { Envelope } from "./job.js";
import type { Held, LeaseKeeper } from "./lease-keeper.js";
import { monotonicMs } from "./pause.js";
import { TaskLink } from "./task-link.js";
import type { Registered } from "./worker.js";

export interface PushOptions {
  /** The secret that the queue's dispatch was set up with. */
  secret: string;
  /**
   * When to answer: `started`, as soon as the server knows that the work has begun, or `settled`, when it has ended,
   * for platforms that stop a program once it has answered. `started` unless given.
   */
  answer?: "started" | "settled";
}

export interface PushHost {
  readonly workerId: string;
  keeper(): LeaseKeeper;
  readonly closed: AbortSignal;
  handlerOf(kind: string): Registered | undefined;
  room(): boolean;
  readonly host: AttemptHost;
  began(attempt: Attempt): void;
}

const MOST_REMEMBERED = 10_000;
const MOST_BODY_CHARS = 3 << 20;

/** Receives tasks that the server pushes, and answers so that each is taken once. */
export class PushReceiver {
  private readonly digest: Buffer;
  /** Answers by dispatch: one whose answer was lost is sent again, and must not begin twice. */
  private readonly taken = new Map<string, Promise<Response>>();

  constructor(
    private readonly options: PushOptions,
    private readonly worker: PushHost,
  ) {
    if (!/^[!-~]{16,1000}$/.test(options.secret)) {
      throw new HoldfastError(
        "bad_secret",
        "the dispatch secret must have 16 to 1000 characters of printable ASCII, no spaces, as the server's has",
      );
    }
    this.digest = sha256(`Bearer ${options.secret}`);
  }

  async receive(request: Request): Promise<Response> {
    if (request.method !== "POST") {
      return answer(405, "method_not_allowed", "tasks are posted", { allow: "POST" });
    }
    if (!timingSafeEqual(sha256(request.headers.get("authorization") ?? ""), this.digest)) {
      return answer(401, "secret_wrong", "the secret of the queue's dispatch is not the one of this worker");
    }
    const text = await request.text();
    let task: Envelope;
    try {
      task = envelope(text);
    } catch {
      return answer(400, "bad_envelope", "the body is not the envelope of a task");
    }
    const before = this.taken.get(task.dispatchId);
    if (before) {
      return (await before).clone();
    }
    const handler = this.worker.handlerOf(task.kind);
    if (!handler) {
      return answer(422, "no_handler", `this worker has no handler for kind '${task.kind}'`);
    }
    if (!this.worker.room()) {
      // The server sends the task again, and then puts it back; its budget is not touched.
      return answer(503, "no_room", "this worker is busy or stopping", { "retry-after": "1" });
    }
    const taken = this.begin(task, handler);
    this.remember(task.dispatchId, taken);
    return (await taken).clone();
  }

  private remember(dispatchId: string, taken: Promise<Response>): void {
    this.taken.set(dispatchId, taken);
    if (this.taken.size > MOST_REMEMBERED) {
      for (const oldest of this.taken.keys()) {
        this.taken.delete(oldest);
        break;
      }
    }
  }

  private async begin(task: Envelope, { handler, strict }: Registered): Promise<Response> {
    const key = `${task.taskId}.${task.attempt}`;
    const keeper = this.worker.keeper();
    const link = new TaskLink(task, this.worker.workerId, key, keeper, this.worker.closed);
    const attempt = new Attempt(task, handler, link, this.worker.host);
    if (strict) {
      attempt.stopAfter(task.heartbeatTimeoutMs, monotonicMs());
    }
    this.worker.began(attempt);
    const held: Held = {
      lost: () => attempt.lost(),
      cancelled: (reason) => attempt.cancelled(reason),
      extended: (sentMs) => attempt.extended(sentMs),
      control: (asked) => attempt.control(asked),
      token: (fresh) => link.fresh(fresh),
    };
    keeper.holdTask(
      {
        key,
        id: task.taskId,
        attempt: task.attempt,
        workerId: this.worker.workerId,
        url: task.callbackBaseUrl,
        token: task.taskToken,
        intervalMs: task.heartbeatIntervalMs,
      },
      held,
    );
    try {
      await link.started();
    } catch (trouble) {
      link.ended();
      this.worker.host.left(attempt);
      this.worker.host.settled(attempt, undefined);
      this.taken.delete(task.dispatchId);
      return trouble instanceof LeaseLostError
        ? answer(200, "not_begun", "the task is not this worker's any more")
        : answer(503, "not_begun", "the server did not take the start of the task");
    }
    const run = attempt.run();
    if (this.options.answer === "settled") {
      await run;
    }
    return new Response(JSON.stringify({ taken: true }), {
      status: 202,
      headers: { "content-type": "application/json" },
    });
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function envelope(text: string): Envelope {
  const task = (text.length > MOST_BODY_CHARS ? {} : JSON.parse(text)) as Partial<Envelope>;
  if (
    typeof task.taskId !== "string" ||
    !/^[0-9a-fA-F-]{36}$/.test(task.taskId) ||
    typeof task.attempt !== "number" ||
    typeof task.kind !== "string" ||
    typeof task.dispatchId !== "string" ||
    typeof task.taskToken !== "string" ||
    typeof task.callbackBaseUrl !== "string" ||
    typeof task.heartbeatIntervalMs !== "number"
  ) {
    throw new TypeError("not an envelope");
  }
  return task as Envelope;
}

function answer(status: number, error: string, message: string, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ error, message }), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}
