package dev.holdfast.shipped;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.holdfast.testkit.OnlyWithRelease;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** Licence lists, the bill of materials and the files for Maven Central. */
@OnlyWithRelease
class ReleasedFilesTest {
  private static final Pattern JAR = Pattern.compile("(.+?)-(\\d[^/]*)\\.jar");

  /** The names of the jars of others that are in the archive. */
  private static Set<String> bundled() throws IOException {
    Path home = Release.unpacked("files", Release.archive("\\.tar\\.gz"));
    try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
      return jars.map(jar -> jar.getFileName().toString())
          .filter(name -> !name.startsWith("holdfast-"))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static String artifact(String jar) {
    Matcher parts = JAR.matcher(jar);
    assertThat(parts.matches()).as(jar).isTrue();
    return parts.group(1) + ":" + parts.group(2);
  }

  @Test
  void every_jar_is_listed_with_its_licence() throws IOException {
    String list = Files.readString(Release.archive("-third-party\\.txt"));
    assertThat(bundled()).hasSizeGreaterThan(30);
    for (String jar : bundled()) {
      assertThat(list).contains(":" + artifact(jar) + " ");
    }
    assertThat(list).contains("PostgreSQL License", "OpenJDK").doesNotContain("Unknown");
  }

  @Test
  void the_archive_has_the_script_of_each_version_of_the_schema() throws IOException {
    Path home = Release.unpacked("files", Release.archive("\\.tar\\.gz"));
    try (Stream<Path> scripts = Files.list(home.resolve("schema"))) {
      for (Path script : scripts.toList()) {
        assertThat(script)
            .hasSameTextualContentAs(
                Path.of("../../modules/queue/src/main/resources/dev/holdfast/queue/migration")
                    .resolve(script.getFileName()));
      }
    }
    assertThat(home.resolve("schema")).isDirectoryContaining("glob:**/V1__holdfast.sql");
  }

  @Test
  void every_jar_is_in_the_bill_of_materials() throws IOException {
    JsonNode bom = new JsonMapper().readTree(Release.archive("\\.cdx\\.json").toFile());
    assertThat(bom.get("bomFormat").asText()).isEqualTo("CycloneDX");
    Set<String> components = new TreeSet<>();
    bom.get("components")
        .forEach(
            component ->
                components.add(
                    component.get("name").asText() + ":" + component.get("version").asText()));
    assertThat(components)
        .containsAll(bundled().stream().map(ReleasedFilesTest::artifact).toList());
  }

  @Test
  void the_bundle_meets_the_requirements_of_maven_central() throws Exception {
    try (ZipFile bundle = new ZipFile(Release.archive("-central\\.zip").toFile())) {
      Set<String> names =
          bundle.stream()
              .filter(entry -> !entry.isDirectory())
              .map(ZipEntry::getName)
              .collect(Collectors.toCollection(TreeSet::new));
      List<String> poms = names.stream().filter(name -> name.endsWith(".pom")).toList();
      assertThat(poms)
          .anyMatch(name -> name.matches("dev/holdfast/holdfast/[0-9.]+/holdfast-[0-9.]+\\.pom"))
          .anyMatch(name -> name.contains("holdfast-spring-boot-starter"))
          .noneMatch(name -> name.contains("testkit") || name.contains("example"));
      assertThat(names).noneMatch(name -> name.contains("metadata") || name.contains("SNAPSHOT"));
      for (String pom : poms) {
        String base = pom.substring(0, pom.length() - 4);
        String text = read(bundle, pom);
        assertThat(text).as(pom).contains("<name>", "<description>").doesNotContain("SNAPSHOT");
        if (text.contains("<packaging>pom</packaging>")) {
          // The others have it from there.
          assertThat(text)
              .contains("<url>https://", "<licenses>", "<developers>", "<scm ", "<connection>");
        } else {
          assertThat(names).contains(base + ".jar", base + "-sources.jar", base + "-javadoc.jar");
        }
      }
      for (String name : names) {
        if (!name.endsWith(".md5") && !name.endsWith(".sha1")) {
          assertChecksum(bundle, name, "md5", "MD5");
          assertChecksum(bundle, name, "sha1", "SHA-1");
        }
      }
    }
  }

  private static byte[] bytes(ZipFile zip, String name) throws IOException {
    try (InputStream in = zip.getInputStream(zip.getEntry(name))) {
      return in.readAllBytes();
    }
  }

  private static String read(ZipFile zip, String name) throws IOException {
    return new String(bytes(zip, name), StandardCharsets.UTF_8);
  }

  private static void assertChecksum(ZipFile zip, String name, String end, String algorithm)
      throws Exception {
    assertThat(read(zip, name + "." + end).strip())
        .as(name)
        .isEqualTo(
            HexFormat.of()
                .formatHex(MessageDigest.getInstance(algorithm).digest(bytes(zip, name))));
  }

  @Test
  void a_release_does_not_change_the_checkout() {
    List<String> before = Release.run(Release.CHECKOUT, "git", "status", "--porcelain");
    List<String> tags = Release.run(Release.CHECKOUT, "git", "tag");
    Release.folder();
    assertThat(Release.run(Release.CHECKOUT, "git", "status", "--porcelain")).isEqualTo(before);
    assertThat(Release.run(Release.CHECKOUT, "git", "tag")).isEqualTo(tags);
  }

  /** Not the image: its packages come from a mirror that has newer ones another day. */
  @Test
  void a_second_build_elsewhere_has_the_same_bytes() throws IOException {
    Path second =
        Release.build(Path.of("target/second/release").toAbsolutePath(), "tar,runtime,deb,central");
    List<String> again = Files.readAllLines(second.resolve("SHA256SUMS"));
    assertThat(again).hasSizeGreaterThan(5);
    assertThat(Files.readAllLines(Release.folder().resolve("SHA256SUMS"))).containsAll(again);
  }
}
