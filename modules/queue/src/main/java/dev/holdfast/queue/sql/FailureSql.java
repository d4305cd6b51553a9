package dev.holdfast.queue.sql;

/**
 * Expressions over a job's row that say what went wrong. The cause counts, not that the attempts
 * are used up: otherwise all jobs that failed for good would look the same.
 */
public final class FailureSql {
  /** Ids, addresses and numbers, which differ from one occurrence to the next. */
  private static final String VARYING =
      "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
          + "|0x[0-9a-fA-F]+|\\m[0-9a-fA-F]{16,}\\M|[0-9]+";

  private static final int MESSAGE_CHARS = 400;

  public static final String CODE =
      "coalesce(failure -> 'cause' ->> 'code', failure ->> 'code', '')";

  public static final String MESSAGE =
      "left(coalesce(failure -> 'cause' ->> 'message', failure ->> 'message', ''), %d)"
          .formatted(MESSAGE_CHARS);

  /** The message without what varies. */
  public static final String PATTERN =
      "regexp_replace(%s, '%s', '#', 'g')".formatted(MESSAGE, VARYING);

  /** Equal for failures of one kind with one code whose messages differ only in what varies. */
  public static final String SIGNATURE = signature(CODE, PATTERN);

  private FailureSql() {}

  /** {@link #SIGNATURE} of columns that hold code and pattern already. */
  public static String signature(String code, String pattern) {
    return "left(md5(concat_ws(chr(10), kind, %s, %s)), 16)".formatted(code, pattern);
  }
}
