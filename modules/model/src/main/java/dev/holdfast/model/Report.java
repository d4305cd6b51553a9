package dev.holdfast.model;

import org.jspecify.annotations.Nullable;

/** What a running attempt tells about itself: an entry of the timeline, fenced like every write. */
public sealed interface Report {
  Lease lease();

  /** How far the attempt is. */
  record Progress(Lease lease, int percent, @Nullable String message) implements Report {
    public Progress {
      if (percent < 0 || percent > 100) {
        throw new RefusedException(
            Refusal.BAD_PROGRESS, "progress " + percent + " must lie between 0 and 100");
      }
      message = message == null ? null : Text.excerpt(message, Limits.PROGRESS_MESSAGE_CHARS);
    }
  }

  /** Something the handler wants in the timeline. */
  record Event(Lease lease, String type, Json data) implements Report {
    public Event {
      EventType.ofHandler(type);
      Limits.eventData(data);
    }
  }
}
