package dev.holdfast.model;

/** Why a request was refused before anything was written. */
public enum Refusal {
  BAD_ID,
  BAD_NAME,
  BAD_KEY,
  BAD_PRIORITY,
  BAD_DELAY,
  BAD_BUDGET,
  BAD_TIMING,
  BAD_LIMIT,
  BAD_UNIQUE,
  BAD_DEPENDENCY,
  BAD_SCHEDULE,
  BAD_PROGRESS,
  TOO_MANY_JOBS,
  PAYLOAD_NOT_JSON,
  PAYLOAD_TOO_LARGE,
  PAYLOAD_MISMATCH,
  RESULT_NOT_JSON,
  RESULT_TOO_LARGE,
  EVENT_NOT_JSON,
  EVENT_TOO_LARGE
}
