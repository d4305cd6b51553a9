package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.Finding;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a client reads of a server's description of itself.
 *
 * @param problems what is wrong now; empty when all is well
 */
public record InfoResource(String version, Database database, List<Problem> problems) {
  /** The version of PostgreSQL, and of the schema in it. */
  public record Database(String version, int schemaVersion) {}

  public InfoResource {
    Wire.present("version", version);
    Wire.present("database", database);
    problems = problems == null ? List.of() : List.copyOf(problems);
  }

  /**
   * One problem and what to do about it.
   *
   * @param doNext over HTTP
   * @param doNextCommand on the command line
   */
  public record Problem(String code, String what, @Nullable String doNext, String doNextCommand) {
    public static Problem of(Finding finding) {
      return new Problem(
          finding.code(), finding.what(), finding.doNextOverHttp(), finding.doNext());
    }
  }
}
