package dev.holdfast.simulation.compare;

import dev.holdfast.simulation.trace.Call;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The tools that need PostgreSQL, with the bounds within which they find what is planted. */
public final class Tools {
  private static final int TRACES = 80;
  private static final int CALLS = 200;
  private static final int RACES = 400;
  private static final int ROUNDS = 80;

  private Tools() {}

  /**
   * Called by reflection: for planted faults this class is loaded by a loader of its own.
   *
   * @param tool COMPARISON, RACES or SERVER
   */
  public static @Nullable String differs(String tool) throws Exception {
    return switch (tool.toUpperCase(Locale.ROOT)) {
      case "COMPARISON" -> comparison();
      case "RACES" -> {
        try (Comparison on = new Comparison()) {
          yield new Races(on).differs(1, RACES);
        }
      }
      case "SERVER" -> {
        try (ServerRounds server = new ServerRounds()) {
          yield server.differs(1, ROUNDS);
        }
      }
      default -> throw new IllegalArgumentException(tool);
    };
  }

  private static @Nullable String comparison() throws Exception {
    try (Comparison on = new Comparison()) {
      int made = 0;
      for (long seed = 1; seed <= TRACES; seed++) {
        List<Call> calls = RandomCalls.of(seed, CALLS);
        made += calls.size();
        String differs = on.differs(calls);
        if (differs != null) {
          return "trace %d, within %,d calls%n%s".formatted(seed, made, differs);
        }
      }
      return null;
    }
  }
}
