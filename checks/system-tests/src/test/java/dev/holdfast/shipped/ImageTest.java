package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image, unpacked by the tool that knows its format, and run as a container would be: in its
 * own root, which is read-only but for two folders, as its own user, with its own environment. The
 * namespaces are made by unshare: a registry or a daemon is not needed.
 */
@OnlyWithRelease
class ImageTest {
  @TempDir Path folder;

  private Path bundle;
  private JsonNode process;

  @BeforeEach
  void unpack() throws Exception {
    assumeThat(Release.isRoot() && Release.has("umoci") && Release.has("mmdebstrap"))
        .as("root, umoci and mmdebstrap")
        .isTrue();
    Path layout = Files.createDirectory(folder.resolve("layout"));
    Path archive = Release.archive("-image-linux-\\w+\\.tar");
    Release.run(folder, "tar", "-xf", archive.toString(), "-C", layout.toString());
    String tag = Release.run(folder, "umoci", "list", "--layout", layout.toString()).getFirst();
    bundle = folder.resolve("bundle");
    Release.run(folder, "umoci", "unpack", "--image", layout + ":" + tag, bundle.toString());
    process = new JsonMapper().readTree(bundle.resolve("config.json").toFile()).get("process");
  }

  /**
   * The command that starts a container; what it runs there follows.
   *
   * @param files whether it has a folder of its own, as workers need it
   */
  private String[] container(boolean files) throws IOException {
    List<String> environment = new ArrayList<>();
    process.get("env").forEach(variable -> environment.add("'" + variable.asText() + "'"));
    Path script = folder.resolve("container-" + files + ".sh");
    Script.write(
        script,
        """
        #!/bin/sh
        set -e
        root=%s/rootfs
        mount --bind $root $root
        mount -o remount,bind,ro $root
        mount -t tmpfs tmpfs $root/tmp
        ! %b || mount -t tmpfs -o uid=10001,gid=10001,mode=755 tmpfs $root/var/lib/holdfast
        mount -t proc proc $root/proc
        mount --rbind /dev $root/dev
        for name in $(env | sed -n 's/^\\(HOLDFAST_[A-Z_]*\\)=.*/\\1/p'); do
          set -- "$name=$(printenv $name)" "$@"
        done
        exec chroot --userspec=10001:10001 $root /bin/env -i %s "$@"
        """
            .formatted(bundle, files, String.join(" ", environment)));
    return new String[] {"unshare", "--mount", script.toString()};
  }

  private Installed holdfast(boolean files, String... command) throws IOException {
    List<String> launcher = new ArrayList<>(List.of(container(files)));
    launcher.addAll(List.of(command));
    return new Installed(folder, launcher.toArray(String[]::new));
  }

  @Test
  void the_image_is_small_and_runs_the_server_as_its_own_user() throws Exception {
    assertThat(Files.size(Release.archive("-image-linux-\\w+\\.tar"))).isLessThan(90L << 20);
    assertThat(process.get("user").get("uid").asInt()).isEqualTo(10_001);
    assertThat(process.get("args").get(0).asText()).isEqualTo("/opt/holdfast/bin/holdfast");
    assertThat(process.get("args").get(1).asText()).isEqualTo("server");
  }

  @Test
  void the_image_runs_unprivileged_on_a_read_only_root() throws Exception {
    try (Installed shell = holdfast(true, "/bin/sh")) {
      assertThat(shell.run("-c", "id -u; touch /file /opt/holdfast/file 2>&1 || true"))
          .contains("10001")
          .filteredOn(line -> line.contains("Read-only file system"))
          .hasSize(2);
    }
    try (Installed holdfast = holdfast(true, process.get("args").get(0).asText())) {
      holdfast.assertWorks();
    }
  }

  @Test
  void the_health_check_of_the_image_reaches_the_server() throws Exception {
    String port = Integer.toString(NewUser.freePort());
    try (Installed shell = holdfast(false, "/bin/wget");
        Installed holdfast =
            holdfast(false, "/opt/holdfast/bin/holdfast")
                .with("HOLDFAST_SERVER_HOST", "127.0.0.1")
                .with("HOLDFAST_SERVER_PORT", port)) {
      String[] check = healthCheck(port);
      ChildProcess early = shell.start(check);
      assertThat(early.awaitExit(SOON)).isNotZero();
      holdfast.run("migrate");
      ChildProcess server = holdfast.start("server");
      server.awaitLine("ready", SOON);
      shell.run(check);
      server.signal("TERM");
      assertThat(server.awaitExit(SOON)).as("%s", server.lines()).isZero();
    }
  }

  /** As compose.yaml has it, but for the port. */
  private static String[] healthCheck(String port) throws Exception {
    Matcher test =
        Pattern.compile("test: \\[CMD, wget, (.*)]")
            .matcher(Files.readString(Release.CHECKOUT.resolve("deploy/compose.yaml")));
    assertThat(test.find()).isTrue();
    return test.group(1).replace("\"", "").replace("8420", port).split(", ");
  }
}
