/** A clock that is not set, and is the same in all threads of the process. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Resolves after that time, and at once when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Pauses that double from call to call up to a limit, each between half of it and all of it. */
export class Backoff {
  private nextMs: number;

  constructor(
    private readonly firstMs = 100,
    private readonly longestMs = 10_000,
  ) {
    this.nextMs = firstMs;
  }

  /** @param atLeastMs such as what the server said with `Retry-After` */
  next(atLeastMs = 0): number {
    const ms = this.nextMs * (0.5 + Math.random() / 2);
    this.nextMs = Math.min(this.longestMs, this.nextMs * 2);
    return Math.max(ms, atLeastMs);
  }

  reset(): void {
    this.nextMs = this.firstMs;
  }
}
