package dev.holdfast.test;

/**
 * An empty database with the schema of Holdfast, on the embedded PostgreSQL that all tests of the
 * process share: for frameworks that make the {@code DataSource} themselves. It lasts until the
 * process ends. The server may lose data in a power cut, which {@code Holdfast.check} refuses
 * unless it is told to accept that.
 *
 * @param url for JDBC
 */
public record HoldfastDatabase(String url, String user, String password) {
  /** Another one with every call. */
  public static HoldfastDatabase create() {
    return EmbeddedServer.get().keep();
  }

  @Override
  public String toString() {
    return url;
  }
}
