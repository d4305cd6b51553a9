import { storable } from "./errors.js";
import type { Ack } from "./outbox.js";

const GATHER_MS = 100;
const INTERVAL_MS = 1_000;
const MOST_LINES = 1_000;
const MOST_CHARS = 60_000;

/**
 * The lines that a handler logs, sent about once a second. A handler that logs faster than the lines can be sent loses
 * the oldest of them, and waits for nobody.
 */
export class JobLog {
  private lines: string[] = [];
  private chars = 0;
  private firstLine = 1;
  private sentAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly send: (lines: string[], firstLine: number) => Promise<Ack>,
    private readonly lost: () => void,
  ) {}

  add(text: string): void {
    for (const line of storable(text)
      .replace(/\r?\n$/, "")
      .split(/\r?\n/)) {
      this.lines.push(line.slice(0, MOST_CHARS));
      this.chars += line.length;
    }
    while (this.lines.length > MOST_LINES || (this.chars > MOST_CHARS && this.lines.length > 1)) {
      this.chars -= (this.lines.shift() as string).length;
      this.firstLine++;
    }
    this.timer ??= setTimeout(() => void this.flush(), Math.max(GATHER_MS, this.sentAt + INTERVAL_MS - Date.now()));
  }

  /** Resolves when all lines so far are durable, or cannot become so. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sending = this.sending.then(() => this.sendNow());
    return this.sending;
  }

  private async sendNow(): Promise<void> {
    if (this.lines.length === 0) {
      return;
    }
    const lines = this.lines;
    const first = this.firstLine;
    this.lines = [];
    this.chars = 0;
    this.firstLine += lines.length;
    this.sentAt = Date.now();
    try {
      if ((await this.send(lines, first)) === "LEASE_LOST") {
        this.lost();
      }
    } catch {
      // Lines of a log are no reason to fail the work.
    }
  }

  /** Sends nothing more. */
  close(): void {
    clearTimeout(this.timer);
  }
}
