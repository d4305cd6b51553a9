package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Which server commands and workers call instead of the database. */
@Section(title = "Connection to a server", key = "server")
public record ClientConfig(
    @Declared(about = "server that commands and workers call instead of connecting to the database")
        @Nullable URI url,
    @Declared(about = "API key for that server", secret = true) String apiKey) {
  @Override
  public String toString() {
    return "ClientConfig[url=" + url + "]";
  }
}
