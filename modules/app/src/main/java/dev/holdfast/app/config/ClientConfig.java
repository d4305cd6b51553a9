package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.SERVER_URL;
import static dev.holdfast.app.setting.SettingType.TEXT;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which server commands and workers call instead of the database.
 *
 * @param url null for the database itself
 * @param apiKey empty for none
 */
public record ClientConfig(@Nullable URI url, String apiKey) {
  public static final Setting<URI> URL =
      Setting.of(
          "server.url",
          SERVER_URL,
          "server that commands and workers call instead of connecting to the database");

  public static final Setting<String> API_KEY =
      Setting.of("server.apiKey", TEXT, "API key for that server").hidden();

  static final Concern CONCERN =
      new Concern("Connection to a server", List.of(URL, API_KEY), ClientConfig::read);

  static ClientConfig read(SettingValues values) {
    return new ClientConfig(values.find(URL).orElse(null), values.get(API_KEY));
  }

  @Override
  public String toString() {
    return "ClientConfig[url=" + url + "]";
  }
}
