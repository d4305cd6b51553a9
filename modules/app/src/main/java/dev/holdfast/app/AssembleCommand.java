package dev.holdfast.app;

import dev.holdfast.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The last part of the build: what every later start would have to do again. */
@Command(
    name = "assemble",
    hidden = true,
    description = "Make one jar of all, and unpack the embedded PostgreSQL.")
final class AssembleCommand implements Callable<Integer> {
  /** The system property that tells 'dev' where the server is. */
  static final String CACHE = "holdfast.cache";

  @Parameters(paramLabel = "DIR", description = "where to")
  Path folder = Path.of(".");

  @Override
  public Integer call() throws IOException {
    OneJar.write(
        folder.resolve("holdfast.jar"),
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(Path::of)
            .toList());
    EmbeddedPostgres.unpack(folder.resolve("postgres"));
    return ExitCode.OK;
  }
}
