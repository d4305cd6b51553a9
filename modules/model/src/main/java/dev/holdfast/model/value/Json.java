package dev.holdfast.model.value;

/** A JSON document as text: payloads, results and event data, before and after the codec. */
public record Json(String text) {
  /** An empty object. */
  public static final Json EMPTY = new Json("{}");

  @Override
  public String toString() {
    return text;
  }
}
