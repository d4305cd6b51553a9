package dev.holdfast.programs;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.process.ProcessTree;
import dev.holdfast.process.RollingFile;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.artifact.DiskErrors;
import dev.holdfast.worker.artifact.FileTrees;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs a program for a job: write its envelope → run it and read its output → publish the files it
 * left → what it said its output is becomes the result.
 */
final class ProgramHandler implements Handler<Json> {
  /** How much of what a program prints is kept on disk. */
  static final long LOG_BYTES = 10 << 20;

  private static final int DATA_ERROR = 65;
  private static final int TEMPORARY_FAILURE = 75;
  private static final int CONFIGURATION_ERROR = 78;

  private final Program program;
  private final Codec codec;
  private final Scrubber scrubber;

  ProgramHandler(Program program, Codec codec, Scrubber scrubber) {
    this.program = program;
    this.codec = codec;
    this.scrubber = scrubber;
  }

  /** The folders a program finds, all in its scratch folder, which is also where it starts. */
  private record Folders(Path scratch, Path envelope, Path artifacts, Path temporary, Path log) {
    static Folders in(Path scratch) {
      Path ours = scratch.resolve(Scratch.OURS);
      return new Folders(
          scratch,
          ours.resolve("job.json"),
          scratch.resolve("artifacts"),
          ours.resolve("tmp"),
          ours.resolve("output.log"));
    }
  }

  /**
   * Once, unless the program waits for what is there already: then it is called again at once, with
   * what that has brought, and keeps its slot. An id is waited for once, and a job has few.
   */
  @Override
  public @Nullable Object handle(Json payload, JobContext context) {
    Folders folders = Folders.in(context.scratch());
    Map<String, Object> envelope = envelope(context.job());
    int events = 0;
    try (RollingFile log = new RollingFile(folders.log(), LOG_BYTES)) {
      while (true) {
        Background known = new Background(context.waits(), codec);
        prepare(folders, known.in(envelope));
        ProgramOutput output = new ProgramOutput(context, codec, scrubber, log, events);
        run(context, folders, output);
        AskedByProgram asked = output.asked();
        asked.check(output.result() != null, output.last().all());
        known.start(asked.starts());
        Wait wait = asked.waitFor();
        if (wait == null) {
          publish(context, folders, output.result());
          return output.result();
        }
        events = output.events();
        known.await(wait);
      }
    }
  }

  private void run(JobContext context, Folders folders, ProgramOutput output) {
    int exit;
    try {
      exit =
          ProgramRunner.run(
              context, program.command(), environment(folders), output::out, output::err);
    } finally {
      output.end();
    }
    checkExit(exit, output);
  }

  /** Each call finds what the first one found: its envelope, and otherwise nothing. */
  private void prepare(Folders folders, Map<String, Object> envelope) {
    try {
      try (DirectoryStream<Path> left = Files.newDirectoryStream(folders.scratch())) {
        for (Path each : left) {
          if (!each.getFileName().toString().equals(Scratch.OURS)) {
            FileTrees.delete(each);
          }
        }
      }
      FileTrees.delete(folders.temporary());
      Files.createDirectories(folders.artifacts());
      Files.createDirectories(folders.temporary());
      // The program may have put a link in its place.
      Files.deleteIfExists(folders.envelope());
      Files.writeString(folders.envelope(), codec.encode(envelope).text());
    } catch (IOException e) {
      throw DiskErrors.failed("the job's envelope could not be written", e);
    }
  }

  /** The names are those of the worker contract, where a job is called a task of a run. */
  private Map<String, Object> envelope(LeasedJob job) {
    Map<String, Object> envelope = new LinkedHashMap<>();
    envelope.put("taskId", job.id().toString());
    envelope.put("runId", job.run().toString());
    envelope.put("tenantId", job.tenant());
    envelope.put("workspaceId", job.workspace());
    envelope.put("attempt", job.lease().attempt());
    envelope.put("maxAttempts", job.maxAttempts());
    envelope.put("workerQueue", job.queue());
    envelope.put("kind", job.kind());
    envelope.put("payload", codec.decode(job.payload(), Object.class));
    JobAttributes attributes = job.attributes();
    envelope.put("resources", codec.decode(attributes.resources(), Object.class));
    putIfThere(envelope, "assetId", attributes.assetId());
    putIfThere(envelope, "partitionKey", attributes.partitionKey());
    putIfThere(envelope, "traceparent", attributes.traceparent());
    if (!attributes.tags().isEmpty()) {
      envelope.put("tags", attributes.tags());
    }
    return envelope;
  }

  private static void putIfThere(
      Map<String, Object> envelope, String field, @Nullable String value) {
    if (value != null) {
      envelope.put(field, value);
    }
  }

  private Map<String, String> environment(Folders folders) {
    Map<String, String> environment = new HashMap<>();
    environment.put("TMPDIR", folders.temporary().toString());
    environment.putAll(program.environment());
    environment.put("HOLDFAST_JOB", folders.envelope().toString());
    environment.put("HOLDFAST_SCRATCH", folders.scratch().toString());
    environment.put("HOLDFAST_ARTIFACTS", folders.artifacts().toString());
    return environment;
  }

  // ---- how it ended

  private void checkExit(int exit, ProgramOutput output) {
    Failure said = output.failure();
    if (said != null) {
      throw new FailedException(said.withStackTrace(output.last().all()));
    }
    if (exit != 0) {
      FailureCategory category =
          switch (exit) {
            case DATA_ERROR -> FailureCategory.DATA_QUALITY;
            case TEMPORARY_FAILURE -> FailureCategory.INFRASTRUCTURE;
            case CONFIGURATION_ERROR -> FailureCategory.CONFIGURATION;
            default -> FailureCategory.USER_CODE;
          };
      throw new FailedException(
          Failure.of(category, "EXIT_" + exit, ended(exit, output.last().last()))
              .withStackTrace(output.last().all()));
    }
  }

  private String ended(int exit, String lastLine) {
    String name = String.valueOf(Path.of(program.command().getFirst()).getFileName());
    return name + " " + ProcessTree.howItEnded(exit) + (lastLine.isBlank() ? "" : ": " + lastLine);
  }

  private void publish(JobContext context, Folders folders, @Nullable Json result) {
    Map<String, Path> files = new TreeMap<>();
    try (DirectoryStream<Path> left = Files.newDirectoryStream(folders.artifacts())) {
      left.forEach(file -> files.put(file.getFileName().toString(), file));
    } catch (IOException e) {
      throw DiskErrors.failed("the artifacts folder could not be read", e);
    }
    // One that was promised and is not there is found missing when it is to be published.
    program.artifacts().forEach(name -> files.putIfAbsent(name, folders.artifacts().resolve(name)));
    if (!files.isEmpty()) {
      context.publish(files, result);
    }
  }
}
