import type { StepBody, StepOptions } from "./context.js";
import { CancelledError, ChildFailedError, doesNotFit, FailedError, SuspendedError } from "./errors.js";
import { childId } from "./ids.js";
import type { Child, ChildEnd, ChildJob } from "./job.js";
import { encoded } from "./json.js";
import type { AttemptLink, ChildrenStart, StepStatus, Wait, WaitAnswer, WaitEnd } from "./link.js";
import type { StandardSchema } from "./schema.js";
import { shown } from "./schema.js";
import { type Asked, type Steps, whatIs } from "./steps.js";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}$/;
const MOST_STARTED = 100_000;
/** How many jobs one call tells of. */
const PART = 1_000;

/** How a wait of a sort may have ended. Another end is a newer server's. */
const ENDS: Readonly<Record<Wait["sort"], readonly string[]>> = {
  SLEEP: ["TIME"],
  SIGNAL: ["SIGNAL", "TIMEOUT"],
  APPROVAL: ["APPROVED", "REJECTED", "TIMEOUT"],
  CHILDREN: ["ENDED", "FAILED", "TIMEOUT"],
};

export interface SignalOptions {
  /** Of the wait; the name of the signal unless given. A handler that waits several times for one name gives each its own. */
  id?: string;
  /** How long at most; without a bound unless given. */
  withinMs?: number;
  /** Checks what was sent; what does not fit fails the job for good, and is kept. */
  payload?: StandardSchema;
}

/** What a person is asked. */
export interface Question {
  text: string;
  /** More to read before deciding. */
  details?: string;
  /** Who may decide; operators unless given. */
  role?: "operator" | "admin";
  /** How long it may take; without a bound unless given. */
  withinMs?: number;
  /** What happens when nobody has decided in time; `REJECT` unless given. `FAIL` fails the job with `NOT_DECIDED`. */
  afterwards?: "REJECT" | "APPROVE" | "FAIL";
}

/** What was decided. */
export interface Approval {
  readonly approved: boolean;
  /** Who has decided; undefined when nobody has in time. */
  readonly by: string | undefined;
  readonly at: string | undefined;
  readonly comment: string;
}

export interface JoinOptions {
  /** Waits for all, however they end, instead of cancelling the others once one has not succeeded. */
  collect?: boolean;
}

/** What waits need of their attempt. */
export interface WaitLink {
  suspend(index: number, wait: Wait): Promise<WaitAnswer>;
  startChildren(start: ChildrenStart): ReturnType<AttemptLink["startChildren"]>;
  childrenEnds(ids: string[]): Promise<ChildEnd[]>;
  /** The attempt is left; another job goes on with this payload. */
  goOnAs(payload: string): void | Promise<void>;
}

/** What is under way: nothing else may be meanwhile, since the attempt may end with it. */
class Open {
  refused: Error | undefined;
  over!: () => void;
  readonly end = new Promise<void>((resolve) => (this.over = resolve));

  constructor(readonly id: string) {}
}

/**
 * The waits of one attempt, and the jobs that it starts. What is over is read from the steps; any other wait is asked
 * for, and unless it is over the attempt ends there.
 */
export class Waits {
  private open: Open | undefined;
  private readonly started = new Set<string>();
  /** Those of the job that this one is a fork of: they have ended, and nobody would wake this one. */
  private readonly endedBefore = new Set<string>();

  constructor(
    private readonly jobId: string,
    private readonly link: WaitLink,
    private readonly steps: Steps,
    private readonly stopped: () => CancelledError | undefined,
  ) {}

  async step<T>(id: string, body: StepBody<T>, options?: StepOptions): Promise<T> {
    this.checkNotSuspended();
    this.checkFree(`step '${id}'`);
    return this.steps.run(id, body, options);
  }

  /** Throws in a handler that has gone on although its attempt has ended. */
  checkNotSuspended(): void {
    const stopped = this.stopped();
    if (stopped instanceof SuspendedError) {
      throw stopped;
    }
  }

  /**
   * The handler has left. A wait of which it has taken no notice is not begun; one that is on its way is heard.
   *
   * @returns what is wrong, if it has left before its wait was over
   */
  async handlerLeft(): Promise<Error | undefined> {
    const open = this.open;
    if (open === undefined) {
      return undefined;
    }
    open.refused ??= new Error(`the handler has left before '${open.id}' was over: await it`);
    await open.end;
    return open.refused;
  }

  sleep(id: string, ms: number): Promise<void> {
    return this.alone(id, async (open) => {
      await this.wait(open, { id, sort: "SLEEP", withinMs: span(id, ms) });
    });
  }

  sleepUntil(id: string, until: Date | string): Promise<void> {
    return this.alone(id, async (open) => {
      if (until instanceof Date && Number.isNaN(until.getTime())) {
        throw refusal("BAD_TIMING", `'${id}' sleeps until a date that is none`);
      }
      const moment = until instanceof Date ? until.toISOString() : until;
      await this.wait(open, { id, sort: "SLEEP", until: moment });
    });
  }

  awaitSignal(name: string, { id = name, withinMs, payload }: SignalOptions = {}): Promise<unknown> {
    return this.alone(id, async (open) => {
      const within = withinMs === undefined ? undefined : span(id, withinMs);
      const { end, brought } = await this.wait(open, { id, sort: "SIGNAL", signal: name, withinMs: within });
      if (end.outcome === "TIMEOUT") {
        return undefined;
      }
      return payload === undefined
        ? brought
        : fitting(`what '${id}' has got by the signal '${name}'`, brought, payload);
    });
  }

  approve(id: string, asked: string | Question): Promise<Approval> {
    return this.alone(id, async (open) => {
      const { withinMs, ...question } = typeof asked === "string" ? { text: asked } : asked;
      const within = withinMs === undefined ? undefined : span(id, withinMs);
      const { end } = await this.wait(open, { id, sort: "APPROVAL", question, withinMs: within });
      if (end.outcome === "TIMEOUT") {
        throw new FailedError("TIMEOUT", "NOT_DECIDED", `nobody has decided '${id}' in time: ${question.text}`);
      }
      return {
        approved: end.outcome === "APPROVED",
        by: end.by ?? undefined,
        at: end.at ?? undefined,
        comment: end.comment ?? "",
      };
    });
  }

  spawn(id: string, jobs: ChildJob | readonly ChildJob[]): Promise<Child | Child[]> {
    return this.alone(id, async (open) => {
      const many = Array.isArray(jobs);
      const children = await this.start(open, id, (many ? jobs : [jobs]) as readonly ChildJob[]);
      return many ? children : (children[0] as Child);
    });
  }

  join(id: string, children: readonly Child[], { collect = false }: JoinOptions = {}): Promise<ChildEnd[]> {
    return this.alone(id, (open) => this.joined(open, id, children, !collect));
  }

  any(id: string, children: readonly Child[]): Promise<ChildEnd> {
    return this.alone(id, async (open) => {
      if (children.length === 0) {
        throw new Error(`'${id}' waits for the first of no jobs, and would never be over`);
      }
      this.checkStarted(children);
      const first = await this.first(open, id, children);
      const child = children.find((each) => each.id === first);
      if (child === undefined) {
        throw new Error(
          `the first that has ended for '${id}' is job ${first ?? "?"}, which is none of these: ` +
            "wait for all that was started with them",
        );
      }
      return (await this.ends([child]))[0] as ChildEnd;
    });
  }

  map<I>(id: string, items: readonly I[], job: (item: I, index: number) => ChildJob): Promise<unknown[]> {
    return this.alone(id, async (open) => {
      const children = await this.start(open, id, items.map(job));
      const ends = await this.joined(open, `${id}:join`, children, true);
      return ends.map(({ id: child, result }) => {
        if (result === undefined) {
          const what = `the result of job ${child}, started by '${id}',`;
          throw doesNotFit(what, "there is none; spawn and join are for jobs whose results do not matter");
        }
        return result;
      });
    });
  }

  continueAs(payload: unknown): Promise<never> {
    return this.alone("continueAs", async () => {
      await this.link.goOnAs(encoded(payload, "PAYLOAD") ?? "{}");
      throw this.stopped() ?? new SuspendedError();
    });
  }

  // ---- what these are made of

  /** Does what may end the attempt, unless something else is under way. */
  private alone<T>(id: string, action: (open: Open) => Promise<T>): Promise<T> {
    const done = this.begin(id, action);
    // One that nobody awaits is told when the handler leaves, and must not end the process.
    done.catch(() => undefined);
    return done;
  }

  private async begin<T>(id: string, action: (open: Open) => Promise<T>): Promise<T> {
    const stopped = this.stopped();
    if (stopped !== undefined) {
      throw stopped;
    }
    checkName("id", id);
    this.checkFree(`'${id}'`);
    if (this.steps.isRunning()) {
      throw new Error(
        `'${id}' would end the attempt in the middle of a step: wait, start jobs and go on as another job ` +
          "in the handler itself, and neither in a step nor beside one",
      );
    }
    const open = (this.open = new Open(id));
    try {
      return await action(open);
    } catch (trouble) {
      throw this.stopped() ?? trouble;
    } finally {
      this.open = undefined;
      open.over();
    }
  }

  private checkFree(what: string): void {
    if (this.open !== undefined) {
      const refused = new Error(
        `${what} is asked for while '${this.open.id}' is under way: the attempt may end with it, so await one after the other`,
      );
      this.open.refused ??= refused;
      throw refused;
    }
  }

  /** How the wait has ended, if it has. */
  private async wait(open: Open, wait: Wait): Promise<{ end: WaitEnd; brought: unknown }> {
    checkName("id", wait.id);
    checkName("name", wait.signal ?? wait.id);
    const asked = await this.steps.ask(wait.id);
    const { status } = asked;
    if (isDone(asked)) {
      const end = status.waitEnd;
      if (!end || end.sort !== wait.sort || end.outcome === "STARTED") {
        throw new Error(
          `'${wait.id}' was ${whatIs(status)} before, and is a wait of the sort ${wait.sort} now: give it another id`,
        );
      }
      return { end: known(wait, end), brought: status.checkpoint ?? null };
    }
    await this.steps.redo(asked);
    throwIf(open.refused);
    const answer = await this.link.suspend(status.stepIndex, wait);
    if (answer.outcome === "SUSPENDED") {
      throw this.stopped() ?? new SuspendedError();
    }
    if (answer.outcome !== "OVER" || !answer.end) {
      throw unknownAnswer(wait, answer.outcome);
    }
    const end = known(wait, answer.end);
    this.steps.keep(status, end, answer.payload);
    return { end, brought: answer.payload ?? null };
  }

  private async start(open: Open, id: string, jobs: readonly ChildJob[]): Promise<Child[]> {
    const texts = written(id, jobs);
    const asked = await this.steps.ask(id);
    const { status } = asked;
    const there = isDone(asked);
    const starter = there ? mustBeAsMany(status, jobs.length, this.jobId) : this.jobId;
    if (!there) {
      await this.steps.redo(asked);
      throwIf(open.refused);
    }
    const time = there ? status.attempt : status.attempt + 1;
    let ids = jobs.map((_, place) => childId(starter, id, time, place));
    if (!there) {
      ids = (await this.link.startChildren({ id, index: status.stepIndex, ids, jobs: texts })) ?? [];
      if (ids.length !== jobs.length) {
        throw new Error(`the server has started ${ids.length} of ${jobs.length} jobs of '${id}'`);
      }
      this.steps.keep(status, { sort: "CHILDREN", outcome: "STARTED", jobs: jobs.length });
    }
    const children = ids.map((child) => ({ id: child, startedAs: id }));
    children.forEach((child) => {
      this.started.add(keyOf(child));
      if (starter !== this.jobId) {
        this.endedBefore.add(child.id);
      }
    });
    return children;
  }

  private async joined(open: Open, id: string, children: readonly Child[], failFast: boolean): Promise<ChildEnd[]> {
    this.checkStarted(children);
    const own = this.own(children);
    if (own.length > 0) {
      await this.wait(open, { id, sort: "CHILDREN", started: startedAs(own), failFast });
    } else if (children.length > 0) {
      await this.passed(id);
    }
    const ends = await this.ends(children);
    // One that has failed says more than those that were cancelled because of it.
    const bad = ends.find((end) => end.state === "FAILED") ?? ends.find((end) => end.state === "CANCELLED");
    if (failFast && bad !== undefined) {
      throw new ChildFailedError(bad);
    }
    return ends;
  }

  private async first(open: Open, id: string, children: readonly Child[]): Promise<string | undefined> {
    const own = this.own(children);
    if (own.length === children.length) {
      const { end } = await this.wait(open, { id, sort: "CHILDREN", started: startedAs(children), any: true });
      return end.job ?? undefined;
    }
    return (await this.passed(id))?.job ?? children.find((child) => this.endedBefore.has(child.id))?.id;
  }

  /** A wait for which there is nothing to wait any more. How it has ended for the job that this one is a fork of. */
  private async passed(id: string): Promise<WaitEnd | undefined> {
    const asked = await this.steps.ask(id);
    if (isDone(asked)) {
      return asked.status.waitEnd ?? undefined;
    }
    await this.steps.redo(asked);
    return undefined;
  }

  /** Those that this job has started itself. */
  private own(children: readonly Child[]): Child[] {
    return children.filter((child) => !this.endedBefore.has(child.id));
  }

  /** A wait for any other job might never end. */
  private checkStarted(children: readonly Child[]): void {
    const other = children.find((child) => !this.started.has(keyOf(child)));
    if (other !== undefined) {
      throw new Error(
        `job ${other.id} was not started as '${other.startedAs}' by this one: wait for what spawn has returned`,
      );
    }
  }

  private async ends(children: readonly Child[]): Promise<ChildEnd[]> {
    const ends: ChildEnd[] = [];
    for (let from = 0; from < children.length; from += PART) {
      ends.push(...(await this.link.childrenEnds(children.slice(from, from + PART).map((child) => child.id))));
    }
    if (ends.length < children.length) {
      const gone = `${children.length - ends.length} of ${children.length} have been deleted`;
      throw doesNotFit("how the jobs have ended that were started before", gone);
    }
    return ends;
  }
}

function isDone({ status, recovery }: Asked): boolean {
  return status.state === "DONE" && recovery === undefined;
}

/** Which job has started them: this one, or the one that it is a fork of. */
function mustBeAsMany(status: StepStatus, jobs: number, jobId: string): string {
  const end = status.waitEnd;
  if (end?.outcome !== "STARTED") {
    throw new Error(`'${status.stepId}' was ${whatIs(status)} before, and is a start of jobs now: give it another id`);
  }
  if (end.jobs !== jobs) {
    throw new Error(
      `'${status.stepId}' has started ${end.jobs ?? 0} jobs in an attempt before, and would start ${jobs} now: ` +
        "what it starts must follow from the payload and from steps",
    );
  }
  return end.job ?? jobId;
}

/** All are valid before any is started. */
function written(id: string, jobs: readonly ChildJob[]): string[] {
  if (jobs.length > MOST_STARTED) {
    throw refusal("BAD_LIMIT", `'${id}' would start ${jobs.length} jobs, and ${MOST_STARTED} is the most`);
  }
  return jobs.map((job, i) => {
    const { uniqueKey, dependsOn } = job as { uniqueKey?: unknown; dependsOn?: unknown };
    if (uniqueKey != null || dependsOn != null) {
      const why = "a job that another one starts has neither a unique key nor dependencies";
      throw refusal("BAD_UNIQUE", `job ${i} of '${id}': ${why}`);
    }
    if (job.payload !== undefined) {
      encoded(job.payload, "PAYLOAD");
    }
    return JSON.stringify({ ...job, id: undefined });
  });
}

function known(wait: Wait, end: WaitEnd): WaitEnd {
  if (!ENDS[wait.sort].includes(end.outcome)) {
    throw unknownAnswer(wait, end.outcome);
  }
  return end;
}

/** Another worker may know what a newer server says. */
function unknownAnswer(wait: Wait, outcome: string): FailedError {
  return new FailedError(
    "INFRASTRUCTURE",
    "UNKNOWN_ANSWER",
    `the wait '${wait.id}' has come to '${outcome}', which this version of the library does not know: is the server newer?`,
  );
}

async function fitting(what: string, value: unknown, schema: StandardSchema): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues !== undefined) {
    throw doesNotFit(what, result.issues.map(shown).join("; "));
  }
  return result.value;
}

function span(id: string, ms: number): number {
  if (!Number.isFinite(ms) || ms < 0) {
    throw refusal("BAD_DELAY", `'${id}' waits for ${ms} ms: a time to wait is in milliseconds, and zero or more`);
  }
  return Math.round(ms);
}

function checkName(what: string, name: string): void {
  if (!NAME.test(name)) {
    throw refusal(
      "BAD_NAME",
      `the ${what} '${name}': use up to 100 letters, digits and _ . : / -, and begin with a letter or a digit`,
    );
  }
}

function refusal(code: string, message: string): FailedError {
  return new FailedError("USER_CODE", code, message, { retryable: false });
}

function throwIf(refused: Error | undefined): void {
  if (refused !== undefined) {
    throw refused;
  }
}

function startedAs(children: readonly Child[]): string[] {
  return [...new Set(children.map((child) => child.startedAs))];
}

function keyOf(child: Child): string {
  return `${child.startedAs} ${child.id}`;
}
