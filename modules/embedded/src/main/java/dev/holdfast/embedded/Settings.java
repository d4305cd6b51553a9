package dev.holdfast.embedded;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The server's configuration as text, the same text for the same choices. */
final class Settings {
  static final String FILE = "holdfast.conf";

  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.]*");
  private static final Set<String> OURS =
      Set.of("port", "listen_addresses", "unix_socket_directories", "logging_collector");

  private Settings() {}

  static Map<String, String> check(Map<String, String> settings) {
    settings.forEach(
        (name, value) -> {
          if (!NAME.matcher(name).matches() || value.lines().count() > 1) {
            throw new IllegalArgumentException("not a server setting: " + name + " = " + value);
          }
          if (OURS.contains(name)) {
            throw new IllegalArgumentException(
                "server setting " + name + " is chosen by the embedded server, leave it out");
          }
        });
    return Map.copyOf(settings);
  }

  static String render(int port, Map<String, String> extra) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("port", Integer.toString(port));
    all.put("listen_addresses", "127.0.0.1");
    // JDBC has no use for a unix socket, and its path would limit how deep the folder may lie.
    all.put("unix_socket_directories", "");
    all.put("fsync", "on");
    all.put("synchronous_commit", "on");
    all.put("full_page_writes", "on");
    all.put("shared_buffers", "128MB");
    all.put("max_connections", "200");
    // Statements of a queue are short; compiling them costs more than it saves.
    all.put("jit", "off");
    // Errors of statements go to the client; repeated here they would fill the disk.
    all.put("log_min_messages", "log");
    all.put("log_checkpoints", "off");
    // The role has the name of the schema: without this, tables of others would be made in it.
    all.put("search_path", "public");
    all.putAll(new TreeMap<>(extra));
    StringBuilder text = new StringBuilder("# Written at every start, changes are lost.\n");
    all.forEach(
        (name, value) ->
            text.append(name).append(" = '").append(value.replace("'", "''")).append("'\n"));
    return text.toString();
  }
}
