package dev.holdfast.app.config;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.SettingValues;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** The address of the database, given as for psql or as for JDBC; the password is kept apart. */
public record DatabaseUrl(String jdbc, String user, String password) {
  static DatabaseUrl parse(String text, String user, String password) {
    String url = text.strip();
    if (url.startsWith("jdbc:postgresql:")) {
      return new DatabaseUrl(url, user, password);
    }
    if (!url.startsWith("postgres://") && !url.startsWith("postgresql://")) {
      throw wrong("it must begin with postgres:// or jdbc:postgresql://");
    }
    try {
      URI uri = new URI(url);
      if (uri.getHost() == null) {
        throw wrong("it names no host");
      }
      String[] login =
          uri.getRawUserInfo() == null ? new String[0] : uri.getRawUserInfo().split(":", 2);
      String jdbc =
          "jdbc:postgresql://"
              + uri.getHost()
              + (uri.getPort() < 0 ? "" : ":" + uri.getPort())
              + (uri.getRawPath().isEmpty() ? "/" : uri.getRawPath())
              + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
      return new DatabaseUrl(
          jdbc,
          login.length > 0 ? decoded(login[0]) : user,
          login.length > 1 ? decoded(login[1]) : password);
    } catch (URISyntaxException malformed) {
      // Its message would repeat the URL, and with it a password.
      throw wrong(
          "character " + malformed.getIndex() + " does not belong there (escape it as %XX)");
    }
  }

  /** For people to see: without the password. */
  public String shown() {
    return SettingValues.withoutPasswords(jdbc.substring("jdbc:".length()));
  }

  @Override
  public String toString() {
    return shown();
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static CommandException wrong(String why) {
    return new CommandException(
        ExitCode.CONFIGURATION,
        "the database URL is not usable: "
            + why
            + "; for example postgres://user:password@host:5432/database");
  }
}
