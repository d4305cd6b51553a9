package dev.holdfast.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The systems that have binaries of PostgreSQL; those of macOS could not be tried here. */
class PlatformsTest {
  private static Document pom(String path) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(Path.of(path).toAbsolutePath().normalize().toFile());
  }

  private static String text(Element in, String tag) {
    NodeList found = in.getElementsByTagName(tag);
    return found.getLength() == 0 ? "" : found.item(0).getTextContent();
  }

  /** What Java calls system and processor, and what the jar of Maven Central contains. */
  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, postgres-linux-x86_64.txz",
    "Linux, aarch64, postgres-linux-arm_64.txz",
    "Mac OS X, x86_64, postgres-darwin-x86_64.txz",
    "Mac OS X, aarch64, postgres-darwin-arm_64.txz"
  })
  void the_archive_of_a_system_has_the_name_that_its_jar_gives_it(
      String os, String arch, String resource) {
    assertThat(Binaries.resource(os, arch)).isEqualTo(resource);
  }

  @Test
  void each_system_has_a_profile_that_it_alone_switches_on() throws Exception {
    List<String> profiles = new ArrayList<>();
    NodeList found = pom("../../modules/embedded/pom.xml").getElementsByTagName("profile");
    for (int i = 0; i < found.getLength(); i++) {
      Element profile = (Element) found.item(i);
      String system = text(profile, "name") + text(profile, "family");
      profiles.add(
          system + " " + text(profile, "arch") + " " + text(profile, "artifactId").substring(27));
    }
    assertThat(profiles)
        .containsExactly(
            "linux amd64 linux-amd64",
            "linux aarch64 linux-arm64v8",
            "mac x86_64 darwin-amd64",
            "mac aarch64 darwin-arm64v8");
  }
}
