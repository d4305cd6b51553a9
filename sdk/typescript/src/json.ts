import { FailedError } from "./errors.js";

const MOST_BYTES = 1 << 20;

/** The JSON of what a handler or step returns, or of the payload of a job; undefined for undefined. Throws what the attempt fails with. */
export function encoded(value: unknown, what: "RESULT" | "CHECKPOINT" | "PAYLOAD"): string | undefined {
  const subject = what === "PAYLOAD" ? "the payload of a job" : "what the handler returned";
  let json: string | undefined;
  try {
    json = written(value);
  } catch (trouble) {
    throw new FailedError(
      "USER_CODE",
      `${what}_NOT_JSON`,
      `${subject} cannot be written as JSON: ${trouble instanceof Error ? trouble.message : String(trouble)}`,
      { retryable: false, cause: trouble },
    );
  }
  // A character has three bytes at most in UTF-8.
  if (json !== undefined && json.length * 3 > MOST_BYTES) {
    const bytes = Buffer.byteLength(json);
    if (bytes > MOST_BYTES) {
      throw new FailedError(
        "USER_CODE",
        `${what}_TOO_LARGE`,
        `${subject} has ${bytes} bytes of JSON, and ${MOST_BYTES} is the most; store it elsewhere and say where`,
        { retryable: false },
      );
    }
  }
  return json;
}

/** Undefined and functions are written as nothing at all, which the type of JSON.stringify does not say. */
function written(value: unknown): string | undefined {
  return JSON.stringify(value);
}
