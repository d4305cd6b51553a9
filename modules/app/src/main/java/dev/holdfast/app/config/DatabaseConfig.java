package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.FLAG;
import static dev.holdfast.app.setting.SettingType.TEXT;
import static dev.holdfast.app.setting.SettingType.whole;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which PostgreSQL is used, and how.
 *
 * @param url null for the embedded one
 * @param port of the embedded one; 0 is any free port
 */
public record DatabaseConfig(@Nullable DatabaseUrl url, int pool, boolean allowUnsafe, int port) {
  public static final Setting<String> URL =
      Setting.of(
          "database.url",
          TEXT,
          "PostgreSQL to use; without it, the embedded PostgreSQL of the folder is used");

  public static final Setting<String> USER =
      Setting.of("database.user", TEXT, "user, if the URL names none");

  public static final Setting<String> PASSWORD =
      Setting.of("database.password", TEXT, "password, if the URL names none").hidden();

  // A worker keeps two connections for itself and needs some for its jobs.
  static final Setting<Integer> POOL =
      Setting.of("database.pool", whole(4, 1_000), "10", "connections of each process");

  static final Setting<Boolean> ALLOW_UNSAFE =
      Setting.of(
          "database.allowUnsafe",
          FLAG,
          "false",
          "accept a server with fsync=off, which can lose acknowledged jobs");

  public static final Setting<Integer> PORT =
      Setting.of(
          "database.port",
          whole(0, 65_535),
          "0",
          "port of the embedded PostgreSQL; 0 is any free port");

  static final Concern CONCERN =
      new Concern(
          "Database", List.of(URL, USER, PASSWORD, POOL, ALLOW_UNSAFE, PORT), DatabaseConfig::read);

  static DatabaseConfig read(SettingValues values) {
    return new DatabaseConfig(
        values
            .find(URL)
            .map(url -> DatabaseUrl.parse(url, values.get(USER), values.get(PASSWORD)))
            .orElse(null),
        values.get(POOL),
        values.get(ALLOW_UNSAFE),
        values.get(PORT));
  }
}
