package dev.holdfast.queue.admin;

/** A secret, in base64, and its name. */
public record TokenKey(String kid, String secret) {
  @Override
  public String toString() {
    return "key " + kid;
  }
}
