package dev.holdfast.model;

/** Turns payloads and results into JSON and back. Replaceable; the library brings Jackson. */
public interface Codec {
  /** A {@link Json} value is taken as it is. */
  Json encode(Object value);

  /** Throws {@link RefusedException} when the JSON does not fit the type. */
  <T> T decode(Json json, Class<T> type);
}
