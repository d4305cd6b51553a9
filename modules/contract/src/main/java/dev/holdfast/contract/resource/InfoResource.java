package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.Operator;
import java.util.List;

/**
 * What a client reads of a server's description of itself.
 *
 * @param problems what is wrong now; empty when all is well
 */
public record InfoResource(String version, Database database, List<Operator.Problem> problems) {
  /** The version of PostgreSQL, and of the schema in it. */
  public record Database(String version, int schemaVersion) {}

  public InfoResource {
    Wire.present("version", version);
    Wire.present("database", database);
    problems = problems == null ? List.of() : List.copyOf(problems);
  }
}
