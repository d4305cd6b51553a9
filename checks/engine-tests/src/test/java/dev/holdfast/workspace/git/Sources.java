package dev.holdfast.workspace.git;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Runs scripts in folders, as users and programs do. */
public final class Sources {
  private Sources() {}

  /** What the script printed. It finds a user's configuration, as programs do. */
  public static String sh(Path folder, String script) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-e", "-c", script)
            .directory(folder.toFile())
            .redirectErrorStream(true);
    builder.environment().put("GIT_CONFIG_GLOBAL", "/dev/null");
    for (String who : new String[] {"AUTHOR", "COMMITTER"}) {
      builder.environment().put("GIT_" + who + "_NAME", "Somebody");
      builder.environment().put("GIT_" + who + "_EMAIL", "somebody@example.org");
    }
    Process process = builder.start();
    process.getOutputStream().close();
    String said;
    try (InputStream out = process.getInputStream()) {
      said = new String(out.readAllBytes(), StandardCharsets.UTF_8);
    }
    assertThat(process.waitFor()).as(said).isZero();
    return said.strip();
  }

  /** A repository with a few files on branch main. */
  public static Path repository(Path folder) throws IOException, InterruptedException {
    Files.createDirectories(folder);
    sh(
        folder,
        """
        git init -q -b main .
        printf 'one\\ntwo\\nthree\\n' > a.txt
        mkdir src && printf 'hello\\n' > src/b.txt
        printf '*.log\\n' > .gitignore
        git add -A && git commit -q -m first
        """);
    return folder;
  }
}
