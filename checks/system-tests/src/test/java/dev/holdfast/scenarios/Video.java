package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A folder with a video, and an ffmpeg wrapper that records its calls. */
record Video(Path folder) {
  static final String NAME = "source.mp4";
  private static final String CALLS = "ffmpeg.calls";

  /** While this file is there, ffmpeg takes as long as the video lasts. */
  private static final String SLOWLY = "slowly";

  static Video in(Path folder) throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/ffmpeg")), "ffmpeg is not installed");
    Video video = new Video(folder);
    video.make();
    video.wrapFfmpeg();
    return video;
  }

  private void make() {
    try (ChildProcess ffmpeg =
        ChildProcess.command(
            "/usr/bin/ffmpeg",
            "-nostdin",
            "-v",
            "error",
            "-y",
            "-f",
            "lavfi",
            "-i",
            "testsrc2=duration=20:size=320x180:rate=25",
            "-f",
            "lavfi",
            "-i",
            "sine=frequency=440:duration=20",
            "-c:v",
            "libx264",
            "-preset",
            "ultrafast",
            "-c:a",
            "aac",
            folder.resolve(NAME).toString())) {
      assertThat(ffmpeg.awaitExit(SOON)).isZero();
    }
  }

  private void wrapFfmpeg() throws IOException {
    Path bin = Files.createDirectory(folder.resolve("bin"));
    Script.write(
        bin.resolve("ffmpeg"),
        """
            #!/bin/sh
            echo run >> %1$s/%2$s
            if [ -e %1$s/%3$s ]; then exec /usr/bin/ffmpeg -re "$@"; fi
            exec /usr/bin/ffmpeg "$@"
            """
            .formatted(folder, CALLS, SLOWLY));
  }

  String path() {
    return folder.resolve("bin") + ":" + System.getenv("PATH");
  }

  void slow() throws IOException {
    Files.writeString(folder.resolve(SLOWLY), "");
  }

  void fast() throws IOException {
    Files.delete(folder.resolve(SLOWLY));
  }

  /** How often ffmpeg was run. */
  int calls() throws IOException {
    Path calls = folder.resolve(CALLS);
    return Files.exists(calls) ? Files.readAllLines(calls).size() : 0;
  }

  static Map<String, Object> request(double start, double seconds) {
    return Map.of("source", NAME, "start", start, "seconds", seconds);
  }

  /** Whether it can be decoded from its first to its last frame. */
  static void assertPlayable(Path clip, double seconds) {
    try (ChildProcess decode =
        ChildProcess.command(
            "/usr/bin/ffmpeg",
            "-nostdin",
            "-v",
            "error",
            "-i",
            clip.toString(),
            "-f",
            "null",
            "-")) {
      assertThat(decode.awaitExit(SOON)).isZero();
      assertThat(decode.lines()).isEmpty();
    }
    try (ChildProcess probe =
        ChildProcess.command(
            "/usr/bin/ffprobe",
            "-v",
            "error",
            "-show_entries",
            "format=duration",
            "-of",
            "default=noprint_wrappers=1:nokey=1",
            clip.toString())) {
      assertThat(probe.awaitExit(SOON)).isZero();
      List<String> lines = probe.lines();
      assertThat(Double.parseDouble(lines.getFirst())).isBetween(seconds - 0.5, seconds + 0.5);
    }
  }
}
