package dev.holdfast.app.error;

/** What the command line ends with. Documented in docs/cli.md; scripts rely on these numbers. */
public final class ExitCode {
  public static final int OK = 0;

  /** A bug in Holdfast, or an unexpected error. */
  public static final int UNEXPECTED = 1;

  /** An unknown command or option, or a value that cannot be. */
  public static final int USAGE = 2;

  /** The database, or the server, cannot be reached. */
  public static final int DATABASE_AWAY = 3;

  /** The database is there, but not fit: login refused, too old, unsafe, wrong schema. */
  public static final int DATABASE_UNFIT = 4;

  public static final int NOT_FOUND = 5;

  /** Understood, and refused: too large, not JSON, or not possible in the job's state. */
  public static final int REFUSED = 6;

  /** A folder or port of this machine cannot be had. */
  public static final int LOCAL_ERROR = 7;

  /** The watched job did not succeed. */
  public static final int JOB_NOT_SUCCEEDED = 8;

  /** Handlers could not be loaded. */
  public static final int HANDLERS = 9;

  /** A setting is unknown or wrong, or the API key is missing or not enough. */
  public static final int CONFIGURATION = 10;

  /** 'holdfast health' found something to do. */
  public static final int NOT_HEALTHY = 11;

  private ExitCode() {}
}
