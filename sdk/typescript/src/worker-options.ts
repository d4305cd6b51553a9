import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { HoldfastError } from "./errors.js";
import type { ServerOptions } from "./http.js";
import { type Logger, STDERR } from "./log.js";

export interface WorkerOptions extends ServerOptions {
  /** The queues it serves, in turn; `default` unless given. */
  queues?: readonly string[];
  /** How many jobs it runs at once; 10 unless given. */
  concurrency?: number;
  /** How long a job is held without a heartbeat; 30 seconds unless given. Heartbeats are sent three times as often. */
  leaseMs?: number;
  /** How often to look for jobs that nothing announced; 1 second unless given. */
  pollMs?: number;
  /** How long `stop` waits for running jobs before it gives them back; 30 seconds unless given. */
  shutdownTimeoutMs?: number;
  /** How long a job of a kind without a handler here is left to other workers before it fails; 5 minutes unless given. */
  unknownKindsMs?: number;
  /**
   * How long a handler may block the event loop before heartbeats stop and other workers get the jobs; 10 minutes
   * unless given.
   */
  maxBlockedMs?: number;
  /** The name its leases carry; another one for every process. Host, process and a random word unless given. */
  name?: string;
  logger?: Logger;
}

export type Settings = Readonly<Required<Omit<WorkerOptions, keyof ServerOptions>>>;

/** Every value checked, with what would be right in the message. */
export function settingsOf(options: WorkerOptions): Settings {
  const settings: Settings = {
    queues: options.queues ?? ["default"],
    concurrency: options.concurrency ?? 10,
    leaseMs: options.leaseMs ?? 30_000,
    pollMs: options.pollMs ?? 1_000,
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? 30_000,
    unknownKindsMs: options.unknownKindsMs ?? 300_000,
    maxBlockedMs: options.maxBlockedMs ?? 600_000,
    name: options.name ?? `${hostname()}.${process.pid}.${randomBytes(3).toString("hex")}`.slice(-255),
    logger: options.logger ?? STDERR,
  };
  within("concurrency", settings.concurrency, 1, 100_000);
  within("leaseMs", settings.leaseMs, 100, 86_400_000);
  within("pollMs", settings.pollMs, 1, 60_000);
  within("shutdownTimeoutMs", settings.shutdownTimeoutMs, 0, 0x7fffffff);
  within("unknownKindsMs", settings.unknownKindsMs, 0, Number.MAX_SAFE_INTEGER);
  within("maxBlockedMs", settings.maxBlockedMs, 1_000, Number.MAX_SAFE_INTEGER);
  if (settings.queues.length === 0 || !settings.queues.every((queue) => /^[A-Za-z0-9][\w.-]{0,47}$/.test(queue))) {
    throw new HoldfastError(
      "bad_name",
      `queues is ${JSON.stringify(settings.queues)}: it must hold at least one name of letters, digits, '_', '.' and '-', 48 at most`,
    );
  }
  return settings;
}

function within(name: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new HoldfastError(
      "bad_option",
      `${name} is ${value}: it must be a whole number between ${least} and ${most}`,
    );
  }
}
