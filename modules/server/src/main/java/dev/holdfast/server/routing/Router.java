package dev.holdfast.server.routing;

import dev.holdfast.server.http.Problem;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Finds the route of a path. The prefix {@code /api} is optional. */
public final class Router {
  /** Allowed wherever GET is. */
  static final String HEAD = "HEAD";

  private final List<Route> routes;

  public Router(List<Route> routes) {
    this.routes = List.copyOf(routes);
  }

  /** A route, and the values of its template's variables. */
  public record Found(Route route, Map<String, String> values) {}

  public Found find(String method, String rawPath) {
    List<String> path = segments(rawPath);
    if (path.size() > 1 && path.getFirst().equals("api")) {
      path = path.subList(1, path.size());
    }
    boolean isHead = method.equals(HEAD);
    TreeSet<String> others = new TreeSet<>();
    for (Found found : matching(path)) {
      String its = found.route().method();
      if (its.equals(method) || (isHead && its.equals("GET"))) {
        return found;
      }
      others.add(its);
      if (its.equals("GET")) {
        others.add(HEAD);
      }
    }
    if (others.isEmpty()) {
      throw Problem.notFound("there is no such path: /openapi.yaml lists all of them");
    }
    String allowed = String.join(", ", others);
    throw new Problem(405, "method_not_allowed", "the path allows " + allowed)
        .header("Allow", allowed);
  }

  /** A word of the API that stands where another route has an id is no id. */
  private List<Found> matching(List<String> path) {
    List<Found> found = new ArrayList<>();
    for (Route route : routes) {
      Map<String, String> values = route.match(path);
      if (values != null) {
        found.add(new Found(route, values));
      }
    }
    return found.stream()
        .filter(
            each -> found.stream().noneMatch(other -> other.route().hasWordForIdOf(each.route())))
        .toList();
  }

  public List<Route> routes() {
    return routes;
  }

  static List<String> segments(String rawPath) {
    List<String> segments = new ArrayList<>();
    for (String segment : rawPath.substring(1).split("/", -1)) {
      segments.add(decoded(segment, "path"));
    }
    return segments;
  }

  /** Segment by segment, so that an encoded slash stays within its own. */
  static String decoded(String segment, String what) {
    if (segment.indexOf('%') < 0) {
      return segment;
    }
    ByteBuffer bytes = ByteBuffer.allocate(segment.length() * 4);
    for (int i = 0; i < segment.length(); i++) {
      char c = segment.charAt(i);
      if (c == '%') {
        if (i + 2 > segment.length() - 1) {
          throw Problem.badRequest("the " + what + " is not well encoded");
        }
        int high = Character.digit(segment.charAt(i + 1), 16);
        int low = Character.digit(segment.charAt(i + 2), 16);
        if (high < 0 || low < 0) {
          throw Problem.badRequest("the " + what + " is not well encoded");
        }
        bytes.put((byte) (high * 16 + low));
        i += 2;
      } else {
        bytes.put(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException wrong) {
      throw Problem.badRequest("the " + what + " is not well encoded");
    }
  }
}
