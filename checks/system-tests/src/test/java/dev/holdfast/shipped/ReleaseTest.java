package dev.holdfast.shipped;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.OnlyWithRelease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each distribution of Holdfast installs and runs. */
@OnlyWithRelease
class ReleaseTest {
  @TempDir Path elsewhere;

  @Test
  void the_archive_runs_with_the_oldest_supported_java() throws Exception {
    Path home = Release.unpacked("tar", Release.archive("\\.tar\\.gz"));
    assertThat(home.resolve("runtime")).doesNotExist();
    Path java = oldestJava();
    System.err.println("the archive is run with " + java);
    try (Installed holdfast =
        new Installed(elsewhere, home.resolve("bin/holdfast").toString())
            .with("JAVA_HOME", java.toString())) {
      assertThat(holdfast.run("--version").getFirst()).matches("holdfast [0-9.]+");
      holdfast.assertWorks();
    }
  }

  private static int version(Path java) {
    try {
      Matcher version =
          Pattern.compile("JAVA_VERSION=\"(\\d+)")
              .matcher(Files.readString(java.resolve("release")));
      return version.find() ? Integer.parseInt(version.group(1)) : 0;
    } catch (IOException none) {
      return 0;
    }
  }

  private static Stream<Path> javas() throws IOException {
    Path own = Path.of(System.getProperty("java.home"));
    Path all = Path.of("/usr/lib/jvm");
    try (Stream<Path> others = Files.isDirectory(all) ? Files.list(all) : Stream.empty()) {
      return Stream.concat(others.toList().stream(), Stream.of(own))
          .filter(java -> Files.isExecutable(java.resolve("bin/java")));
    }
  }

  private static Path oldestJava() throws IOException {
    return javas()
        .filter(java -> version(java) >= 21)
        .min(Comparator.comparingInt(ReleaseTest::version))
        .orElseThrow();
  }

  @Test
  void a_java_that_is_too_old_or_missing_is_reported() throws Exception {
    Path home = Release.unpacked("old", Release.archive("\\.tar\\.gz"));
    assertRefused(
        home, elsewhere.resolve("nowhere"), "no Java was found: install Java 21 or newer");
    for (Path java : javas().filter(one -> version(one) > 0 && version(one) < 21).toList()) {
      assertRefused(home, java, "is Java " + version(java) + ", and 21 or newer is needed");
    }
  }

  private static void assertRefused(Path home, Path java, String words) {
    ProcessBuilder builder =
        new ProcessBuilder(home.resolve("bin/holdfast").toString(), "--version");
    builder.environment().put("JAVA_HOME", java.toString());
    try (ChildProcess launcher = ChildProcess.start(builder)) {
      assertThat(launcher.awaitExit(SOON)).isEqualTo(7);
      assertThat(launcher.lines().getFirst()).contains(words);
    }
  }

  @Test
  void the_archive_with_a_runtime_needs_no_java() throws Exception {
    Path home = Release.unpacked("runtime", Release.archive("-linux-\\w+\\.tar\\.gz"));
    try (Installed holdfast =
        new Installed(elsewhere, home.resolve("bin/holdfast").toString())
            .with("JAVA_HOME", "/nowhere")
            .with("PATH", "/usr/bin:/bin")) {
      holdfast.assertWorks();
    }
    // Kept for the analysis of a failure.
    assertThat(home.resolve("runtime/bin/jcmd")).isExecutable();
  }

  @Test
  void the_package_meets_the_requirements_of_debian() {
    String deb = Release.archive("_\\w+\\.deb").toString();
    String fields = String.join("\n", Release.run(elsewhere, "dpkg-deb", "--field", deb));
    assertThat(fields)
        .contains("Package: holdfast\n", "Depends: adduser, libc6", "Architecture: ")
        .matches(
            Pattern.compile(
                ".*^Version: [0-9.]+$.*^Installed-Size: [0-9]+$.*",
                Pattern.DOTALL | Pattern.MULTILINE))
        .doesNotContainPattern("@[A-Z]+@");
    List<String> contents = Release.run(elsewhere, "dpkg-deb", "--contents", deb);
    assertThat(contents)
        .allMatch(line -> line.contains(" root/root "), "owned by root")
        .noneMatch(line -> line.matches("[^l].......w. .*"), "writable by all")
        .anyMatch(line -> line.endsWith("./usr/bin/holdfast -> ../lib/holdfast/bin/holdfast"))
        .anyMatch(line -> line.endsWith("./usr/share/doc/holdfast/copyright"))
        .anyMatch(line -> line.endsWith("./usr/share/doc/holdfast/changelog.gz"))
        .anyMatch(line -> line.endsWith("./lib/systemd/system/holdfast-server.service"))
        .anyMatch(line -> line.endsWith("./etc/holdfast/holdfast.env"));
  }

  @Test
  void what_the_package_installs_runs() throws Exception {
    Path root = elsewhere.resolve("root");
    Release.run(
        elsewhere, "dpkg-deb", "-x", Release.archive("_\\w+\\.deb").toString(), root.toString());
    try (Installed holdfast =
        new Installed(elsewhere, root.resolve("usr/bin/holdfast").toString())
            .with("HOLDFAST_CONFIG", root.resolve("etc/holdfast/holdfast.yaml").toString())
            .with("JAVA_HOME", "/nowhere")) {
      holdfast.assertWorks();
    }
    assumeThat(Release.has("systemd-analyze")).isTrue();
    // What the units refer to in a system, of which this root has nothing else.
    Files.createDirectories(root.resolve("usr/lib/systemd/system"));
    for (String unit : List.of("holdfast-server", "holdfast-workers")) {
      Path file = root.resolve("lib/systemd/system").resolve(unit + ".service");
      Path here = elsewhere.resolve(unit + ".service");
      Files.writeString(
          here, Files.readString(file).replace("/usr/bin/holdfast", root + "/usr/bin/holdfast"));
      assertThat(Release.run(elsewhere, "systemd-analyze", "--man=no", "verify", here.toString()))
          .noneMatch(line -> line.contains(unit));
    }
  }

  /** In a root of its own, where nothing of this machine is touched. */
  @Test
  void dpkg_installs_upgrades_and_removes_the_package() throws Exception {
    assumeThat(Release.isRoot() && Release.has("mmdebstrap")).as("root, and mmdebstrap").isTrue();
    Path root = elsewhere.resolve("debian");
    Release.run(
        elsewhere,
        "mmdebstrap",
        "--quiet",
        "--variant=essential",
        "--include=adduser",
        "bookworm",
        root.toString());
    Path deb = Release.archive("_\\w+\\.deb");
    Files.copy(deb, root.resolve("holdfast.deb"));
    String[] chroot = {
      "unshare",
      "--mount",
      "sh",
      "-ec",
      "mount -t proc proc $0/proc; exec chroot $0 /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin \"$@\"",
      root.toString()
    };
    in(chroot, "dpkg", "-i", "/holdfast.deb");
    assertThat(in(chroot, "dpkg-query", "-W", "-f", "${Status}", "holdfast"))
        .containsExactly("install ok installed");
    assertThat(
            in(chroot, "stat", "-c", "%U:%G %a", "/etc/holdfast/holdfast.env", "/var/lib/holdfast"))
        .containsExactly("root:holdfast 640", "holdfast:holdfast 750");
    assertThat(in(chroot, "su", "-s", "/bin/sh", "holdfast", "-c", "holdfast --version").getFirst())
        .startsWith("holdfast ");
    Files.writeString(root.resolve("etc/holdfast/holdfast.yaml"), "server: { port: 9000 }\n");
    in(chroot, "dpkg", "-i", "/holdfast.deb");
    assertThat(root.resolve("etc/holdfast/holdfast.yaml")).content().contains("9000");
    in(chroot, "dpkg", "--purge", "holdfast");
    assertThat(root.resolve("usr/lib/holdfast")).doesNotExist();
    assertThat(root.resolve("etc/holdfast")).doesNotExist();
    assertThat(root.resolve("var/lib/holdfast")).doesNotExist();
  }

  private List<String> in(String[] chroot, String... command) {
    return Release.run(elsewhere, Stream.concat(Stream.of(chroot), Stream.of(command)).toList());
  }
}
