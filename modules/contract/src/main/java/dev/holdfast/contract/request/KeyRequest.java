package dev.holdfast.contract.request;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The key to create. */
public record KeyRequest(
    String name, String role, @Nullable String tenant, @Nullable Long expiresInMs) {
  public KeyRequest {
    ApiKey.checkedName(Wire.present("name", name));
    Role.of(Wire.present("role", role));
    ApiKey.checkedTenant(tenant);
    bounded("expiresInMs", expiresInMs, 1, ApiKey.LONGEST_LIFE);
  }

  public @Nullable Duration lifetime() {
    return expiresInMs == null ? null : Duration.ofMillis(expiresInMs);
  }

  /**
   * How long the old key stays valid.
   *
   * @param overlapMs null leaves it to the server
   */
  public record Rotation(@Nullable Long overlapMs) {
    private static final Duration DEFAULT_OVERLAP = Duration.ofHours(1);

    public Rotation {
      bounded("overlapMs", overlapMs, 0, ApiKey.LONGEST_OVERLAP);
    }

    public Duration overlap() {
      return overlapMs == null ? DEFAULT_OVERLAP : Duration.ofMillis(overlapMs);
    }
  }

  private static void bounded(String field, @Nullable Long value, long least, Duration most) {
    if (value != null && (value < least || value > most.toMillis())) {
      throw new WireException(
          WireException.Kind.WRONG_VALUE,
          "field '%s' must be between %d and %d".formatted(field, least, most.toMillis()));
    }
  }
}
