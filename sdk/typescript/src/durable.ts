import type { JobContext, StepBody, StepOptions } from "./context.js";
import type { Child, ChildEnd, ChildJob } from "./job.js";
import type { StandardSchema } from "./schema.js";
import type { Approval, JoinOptions, Question, SignalOptions, Waits } from "./waits.js";

type Durable = Pick<
  JobContext,
  "step" | "sleep" | "sleepUntil" | "awaitSignal" | "approve" | "spawn" | "join" | "any" | "map" | "continueAs"
>;

/** The part of a context that is the same in every thread: steps, waits and the jobs that a handler starts. */
export abstract class DurableContext implements Durable {
  protected abstract waits(): Waits;

  step<T>(id: string, body: StepBody<T>, options?: StepOptions): Promise<T> {
    return this.waits().step(id, body, options);
  }

  sleep(id: string, ms: number): Promise<void> {
    return this.waits().sleep(id, ms);
  }

  sleepUntil(id: string, until: Date | string): Promise<void> {
    return this.waits().sleepUntil(id, until);
  }

  awaitSignal<T>(name: string, options?: SignalOptions & { payload?: StandardSchema }): Promise<T> {
    return this.waits().awaitSignal(name, options) as Promise<T>;
  }

  approve(id: string, question: string | Question): Promise<Approval> {
    return this.waits().approve(id, question);
  }

  spawn(id: string, job: ChildJob): Promise<Child>;
  spawn(id: string, jobs: readonly ChildJob[]): Promise<Child[]>;
  spawn(id: string, jobs: ChildJob | readonly ChildJob[]): Promise<Child | Child[]> {
    return this.waits().spawn(id, jobs);
  }

  join<R>(id: string, children: readonly Child[], options?: JoinOptions): Promise<ChildEnd<R>[]> {
    return this.waits().join(id, children, options) as Promise<ChildEnd<R>[]>;
  }

  any<R>(id: string, children: readonly Child[]): Promise<ChildEnd<R>> {
    return this.waits().any(id, children) as Promise<ChildEnd<R>>;
  }

  map<I, R>(id: string, items: readonly I[], job: (item: I, index: number) => ChildJob): Promise<R[]> {
    return this.waits().map(id, items, job) as Promise<R[]>;
  }

  continueAs(payload: unknown): Promise<never> {
    return this.waits().continueAs(payload);
  }
}
