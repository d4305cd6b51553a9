package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.PATH;
import static dev.holdfast.app.setting.SettingType.SERVER_URL;
import static dev.holdfast.app.setting.SettingType.whole;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.server.config.ServerOptions;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the server listens and which clients it answers. */
public record ServerConfig(
    String host,
    int port,
    @Nullable URI publicUrl,
    Set<String> allowedHosts,
    ServerOptions.@Nullable Tls tls,
    int requestsPerSecond) {
  public static final Setting<String> HOST =
      Setting.of(
          "server.host",
          new SettingType<>("an address such as 127.0.0.1 or 0.0.0.0", ServerConfig::address),
          "127.0.0.1",
          "address the server listens on; beyond loopback it needs API keys");

  public static final Setting<Integer> PORT =
      Setting.of(
          "server.port",
          whole(0, 65_535),
          "8420",
          "port the server listens on; 0 is any free port");

  static final Setting<URI> PUBLIC_URL =
      Setting.of(
          "server.publicUrl",
          SERVER_URL,
          "URL that workers call: the callbackBaseUrl of tasks; the server's own address unless"
              + " given");

  static final Setting<Set<String>> ALLOWED_HOSTS =
      Setting.of(
          "server.allowedHosts",
          HostNames.WITHOUT_PORTS,
          "host names that requests may name, besides the server's own and that of the public URL;"
              + " a list");

  static final Setting<Path> TLS_CERTIFICATE =
      Setting.of(
          "server.tlsCertificate",
          PATH,
          "file with the server's certificates, PEM; with it and its key the server speaks HTTPS");

  static final Setting<Path> TLS_KEY =
      Setting.of("server.tlsKey", PATH, "file with the private key, PEM, PKCS#8");

  static final Setting<Integer> REQUESTS_PER_SECOND =
      Setting.of(
          "server.requestsPerSecond",
          whole(0, 1_000_000),
          "1000",
          "requests per second that each API key may send; 0 is no limit");

  static final Concern CONCERN =
      new Concern(
          "Server",
          List.of(
              HOST, PORT, PUBLIC_URL, ALLOWED_HOSTS, TLS_CERTIFICATE, TLS_KEY, REQUESTS_PER_SECOND),
          ServerConfig::read);

  static ServerConfig read(SettingValues values) {
    return new ServerConfig(
        values.get(HOST),
        values.get(PORT),
        values.find(PUBLIC_URL).orElse(null),
        values.get(ALLOWED_HOSTS),
        tls(values),
        values.get(REQUESTS_PER_SECOND));
  }

  private static ServerOptions.@Nullable Tls tls(SettingValues values) {
    boolean certificate = values.isGiven(TLS_CERTIFICATE);
    if (certificate != values.isGiven(TLS_KEY)) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          "%s and %s are only valid together: %s is missing"
              .formatted(
                  TLS_CERTIFICATE.variable(),
                  TLS_KEY.variable(),
                  (certificate ? TLS_KEY : TLS_CERTIFICATE).variable()));
    }
    return certificate
        ? new ServerOptions.Tls(values.get(TLS_CERTIFICATE), values.get(TLS_KEY))
        : null;
  }

  private static String address(String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(text);
    }
    return text;
  }
}
