package dev.holdfast.embedded;

import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The server's programs, from the class path or from an installed PostgreSQL. */
record Binaries(Path bin, String version) {
  private static final Pattern VERSION = Pattern.compile("\\(PostgreSQL\\) (\\d+[.\\w]*)");

  static Binaries at(Path bin) {
    for (String name : List.of("postgres", "initdb", "pg_ctl")) {
      if (!Files.isExecutable(bin.resolve(name))) {
        throw new EmbeddedPostgresException(
            "no program %s in %s: name the bin directory of an installed PostgreSQL server"
                .formatted(name, bin));
      }
    }
    Path postgres = bin.resolve("postgres");
    String answer = Command.runOrFail(List.of(postgres.toString(), "--version"), postgres, "");
    Matcher matcher = VERSION.matcher(answer);
    if (!matcher.find()) {
      throw new EmbeddedPostgresException(postgres + " does not tell its version: " + answer);
    }
    return new Binaries(bin, matcher.group(1));
  }

  static Binaries embedded(Path cache) throws IOException {
    String os = System.getProperty("os.name", "");
    String arch = System.getProperty("os.arch", "");
    String resource = resource(os, arch);
    @Nullable URL url = Binaries.class.getClassLoader().getResource(resource);
    if (url == null) {
      throw new EmbeddedPostgresException(
          "no PostgreSQL binaries for %s on %s (%s is not on the class path): install PostgreSQL and name its bin directory"
              .formatted(os, arch, resource));
    }
    return at(new Archive(url).unpackedIn(cache).resolve("bin"));
  }

  /** As the jars of the binaries name it, for what Java calls this system. */
  static String resource(String os, String arch) {
    String system = os.toLowerCase(Locale.ROOT).replace("mac os x", "darwin");
    String processor =
        switch (arch) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64" -> "arm_64";
          default -> arch;
        };
    return "postgres-%s-%s.txz".formatted(system, processor);
  }

  Path program(String name) {
    return bin.resolve(name);
  }

  String major() {
    return version.replaceFirst("\\D.*", "");
  }
}
