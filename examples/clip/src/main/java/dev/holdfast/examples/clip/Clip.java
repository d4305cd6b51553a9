package dev.holdfast.examples.clip;

import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.programs.ProgramRunner;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Cuts a clip out of a video: verify the source → cut it in the scratch folder → verify the clip →
 * publish it. A retry that finds the clip published has nothing left to do.
 */
final class Clip implements Handler<Clip.Request> {
  static final String ARTIFACT = "clip.mp4";

  /** Half a second more or less: a clip begins and ends with whole frames. */
  private static final double TOLERANCE = 0.5;

  private final Path folder;
  private final long mostBytes;

  /**
   * @param folder where sources lie; a job cannot reach out of it
   */
  Clip(Path folder, long mostBytes) {
    this.folder = folder.toAbsolutePath().normalize();
    this.mostBytes = mostBytes;
  }

  /** From {@code start}, for {@code seconds}. */
  record Request(String source, double start, double seconds) {}

  @Override
  public Map<String, Object> handle(Request request, JobContext context) throws IOException {
    Path source = checked(request);
    Ffmpeg ffmpeg = new Ffmpeg(context);
    double length = ffmpeg.secondsOf(source);
    if (request.start() + request.seconds() > length + TOLERANCE) {
      throw invalid("the source has only %.1f seconds".formatted(length));
    }
    context.event(EventType.SOURCE_READY, Map.of("bytes", Files.size(source), "seconds", length));

    Path clip = context.scratch().resolve(ARTIFACT);
    ffmpeg.cut(source, request.start(), request.seconds(), clip);
    double seconds = ffmpeg.secondsOf(clip);
    if (Math.abs(seconds - request.seconds()) > TOLERANCE) {
      throw FailedException.of(
          FailureCategory.USER_CODE,
          "CLIP_INVALID",
          "the clip has %.1f seconds instead of %.1f".formatted(seconds, request.seconds()));
    }
    context.progress(100, "cut");

    Map<String, Object> result =
        Map.of("artifact", ARTIFACT, "seconds", seconds, "bytes", Files.size(clip));
    context.publish(Map.of(ARTIFACT, clip), result);
    return result;
  }

  /** All that can be said without reading the video, before any work. */
  private Path checked(Request request) throws IOException {
    if (request.source().isBlank() || !(request.start() >= 0) || !(request.seconds() > 0)) {
      throw invalid("a clip needs a source, a start and a length in seconds");
    }
    Path source = resolved(request.source());
    if (!Files.isRegularFile(source)) {
      throw invalid("there is no video '" + request.source() + "'");
    }
    long bytes = Files.size(source);
    if (bytes > mostBytes) {
      throw new FailedException(
          Failure.of(
              FailureCategory.DATA_QUALITY,
              Failure.INPUT_TOO_LARGE,
              "the source has %,d bytes, more than the %,d allowed".formatted(bytes, mostBytes)));
    }
    return source;
  }

  private Path resolved(String source) throws IOException {
    try {
      Path file = folder.resolve(source).normalize();
      if (Files.exists(file) && !file.toRealPath().startsWith(folder.toRealPath())) {
        throw invalid("'" + source + "' is outside the folder of sources");
      }
      return file;
    } catch (InvalidPathException impossible) {
      throw invalid("'" + source + "' cannot be a file's name");
    }
  }

  private static FailedException invalid(String message) {
    return FailedException.of(FailureCategory.DATA_QUALITY, Failure.VALIDATION, message);
  }

  /** ffprobe and ffmpeg, run under the attempt: cancelled with it, and never left behind. */
  private record Ffmpeg(JobContext context) {
    private static final String POSITION = "out_time_us=";

    /** Throws unless it is a video that can be read. */
    double secondsOf(Path file) {
      StringBuilder out = new StringBuilder();
      List<String> command =
          List.of(
              "ffprobe",
              "-v",
              "error",
              "-select_streams",
              "v:0",
              "-show_entries",
              "format=duration:stream=codec_type",
              "-of",
              "default=noprint_wrappers=1",
              "file:" + file);
      int exit =
          ProgramRunner.run(context, command, line -> out.append(line).append('\n'), line -> {});
      String text = out.toString();
      String duration =
          text.lines()
              .filter(line -> line.startsWith("duration="))
              .map(line -> line.substring("duration=".length()))
              .findFirst()
              .orElse("N/A");
      if (exit != 0 || !text.contains("codec_type=video") || duration.equals("N/A")) {
        throw invalid(file.getFileName() + " is not a video that can be read");
      }
      return Double.parseDouble(duration);
    }

    void cut(Path source, double start, double seconds, Path clip) {
      StringBuilder errors = new StringBuilder();
      List<String> command =
          List.of(
              "ffmpeg",
              "-nostdin",
              "-v",
              "error",
              "-y",
              "-ss",
              Double.toString(start),
              "-t",
              Double.toString(seconds),
              "-i",
              "file:" + source,
              "-c:v",
              "libx264",
              "-preset",
              "veryfast",
              "-c:a",
              "aac",
              "-movflags",
              "+faststart",
              "-progress",
              "pipe:1",
              "file:" + clip);
      int exit =
          ProgramRunner.run(
              context, command, line -> progress(line, seconds), line -> append(errors, line));
      if (exit != 0) {
        throw FailedException.of(
            FailureCategory.USER_CODE,
            "FFMPEG_FAILED",
            "ffmpeg exited with " + exit + ": " + errors);
      }
    }

    /** ffmpeg says where it is; 100 is said when the clip has been verified. */
    private void progress(String line, double seconds) {
      if (line.startsWith(POSITION)) {
        try {
          double done = Long.parseLong(line.substring(POSITION.length())) / 1e6;
          context.progress((int) Math.clamp(99 * done / seconds, 0, 99), "cutting");
        } catch (NumberFormatException notYet) {
          return; // it has no position before the first frame
        }
      }
    }

    private static void append(StringBuilder text, String line) {
      if (text.length() < 1_000) {
        text.append(line).append(' ');
      }
    }
  }
}
