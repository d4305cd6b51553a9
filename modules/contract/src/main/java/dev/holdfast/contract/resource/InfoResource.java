package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import java.util.List;

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
   * One problem.
   *
   * @param cliHint what to do about it, on the command line
   */
  public record Problem(String code, String message, String cliHint) {}
}
