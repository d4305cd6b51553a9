package dev.holdfast.app.config;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.contract.token.WebhookSecret;
import dev.holdfast.server.config.ServerOptions;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Who is told of questions that jobs ask.
 *
 * @param publicUrl where the links of notices lead
 * @param host where the server listens
 */
@Section(title = "Notices", key = "notify")
public record NotifyConfig(
    @Declared(
            form = Declared.Form.WEB_ADDRESS,
            secret = true,
            about =
                "URL that servers post a signed notice to when a job asks somebody; never shown, since"
                    + " it may have a secret in it")
        @Nullable URI url,
    @Declared(
            form = Declared.Form.WEBHOOK_SECRET,
            secret = true,
            about = "signs notices as Standard Webhooks says; valid only together with the URL")
        @Nullable WebhookSecret secret,
    @Declared(sameAs = "server.publicUrl") @Nullable URI publicUrl,
    @Declared(sameAs = "server.host") String host) {
  public NotifyConfig {
    if ((url == null) != (secret == null)) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          "HOLDFAST_NOTIFY_URL and HOLDFAST_NOTIFY_SECRET are only valid together: "
              + (url == null ? "HOLDFAST_NOTIFY_URL" : "HOLDFAST_NOTIFY_SECRET")
              + " is missing");
    }
    if (url != null && publicUrl == null && !ServerOptions.DEFAULT.host(host).isLoopback()) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          "HOLDFAST_NOTIFY_URL needs HOLDFAST_SERVER_PUBLIC_URL: the links of notices would lead to "
              + host
              + ", where the server listens, and not to where people reach it");
    }
  }

  /** Null for nobody. */
  public ServerOptions.@Nullable Receiver receiver() {
    return url == null || secret == null ? null : new ServerOptions.Receiver(url, secret);
  }
}
