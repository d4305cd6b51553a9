/** A client typed by nothing but what openapi-typescript makes of the document; it has to compile. */
import type { components, operations } from "./openapi.js";

type Schemas = components["schemas"];
type Body<O extends keyof operations> = operations[O] extends { requestBody?: { content: { "application/json": infer B } } } ? B : never;
type Answer<O extends keyof operations, S extends keyof operations[O]["responses"]> = operations[O]["responses"][S] extends {
  content: { "application/json": infer A };
}
  ? A
  : never;
type Problem<O extends keyof operations, S extends keyof operations[O]["responses"]> = operations[O]["responses"][S] extends {
  content: { "application/problem+json": infer P };
}
  ? P
  : never;

async function call(path: string, body: unknown): Promise<Response> {
  return fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

export async function enqueue(job: Body<"submitJobs">): Promise<string> {
  const response = await call("/v1/jobs", job);
  if (response.status === 409) {
    const problem = (await response.json()) as Problem<"submitJobs", 409>;
    const error: "id_taken" | "unique_key_held" = problem.error;
    throw new Error(`${problem.status} ${problem.title}: ${problem.detail} (${error})`);
  }
  const answer = (await response.json()) as Answer<"submitJobs", 201>;
  return "jobs" in answer ? (answer.jobs[0]?.id ?? "") : answer.id;
}

export async function work(queue: string): Promise<Schemas["JobState"][]> {
  const request: Body<"leaseTasks"> = { workerId: "w1", max: 10, waitMs: 20_000 };
  const leased = (await (await call(`/v1/queues/${queue}/lease`, request)).json()) as Answer<"leaseTasks", 200>;
  const states: Schemas["JobState"][] = [];
  for (const task of leased.tasks) {
    const timeout: number | null | undefined = task.timeoutMs;
    const done: Body<"taskCompleted"> =
      timeout === 0
        ? { attempt: task.attempt, workerId: "w1", outcome: "SNOOZED", delayMs: 1000 }
        : { attempt: task.attempt, workerId: "w1", outcome: "SUCCEEDED", output: { of: task.payload } };
    const answer = (await (await call(`/v1/tasks/${task.taskId}/completed`, done)).json()) as Answer<"taskCompleted", 200>;
    states.push(answer.finalState);
  }
  return states;
}

export const wanted: Body<"submitJobs"> = { jobs: [{ kind: "resize", payload: { width: 100 } }, { kind: "resize", priority: 1 }] };

// @ts-expect-error: a job needs a kind.
export const refused: Body<"submitJobs"> = { payload: {} };
