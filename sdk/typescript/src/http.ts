import { HoldfastError, KeyRefusedError, NotFoundError, RefusedError, ServerUnavailableError } from "./errors.js";

/** An API key, or a function that has it: it is called for each request. */
export type ApiKey = string | (() => string | Promise<string>);

export interface ServerOptions {
  /** Such as `https://jobs.example.org`; `HOLDFAST_SERVER_URL`, or `http://127.0.0.1:8420`, unless given. */
  url?: string | undefined;
  /**
   * `HOLDFAST_SERVER_API_KEY` unless given; none for a server on this machine that has no keys yet. A function is called
   * for each request, and again when the server has refused what it gave, so that a key is rotated without a restart.
   */
  apiKey?: ApiKey | undefined;
}

export interface CallOptions {
  body?: unknown;
  /** JSON that is written already. */
  json?: string;
  /** What is sent instead of JSON. */
  bytes?: Uint8Array;
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
}

/** Longer than the server waits for its database, so that the server can answer what is wrong. */
export const TIMEOUT_MS = 40_000;

const MESSAGE_CHARS = 500;

/** One server: sends a request and turns what is not 2xx into one of the errors of this library. */
export class Server {
  readonly url: string;
  /** Called when a function that has the key gave another one. */
  onKey: (key: string) => void = () => undefined;
  private readonly given: ApiKey | undefined;
  private last: string | undefined;

  constructor(options: ServerOptions = {}) {
    this.url = address(options.url ?? process.env["HOLDFAST_SERVER_URL"] ?? "http://127.0.0.1:8420");
    this.given = options.apiKey ?? process.env["HOLDFAST_SERVER_API_KEY"];
    this.last = typeof this.given === "function" ? undefined : key(this.given);
  }

  /** The key that was used last. */
  get apiKey(): string | undefined {
    return this.last;
  }

  /** Asks for the key, if it is a function that has it. */
  async freshKey(): Promise<string | undefined> {
    if (typeof this.given === "function") {
      let fresh: string | undefined;
      try {
        fresh = key(await this.given());
      } catch (trouble) {
        const why = trouble instanceof Error ? trouble.message : String(trouble);
        throw new ServerUnavailableError("no_key", `the function that has the API key failed: ${why}`, {
          cause: trouble,
          mayHaveHappened: false,
        });
      }
      if (fresh !== undefined && fresh !== this.last) {
        this.last = fresh;
        this.onKey(fresh);
      }
    }
    return this.last;
  }

  get<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call("GET", path, options);
  }

  post<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call("POST", path, options);
  }

  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    return parsed(this.url, await this.read(method, path, options, (response) => response.text())) as T;
  }

  /** The content of the answer, whatever it is. */
  download(path: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.read("GET", path, options, async (response) => new Uint8Array(await response.arrayBuffer()));
  }

  private async read<T>(
    method: string,
    path: string,
    options: CallOptions,
    content: (response: Response) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    // A controller of its own for each call: AbortSignal.any would hold on to a long-lived signal.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new TimeoutReason()), timeoutMs);
    const onAbort = (): void => controller.abort(options.signal?.reason);
    options.signal?.throwIfAborted();
    options.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const response = await this.send(method, path, options, controller.signal);
      if (!response.ok) {
        throw refusal(this.url, response, await response.text());
      }
      return await content(response);
    } catch (trouble) {
      if (trouble instanceof HoldfastError) {
        throw trouble;
      }
      options.signal?.throwIfAborted();
      throw unreachable(this.url, trouble, timeoutMs);
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", onAbort);
    }
  }

  /** The answer as it comes, for streams; whoever calls reads or cancels its body. */
  async open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      response = await this.send("GET", path, { headers }, signal);
    } catch (trouble) {
      signal.throwIfAborted();
      throw trouble instanceof HoldfastError ? trouble : unreachable(this.url, trouble, TIMEOUT_MS);
    }
    if (!response.ok) {
      throw refusal(this.url, response, await response.text().catch(() => ""));
    }
    return response;
  }

  private async send(method: string, path: string, options: CallOptions, signal: AbortSignal): Promise<Response> {
    if (options.headers?.["authorization"] !== undefined) {
      return this.request(method, path, options, signal, undefined);
    }
    const used = await this.freshKey();
    const response = await this.request(method, path, options, signal, used);
    if (response.status !== 401 || typeof this.given !== "function" || (await this.freshKey()) === used) {
      return response;
    }
    await response.body?.cancel();
    return this.request(method, path, options, signal, this.last);
  }

  private request(
    method: string,
    path: string,
    options: CallOptions,
    signal: AbortSignal,
    apiKey: string | undefined,
  ): Promise<Response> {
    const body =
      options.bytes ?? options.json ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const type = options.bytes === undefined ? "application/json" : "application/octet-stream";
    return fetch(this.url + path, {
      method,
      redirect: "error",
      signal,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": type }),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  }
}

class TimeoutReason extends Error {}

function address(text: string): string {
  // The text itself is not repeated: somebody may have put a password into it.
  const form = "the server's address must be of the form http://host:port or https://host:port";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.username || url.search || url.hash) {
    throw new HoldfastError("bad_url", `${form}; give it as 'url' or in HOLDFAST_SERVER_URL`);
  }
  return url.href.replace(/\/+$/, "");
}

function key(text: string | undefined): string | undefined {
  if (text === undefined || /^[!-~]+$/.test(text)) {
    return text;
  }
  throw new HoldfastError(
    "bad_key",
    "the API key is empty, or holds a space, a line break or something else that no key has; " +
      "give it as 'apiKey' or in HOLDFAST_SERVER_API_KEY",
  );
}

function parsed(url: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (notJson) {
    throw new HoldfastError("not_holdfast", `what ${url} answers is not JSON: is it a Holdfast server?`, {
      cause: notJson,
    });
  }
}

/** The error that an answer stands for. */
function refusal(url: string, response: Response, text: string): HoldfastError {
  const { error, message } = problem(text);
  const status = response.status;
  const said = `${error || status}: ${message}`;
  switch (status) {
    case 401:
      return new KeyRefusedError(
        error || "key_invalid",
        `the server at ${url} does not accept the API key (${said}); ` +
          "make one with 'holdfast keys create' and give it as 'apiKey' or in HOLDFAST_SERVER_API_KEY",
        { status },
      );
    case 403:
      return new KeyRefusedError(
        error || "forbidden",
        `the server at ${url} does not permit this (${said}); clients need a key of role submitter or operator, workers one of role worker`,
        { status },
      );
    case 404:
      return new NotFoundError(error || "not_found", message || `${url} does not know this path`, { status });
    case 429:
    case 502:
    case 503:
    case 504:
      return new ServerUnavailableError(error || "unavailable", `the server at ${url} answers ${status}: ${message}`, {
        status,
        retryAfterMs: retryAfter(response),
        mayHaveHappened: status === 502 || status === 504,
      });
    default:
      return status < 500
        ? new RefusedError(error || "refused", message || `the server at ${url} answers ${status}`, {
            status,
          })
        : new HoldfastError(error || "internal", `the server at ${url} failed (${said}); its log says why`, {
            status,
          });
  }
}

/** A proxy between here and the server may answer in words of its own. */
function problem(text: string): { error: string; message: string } {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    return { error: string(error), message: string(message).slice(0, MESSAGE_CHARS) };
  } catch {
    return { error: "", message: text.slice(0, MESSAGE_CHARS) };
  }
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function unreachable(url: string, trouble: unknown, timeoutMs: number): ServerUnavailableError {
  const cause = trouble instanceof Error && trouble.cause !== undefined ? trouble.cause : trouble;
  const code = codeOf(cause);
  const why =
    cause instanceof TimeoutReason
      ? `no answer within ${timeoutMs / 1000} s`
      : code === "ECONNREFUSED"
        ? "nobody listens there; is it running, and is this its port?"
        : code === "ENOTFOUND"
          ? "there is no such host; check the address"
          : cause instanceof Error
            ? cause.message || code
            : String(cause);
  return new ServerUnavailableError(code || "unreachable", `the server at ${url} does not answer: ${why}`, {
    cause,
    mayHaveHappened: code !== "ECONNREFUSED" && code !== "ENOTFOUND",
  });
}

function codeOf(cause: unknown): string {
  const { code, errors } = (cause ?? {}) as { code?: unknown; errors?: unknown[] };
  return string(code) || (errors?.[0] === undefined ? "" : codeOf(errors[0]));
}
