package dev.holdfast.worker.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.JobId;
import dev.holdfast.worker.handler.LeaseLostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files between a store and the source that accepts them. */
class PublisherTest {
  @TempDir Path folder;
  private final JobId job = JobId.next();
  private final List<PublishedArtifact> accepted = new ArrayList<>();
  private Ack answer = Ack.ACCEPTED;
  private FolderStore store;
  private Publisher publisher;
  private Path file;

  private final class Accepting implements Publisher.Source {
    @Override
    public Ack publish(Publication publication) {
      if (answer == Ack.ACCEPTED) {
        publication
            .artifacts()
            .forEach(
                one ->
                    accepted.add(
                        new PublishedArtifact(
                            one,
                            publication.lease().attempt(),
                            publication.store(),
                            Instant.EPOCH,
                            publication.result())));
      }
      return answer;
    }

    @Override
    public List<PublishedArtifact> artifacts(Lease lease) {
      return accepted;
    }
  }

  @BeforeEach
  void open() throws Exception {
    store = new FolderStore(folder);
    publisher = new Publisher(store, new Accepting());
    file = Files.writeString(folder.resolve("made"), "made by the first attempt");
  }

  private Path staged() {
    return folder.resolve("results/.staged/%s/1/out.bin".formatted(job));
  }

  @Test
  void an_accepted_file_that_could_not_be_moved_is_kept_and_moved_by_the_next_attempt()
      throws Exception {
    Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
    Path link = folder.resolve("results").resolve(job.toString());
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, elsewhere);
    assertThatThrownBy(
            () -> publisher.publish(new Lease(job, 1), Map.of("out.bin", file), null, () -> {}))
        .isInstanceOf(FailedException.class)
        .hasMessageContaining("could not be stored");
    assertThat(staged()).hasContent("made by the first attempt");

    Files.delete(link);
    assertThat(publisher.finished(new Lease(job, 2), List.of("out.bin"), name -> {})).isPresent();
    assertThat(store.path(job, "out.bin")).hasContent("made by the first attempt");
  }

  @Test
  void a_file_that_was_not_accepted_is_thrown_away() {
    answer = Ack.LEASE_LOST;
    assertThatThrownBy(
            () -> publisher.publish(new Lease(job, 1), Map.of("out.bin", file), null, () -> {}))
        .isInstanceOf(LeaseLostException.class);
    assertThat(staged()).doesNotExist();
  }
}
