import { storable } from "./errors.js";
import type { Ack } from "./outbox.js";

const INTERVAL_MS = 500;
const MESSAGE_CHARS = 4_000;

/** The progress of one attempt: at most twice a second, the latest of what the handler said. */
export class Progress {
  private next: { percent: number; message: string | undefined } | undefined;
  private sentAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly send: (percent: number, message: string | undefined) => Promise<Ack>,
    private readonly lost: () => void,
  ) {}

  show(percent: number, message: string | undefined): void {
    if (!(percent >= 0 && percent <= 100)) {
      throw new RangeError(`progress(${percent}): the percentage lies between 0 and 100`);
    }
    this.next = {
      percent: Math.floor(percent),
      message: message === undefined ? undefined : storable(message).slice(0, MESSAGE_CHARS),
    };
    this.timer ??= setTimeout(() => void this.flush(), Math.max(0, this.sentAt + INTERVAL_MS - Date.now()));
  }

  /** Resolves when the latest is durable, or cannot become so. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sending = this.sending.then(() => this.sendNow());
    return this.sending;
  }

  private async sendNow(): Promise<void> {
    const shown = this.next;
    if (shown === undefined) {
      return;
    }
    this.next = undefined;
    this.sentAt = Date.now();
    try {
      if ((await this.send(shown.percent, shown.message)) === "LEASE_LOST") {
        this.lost();
      }
    } catch {
      // Progress is no reason to fail the work.
    }
  }
}
