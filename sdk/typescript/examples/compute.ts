import { Worker } from "holdfast";

const worker = new Worker({ queues: ["hashes"], concurrency: 4 });
worker.handler("stretch", new URL("./stretch.js", import.meta.url));
await worker.run();
