package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OneJarTest {
  @TempDir Path folder;

  private Path jar(String name, Map<String, String> entries) throws IOException {
    Path jar = folder.resolve(name);
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file)) {
      for (Map.Entry<String, String> entry : entries.entrySet()) {
        out.putNextEntry(new JarEntry(entry.getKey()));
        out.write(entry.getValue().getBytes(StandardCharsets.UTF_8));
        out.closeEntry();
      }
    }
    return jar;
  }

  private JarFile join(Path... jars) throws IOException {
    Path target = folder.resolve("one.jar");
    OneJar.write(target, List.of(jars));
    return new JarFile(target.toFile());
  }

  private static String text(JarFile jar, String name) throws IOException {
    return new String(
        jar.getInputStream(jar.getEntry(name)).readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void what_several_jars_list_is_listed_together_and_of_other_files_the_first_is_taken()
      throws IOException {
    Path first =
        jar(
            "first.jar",
            Map.of(
                "META-INF/services/x.Service",
                "x.One",
                "META-INF/helidon/manifest",
                "a",
                "META-INF/LICENSE",
                "free",
                "b",
                "1"));
    Path second =
        jar(
            "second.jar",
            Map.of(
                "META-INF/services/x.Service",
                "x.Two",
                "META-INF/helidon/manifest",
                "c",
                "META-INF/LICENSE",
                "as well",
                "b",
                "2"));
    try (JarFile one = join(first, second)) {
      assertThat(text(one, "META-INF/services/x.Service")).isEqualTo("x.One\nx.Two\n");
      assertThat(text(one, "META-INF/helidon/manifest")).isEqualTo("a\nc\n");
      assertThat(text(one, "META-INF/LICENSE")).isEqualTo("free\nas well\n");
      assertThat(text(one, "b")).isEqualTo("1");
    }
  }

  @Test
  void what_is_about_one_of_the_jars_is_left_out() throws IOException {
    Path jar =
        jar(
            "some.jar",
            Map.of(
                "module-info.class", "",
                "META-INF/versions/11/module-info.class", "",
                "META-INF/maven/x/pom.xml", "",
                "META-INF/INDEX.LIST", "",
                "x/", "",
                "x/Y.class", "y"));
    try (JarFile one = join(jar)) {
      // Folders stay: the migrations are found by theirs.
      assertThat(one.stream().map(ZipEntry::getName))
          .containsExactlyInAnyOrder("META-INF/MANIFEST.MF", "x/", "x/Y.class");
    }
  }

  @Test
  void it_can_be_run_and_has_classes_for_newer_versions_of_java() throws IOException {
    try (JarFile one = join()) {
      assertThat(one.isMultiRelease()).isTrue();
      assertThat(one.getManifest().getMainAttributes().getValue("Main-Class"))
          .isEqualTo("dev.holdfast.app.Main");
    }
  }
}
