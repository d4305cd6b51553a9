package dev.holdfast.server.routing;

import dev.holdfast.server.http.Answer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One operation of the API.
 *
 * @param template as in {@code /v1/jobs/{id}/cancel}
 * @param maxBody how many bytes of body it reads
 * @param queries the query parameters it has; others are refused
 */
public record Route(
    String method, String template, Guard guard, int maxBody, Set<String> queries, Action action) {
  /** Enough for a payload and the fields around it. */
  public static final int ONE_JOB = 3 << 20;

  public static final int SMALL = 64 << 10;

  private static final Set<String> IDS = Set.of("{id}", "{taskId}");

  /** Answers a call. */
  @FunctionalInterface
  public interface Action {
    Answer on(Call call) throws Exception;
  }

  public static Route get(String template, Guard guard, Action action) {
    return new Route("GET", template, guard, SMALL, Set.of(), action);
  }

  public static Route post(String template, Guard guard, Action action) {
    return new Route("POST", template, guard, ONE_JOB, Set.of(), action);
  }

  public static Route put(String template, Guard guard, Action action) {
    return new Route("PUT", template, guard, ONE_JOB, Set.of(), action);
  }

  public static Route patch(String template, Guard guard, Action action) {
    return new Route("PATCH", template, guard, ONE_JOB, Set.of(), action);
  }

  public static Route delete(String template, Guard guard, Action action) {
    return new Route("DELETE", template, guard, SMALL, Set.of(), action);
  }

  public Route maxBody(int bytes) {
    return new Route(method, template, guard, bytes, queries, action);
  }

  public Route queries(String... names) {
    return new Route(method, template, guard, maxBody, Set.of(names), action);
  }

  List<String> segments() {
    return Arrays.asList(template.substring(1).split("/", -1));
  }

  /** Whether a word of this template stands where the other one has an id. Both match one path. */
  boolean hasWordForIdOf(Route other) {
    List<String> own = segments();
    List<String> others = other.segments();
    return IntStream.range(0, own.size())
        .anyMatch(i -> !own.get(i).startsWith("{") && IDS.contains(others.get(i)));
  }

  /** The values of the template's variables; null if the path does not match. */
  @Nullable Map<String, String> match(List<String> path) {
    List<String> segments = segments();
    if (segments.size() != path.size()) {
      return null;
    }
    Map<String, String> values = new HashMap<>();
    for (int i = 0; i < path.size(); i++) {
      String segment = segments.get(i);
      if (segment.startsWith("{")) {
        values.put(segment.substring(1, segment.length() - 1), path.get(i));
      } else if (!segment.equals(path.get(i))) {
        return null;
      }
    }
    return values;
  }
}
