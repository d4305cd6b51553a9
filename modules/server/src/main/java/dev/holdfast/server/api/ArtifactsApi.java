package dev.holdfast.server.api;

import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import dev.holdfast.worker.artifact.FolderStore;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Serves published files of jobs, if the server has their folder. */
public final class ArtifactsApi {
  private final Operators operators;
  private final @Nullable FolderStore store;

  public ArtifactsApi(Operators operators, @Nullable Path folder) {
    this.operators = operators;
    this.store = folder == null ? null : new FolderStore(folder);
  }

  public List<Route> routes() {
    return List.of(Route.get("/v1/jobs/{id}/artifacts/{name}", Guard.READ, this::download));
  }

  private Answer download(Call call) throws IOException {
    String name = Limits.artifactName(call.value("name"));
    JobId job = call.id("id");
    Artifact artifact =
        operators
            .of(call)
            .jobs()
            .show(job, JobDetail.Part.ARTIFACTS)
            .orElseThrow(() -> OperatorException.noSuchJob(job))
            .artifacts()
            .stream()
            .map(PublishedArtifact::artifact)
            .filter(each -> each.name().equals(name))
            .findFirst()
            .orElseThrow(() -> Problem.notFound("the job has published no '" + name + "'"));
    Path file = file(job, artifact);
    return Answer.stream(
            Answer.BYTES,
            out -> {
              try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
                in.transferTo(out);
              }
            })
        .header("Content-Length", Long.toString(artifact.size()))
        .header("Content-Disposition", "attachment; filename*=UTF-8''" + encoded(name))
        .header("ETag", "\"" + artifact.sha256() + "\"");
  }

  /** Symbolic links are not followed. */
  private Path file(JobId job, Artifact artifact) throws IOException {
    Path file = store == null ? null : store.path(job, artifact.name());
    if (file == null
        || Files.isSymbolicLink(file.getParent())
        || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        || Files.size(file) != artifact.size()) {
      throw Problem.notFound(
          "the file of '" + artifact.name() + "' is not in the server's folder of artifacts");
    }
    return file;
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A");
  }
}
