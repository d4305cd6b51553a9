import { Holdfast } from "holdfast";

for await (const event of new Holdfast().events({ topics: ["queue:jobs"] })) {
  const { jobs = [] } = event.data as { jobs?: { id: string; state: string }[] };
  jobs.forEach((job) => console.log(job.id, job.state));
}
