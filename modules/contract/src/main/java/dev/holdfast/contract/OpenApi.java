package dev.holdfast.contract;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The document that says what the API is. */
public final class OpenApi {
  private OpenApi() {}

  public static byte[] yaml() {
    try (InputStream in = OpenApi.class.getResourceAsStream("openapi.yaml")) {
      if (in == null) {
        throw new IllegalStateException("openapi.yaml is missing from this build");
      }
      return in.readAllBytes();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
