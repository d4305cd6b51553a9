package dev.holdfast.model.value;

/** Turns payloads and results into JSON and back. Replaceable; the library brings Jackson. */
public interface Codec {
  /** A {@link Json} value is taken as it is. */
  Json encode(Object value);

  /** Throws {@link RefusedException} when the JSON does not fit the type. */
  <T> T decode(Json json, Class<T> type);

  /** The same for types with parameters; a codec that does not know them takes classes only. */
  @SuppressWarnings("unchecked") // The class is that of the type.
  default <T> T decode(Json json, PayloadType<T> type) {
    if (type.type() instanceof Class<?> known) {
      return decode(json, (Class<T>) known);
    }
    throw new RefusedException(
        Refusal.PAYLOAD_MISMATCH, "this codec cannot make a " + type + ": it knows classes only");
  }
}
