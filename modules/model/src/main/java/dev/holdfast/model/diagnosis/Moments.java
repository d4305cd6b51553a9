package dev.holdfast.model.diagnosis;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Times as people read them: nobody needs the microseconds of a pause. */
final class Moments {
  private Moments() {}

  static String text(@Nullable Instant moment) {
    return String.valueOf(moment == null ? null : moment.truncatedTo(ChronoUnit.SECONDS));
  }
}
