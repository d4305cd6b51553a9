package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import org.jspecify.annotations.Nullable;

/**
 * Which PostgreSQL is used, and how.
 *
 * @param url null for the embedded one
 * @param pool a worker keeps two connections for itself and needs some for its jobs
 */
@Section(title = "Database", key = "database")
public record DatabaseConfig(
    @Declared(
            about = "PostgreSQL to use; without it, the embedded PostgreSQL of the folder is used")
        @Nullable String url,
    @Declared(about = "user, if the URL names none") String user,
    @Declared(about = "password, if the URL names none", secret = true) String password,
    @Declared(value = "10", least = "4", most = "1000", about = "connections of each process")
        int pool,
    @Declared(
            value = "false",
            about = "accept a server with fsync=off, which can lose acknowledged jobs")
        boolean allowUnsafe,
    @Declared(
            value = "0",
            most = "65535",
            about = "port of the embedded PostgreSQL; 0 is any free port")
        int port) {
  public DatabaseConfig {
    var unused = at(url, user, password);
  }

  /** Null for the embedded one. */
  public @Nullable DatabaseUrl at() {
    return at(url, user, password);
  }

  private static @Nullable DatabaseUrl at(@Nullable String url, String user, String password) {
    return url == null ? null : DatabaseUrl.parse(url, user, password);
  }

  @Override
  public String toString() {
    return "DatabaseConfig[" + at() + "]";
  }
}
