/** Where a worker says what an operator should know; `console` fits. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string, cause?: unknown): void;
}

/** For people who read standard error: a time, a level, a sentence. */
export const STDERR: Logger = {
  info: (message) => write("INFO", message),
  warn: (message) => write("WARN", message),
  error: (message, cause) =>
    write("ERROR", cause instanceof Error ? `${message}: ${cause.stack ?? cause.message}` : message),
};

function write(level: string, message: string): void {
  process.stderr.write(`${new Date().toISOString()} ${level.padEnd(5)} holdfast: ${message}\n`);
}
