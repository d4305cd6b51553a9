/** A client typed by what openapi-typescript makes of openapi.yaml; it only has to compile. */
import type { components, operations, paths } from "./openapi.js";

type Body<O extends keyof operations> = operations[O] extends {
  requestBody?: { content: { "application/json": infer B } };
}
  ? B
  : never;
type Answer<O extends keyof operations, S extends number> = operations[O] extends {
  responses: { [K in S]: { content: { "application/json": infer A } } };
}
  ? A
  : never;

async function post<O extends keyof operations>(path: keyof paths & string, body: Body<O>): Promise<unknown> {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

export async function enqueue(): Promise<string> {
  const answer = (await post<"submitJobs">("/v1/jobs", {
    kind: "resize",
    payload: { width: 100 },
  })) as Answer<"submitJobs", 201>;
  return "jobs" in answer ? (answer.jobs[0]?.id ?? "") : answer.id;
}

export async function lease(): Promise<components["schemas"]["TaskEnvelope"][]> {
  const answer = (await post<"leaseTasks">("/v1/queues/{queue}/lease", {
    workerId: "w1",
    max: 10,
  })) as Answer<"leaseTasks", 200>;
  return answer.tasks;
}

export function state(job: components["schemas"]["Job"]): "SUCCEEDED" | "other" {
  return job.state === "SUCCEEDED" ? "SUCCEEDED" : "other";
}
