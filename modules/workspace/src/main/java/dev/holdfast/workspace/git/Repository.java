package dev.holdfast.workspace.git;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a workspace comes from.
 *
 * @param url https, http, ssh, user@host:path, file or an absolute path
 * @param ref a branch, a tag, a full ref, HEAD or a whole commit id
 */
public record Repository(String url, String ref) {
  private static final int MOST_CHARS = 2_000;
  private static final String HOST =
      "(?:[A-Za-z0-9][A-Za-z0-9._-]*|\\[[0-9A-Fa-f:.]+])(?::[0-9]+)?";
  private static final String USER = "[A-Za-z0-9_][A-Za-z0-9._-]*";
  // Passwords may hold an @: the last one before the path ends them.
  private static final Pattern HTTP =
      Pattern.compile(
          "(?<scheme>https?://)(?:(?<secret>[^/]*)@)?(?<host>" + HOST + ")(?<path>/.+)");
  private static final Pattern SSH =
      Pattern.compile("ssh://(?:" + USER + "@)?" + HOST + "/(?!-).+");
  private static final Pattern SHORT_SSH =
      Pattern.compile(USER + "@[A-Za-z0-9][A-Za-z0-9._-]*:(?![-:]).+");
  private static final Pattern LOCAL = Pattern.compile("(?:file://)?/(?!/).*");

  private static final Pattern COMMIT_ID = Pattern.compile("[0-9a-f]{40}|[0-9a-f]{64}");
  // What git check-ref-format refuses, and a dash in front, which would make it an option.
  private static final Pattern BAD_REF =
      Pattern.compile(
          "^-|^@$|^/|/$|//|\\.\\.|\\.$|@\\{|[\\x00-\\x20\\x7f~^:?*\\[\\\\]"
              + "|(?:^|/)\\.|\\.lock(?:/|$)");
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");
  private static final Pattern SECRET = Pattern.compile("(://)[^/\\s]*@");

  public Repository {
    if (url.length() > MOST_CHARS || CONTROL.matcher(url).find() || !isKnown(url)) {
      throw new RefusedException(
          Refusal.BAD_NAME,
          "'%s' is no repository: https://, http://, ssh://, user@host:path, file:// or an absolute path, and no password for ssh"
              .formatted(shown(url)));
    }
    if (ref.isEmpty() || ref.length() > MOST_CHARS || BAD_REF.matcher(ref).find()) {
      throw new RefusedException(
          Refusal.BAD_NAME,
          "'%s' is no ref: name a branch, a tag, a full ref, HEAD or a whole commit id"
              .formatted(shown(ref)));
    }
  }

  private static boolean isKnown(String url) {
    return HTTP.matcher(url).matches()
        || SSH.matcher(url).matches()
        || SHORT_SSH.matcher(url).matches()
        || LOCAL.matcher(url).matches();
  }

  static boolean isCommitId(String text) {
    return COMMIT_ID.matcher(text).matches();
  }

  /** Any text without what stands before the @ of a URL. */
  static String masked(String text) {
    return SECRET.matcher(text).replaceAll("$1***@");
  }

  private static String shown(String text) {
    return Text.excerpt(CONTROL.matcher(masked(text)).replaceAll("\uFFFD"), 200);
  }

  /** The URL without user and password: it may be seen in process lists and messages. */
  String address() {
    Matcher http = HTTP.matcher(url);
    return http.matches() ? http.group("scheme") + http.group("host") + http.group("path") : url;
  }

  /** The server that the secret is for, and no other: {@code https://host/}. */
  String server() {
    Matcher http = HTTP.matcher(url);
    return http.matches() ? http.group("scheme") + http.group("host") + "/" : url;
  }

  /** The header that carries the URL's user and password, when there are any. */
  Optional<String> authorization() {
    Matcher http = HTTP.matcher(url);
    String secret = http.matches() ? http.group("secret") : null;
    if (secret == null || secret.isEmpty()) {
      return Optional.empty();
    }
    // The decoder is for forms, where a plus is a space.
    String plain = URLDecoder.decode(secret.replace("+", "%2B"), StandardCharsets.UTF_8);
    String both = plain.contains(":") ? plain : plain + ":";
    return Optional.of(
        "Authorization: Basic "
            + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8)));
  }

  @Override
  public String toString() {
    return address() + " at " + ref;
  }
}
