import { HoldfastError, ServerUnavailableError } from "./errors.js";
import type { Server } from "./http.js";
import { Backoff, pause } from "./pause.js";

export interface EventOptions {
  /** `*` stands for anything: `queue:*`, `worker:tag:*`. All topics unless given. */
  topics?: readonly string[];
  signal?: AbortSignal;
  /** The id of the last event that was heard, to go on from there. */
  lastEventId?: string;
}

export interface LiveEvent {
  /** The topic, such as `queue:jobs`; `reset` means: forget what was heard before. */
  topic: string;
  data: unknown;
  id: string | undefined;
}

/** The server sends a comment every 15 seconds; a stream that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/** Reads the stream, and opens it again from the last event when it ends. */
export async function* streamEvents(server: Server, options: EventOptions): AsyncGenerator<LiveEvent, void> {
  let last = options.lastEventId;
  const backoff = new Backoff(200, 10_000);
  const query = options.topics ? `?topics=${encodeURIComponent(options.topics.join(","))}` : "";
  while (!options.signal?.aborted) {
    const connection = new AbortController();
    const onAbort = (): void => connection.abort(options.signal?.reason);
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const watch = setTimeout(() => connection.abort(), SILENCE_MS);
    let leastMs = 0;
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (last !== undefined) {
        headers["last-event-id"] = last;
      }
      const response = await server.open(`/v1/events${query}`, headers, connection.signal);
      if (response.body === null) {
        throw new HoldfastError("not_holdfast", `${server.url} answers a stream of events without a body`);
      }
      for await (const event of parsed(response.body, () => watch.refresh())) {
        backoff.reset();
        last = event.id ?? last;
        yield event;
      }
    } catch (trouble) {
      const ended = trouble instanceof ServerUnavailableError || !(trouble instanceof HoldfastError);
      if (!ended) {
        throw trouble;
      }
      leastMs = trouble instanceof ServerUnavailableError ? (trouble.retryAfterMs ?? 0) : 0;
    } finally {
      clearTimeout(watch);
      options.signal?.removeEventListener("abort", onAbort);
      connection.abort();
    }
    await pause(backoff.next(leastMs), options.signal);
  }
}

/** Server-sent events, as the HTML standard has them. */
async function* parsed(body: AsyncIterable<Uint8Array>, alive: () => void): AsyncGenerator<LiveEvent, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let topic = "message";
  let id: string | undefined;
  let data: string[] = [];
  for await (const chunk of body) {
    alive();
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be the first half of a line break.
    const whole = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    const lines = rest.slice(0, whole).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + rest.slice(whole);
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) {
          yield { topic, data: JSON.parse(data.join("\n")) as unknown, id };
        }
        topic = "message";
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") {
        topic = value;
      } else if (field === "data") {
        data.push(value);
      } else if (field === "id") {
        id = value;
      }
    }
  }
}
