package dev.holdfast.app;

import dev.holdfast.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Part of the build: unpacks the embedded PostgreSQL, so that the first 'dev' need not. */
@Command(name = "unpack", hidden = true, description = "Unpack the embedded PostgreSQL.")
final class UnpackCommand implements Callable<Integer> {
  /** The system property that tells 'dev' where. */
  static final String CACHE = "holdfast.cache";

  @Parameters(paramLabel = "DIR", description = "where to")
  Path folder = Path.of(".");

  @Override
  public Integer call() {
    EmbeddedPostgres.unpack(folder);
    return ExitCode.OK;
  }
}
