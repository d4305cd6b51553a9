package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
   * @param parameters what it is about, for clients that word it themselves
   * @param httpHint what to do about it, over HTTP
   */
  public record Problem(
      String code, Map<String, Object> parameters, String message, String httpHint) {
    public Problem {
      parameters =
          parameters == null
              ? Map.of()
              : Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    }
  }
}
