import type { Logger } from "./log.js";

/** Says once that the server is away, and once that it answers again. */
export class Outage {
  private since: number | undefined;

  constructor(
    private readonly url: string,
    private readonly logger: Logger,
  ) {}

  begins(trouble: Error): void {
    if (this.since === undefined) {
      this.since = Date.now();
      this.logger.warn(`${trouble.message} (asked again until it answers)`);
    }
  }

  ends(): void {
    if (this.since !== undefined) {
      this.logger.info(`the server at ${this.url} answers again after ${(Date.now() - this.since) / 1000} s`);
      this.since = undefined;
    }
  }
}
