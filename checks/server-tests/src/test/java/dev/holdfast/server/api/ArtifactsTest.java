package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.artifact.ArtifactStore;
import dev.holdfast.worker.artifact.FolderStore;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Downloads of published artifacts. */
public class ArtifactsTest extends ServerTest {
  @TempDir Path folder;
  private HoldfastServer withFiles;
  private Client there;
  private FolderStore store;

  ArtifactsTest(TestDatabase db) {
    super(db);
  }

  @BeforeEach
  void open() {
    withFiles = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0).artifacts(folder));
    there = new Client(withFiles.url());
    store = new FolderStore(folder);
  }

  @AfterEach
  void close() {
    withFiles.close();
  }

  private JobId published(String name, byte[] bytes) throws IOException {
    holdfast.enqueue(Job.of("make").queue("make"));
    Lease lease =
        holdfast
            .jobs()
            .claim(new ClaimRequest("make", 1, "w", Duration.ofMinutes(5)))
            .jobs()
            .getFirst()
            .lease();
    Path source = Files.write(folder.resolve("source"), bytes);
    ArtifactStore.Staged staged = store.stage(lease, name, source);
    holdfast.jobs().publish(new Publication(lease, store.id(), List.of(staged.artifact()), null));
    assertThat(staged.publish()).isTrue();
    return lease.job();
  }

  private HttpResponse<byte[]> download(JobId job, String name) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            there.request("/v1/jobs/" + job + "/artifacts/" + name, null).GET().build(),
            HttpResponse.BodyHandlers.ofByteArray());
  }

  @Test
  void a_file_is_served_whole_with_its_length_and_its_checksum() throws Exception {
    byte[] bytes = new byte[3_000_000];
    new Random(7).nextBytes(bytes);
    JobId job = published("clip (1).mp4", bytes);
    JsonNode listed =
        there.get("/v1/jobs/" + job + "/artifacts", null).ok().get("artifacts").get(0);
    assertThat(listed.get("size").asLong()).isEqualTo(bytes.length);

    HttpResponse<byte[]> file = download(job, "clip%20(1).mp4");
    assertThat(file.statusCode()).isEqualTo(200);
    assertThat(file.body()).isEqualTo(bytes);
    assertThat(file.headers().firstValue("Content-Length")).hasValue("3000000");
    assertThat(file.headers().firstValue("Content-Type")).hasValue("application/octet-stream");
    assertThat(file.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
    assertThat(file.headers().firstValue("Content-Disposition"))
        .hasValue("attachment; filename*=UTF-8''clip%20%281%29.mp4");
    assertThat(file.headers().firstValue("ETag"))
        .hasValue("\"" + listed.get("sha256").asText() + "\"");
  }

  @Test
  void an_empty_file_is_a_file() throws Exception {
    HttpResponse<byte[]> file = download(published("empty", new byte[0]), "empty");
    assertThat(file.statusCode()).isEqualTo(200);
    assertThat(file.body()).isEmpty();
  }

  @Test
  void a_missing_or_incomplete_file_is_not_found() throws Exception {
    JobId job = published("out.bin", new byte[] {1, 2, 3});
    Files.write(store.path(job, "out.bin"), new byte[] {1, 2});
    there.get("/v1/jobs/" + job + "/artifacts/out.bin", null).is(404, "not_found");
    Files.delete(store.path(job, "out.bin"));
    there.get("/v1/jobs/" + job + "/artifacts/out.bin", null).is(404, "not_found");
    there.get("/v1/jobs/" + job + "/artifacts/other.bin", null).is(404, "not_found");
    // The other server has no folder to look into.
    client.get("/v1/jobs/" + job + "/artifacts/out.bin", null).is(404, "not_found");
  }

  @Test
  void a_link_is_not_followed() throws Exception {
    JobId job = published("out.bin", new byte[] {1, 2, 3});
    Path outside = Files.write(folder.resolve("outside"), new byte[] {7, 7, 7});
    Path file = store.path(job, "out.bin");
    Files.delete(file);
    Files.createSymbolicLink(file, outside);
    there.get("/v1/jobs/" + job + "/artifacts/out.bin", null).is(404, "not_found");

    Files.delete(file);
    Files.delete(file.getParent());
    Path other = Files.createDirectory(folder.resolve("other"));
    Files.write(other.resolve("out.bin"), new byte[] {7, 7, 7});
    Files.createSymbolicLink(file.getParent(), other);
    there.get("/v1/jobs/" + job + "/artifacts/out.bin", null).is(404, "not_found");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"..%2F..%2Fsource", "..", "%2Fetc%2Fpasswd", ".store", "a%5Cb", "a%00b", "%20"})
  void a_name_that_could_lead_outside_the_folder_is_rejected(String name) throws Exception {
    JobId job = published("out.bin", new byte[] {1});
    assertThat(there.get("/v1/jobs/" + job + "/artifacts/" + name, null).status())
        .isBetween(400, 499);
  }
}
