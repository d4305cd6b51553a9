package dev.holdfast.app.config;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.server.config.ServerOptions;
import java.net.URI;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the server listens and which clients it answers. */
@Section(title = "Server", key = "server")
public record ServerConfig(
    @Declared(
            value = "127.0.0.1",
            form = Declared.Form.ADDRESS,
            about = "address the server listens on; beyond loopback it needs API keys")
        String host,
    @Declared(
            value = "8420",
            most = "65535",
            about = "port the server listens on; 0 is any free port")
        int port,
    @Declared(
            about =
                "URL that workers call: the callbackBaseUrl of tasks; the server's own address unless"
                    + " given")
        @Nullable URI publicUrl,
    @Declared(
            form = Declared.Form.HOSTS,
            about =
                "host names that requests may name, besides the server's own and that of the public URL;"
                    + " a list")
        Set<String> allowedHosts,
    @Declared(
            about =
                "file with the server's certificates, PEM; with it and its key the server speaks HTTPS")
        @Nullable Path tlsCertificate,
    @Declared(about = "file with the private key, PEM, PKCS#8") @Nullable Path tlsKey,
    @Declared(
            value = "1000",
            about = "requests per second that each API key may send; 0 is no limit")
        int requestsPerSecond) {
  public ServerConfig {
    if ((tlsCertificate == null) != (tlsKey == null)) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          "HOLDFAST_SERVER_TLS_CERTIFICATE and HOLDFAST_SERVER_TLS_KEY are only valid together: "
              + (tlsKey == null ? "HOLDFAST_SERVER_TLS_KEY" : "HOLDFAST_SERVER_TLS_CERTIFICATE")
              + " is missing");
    }
  }

  /** Null for plain HTTP. */
  public ServerOptions.@Nullable Tls tls() {
    return tlsCertificate == null || tlsKey == null
        ? null
        : new ServerOptions.Tls(tlsCertificate, tlsKey);
  }
}
