package dev.holdfast;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** Workers with a scratch folder and an artifact store of their own. */
public abstract class WorkplaceTest extends LibraryTest {
  @TempDir protected Path folder;

  protected final Path scratchRoot() {
    return folder.resolve("scratch");
  }

  protected final Path scratch(JobId job, int attempt) {
    return scratchRoot().resolve(job.toString()).resolve(Integer.toString(attempt));
  }

  protected final Path artifact(JobId job, String name) {
    return folder.resolve("results").resolve(job.toString()).resolve(name);
  }

  @Override
  protected WorkerBuilder worker(String... queues) {
    return super.worker(queues)
        .scratch(new Scratch(scratchRoot(), false))
        .artifacts(new FolderStore(folder));
  }

  protected final JobId enqueued(String kind, Object payload) {
    return enqueue(Job.of(kind, payload));
  }

  /** All files below a folder, as paths within it. */
  protected static List<String> files(Path root) throws IOException {
    while (Files.exists(root)) {
      try (Stream<Path> walk = Files.walk(root)) {
        return walk.filter(Files::isRegularFile)
            .map(file -> root.relativize(file).toString())
            .sorted()
            .toList();
      } catch (NoSuchFileException | UncheckedIOException goneMeanwhile) {
        // once more
      }
    }
    return List.of();
  }
}
