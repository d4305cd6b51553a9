package dev.holdfast.app.demo;

import dev.holdfast.model.value.Json;
import dev.holdfast.programs.ProgramRunner;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What the workers of the demo run. */
final class DemoKinds {
  static final String PIPELINE = "demo-pipeline";
  static final String TOXIC = "demo-toxic";
  static final String CLIP = "demo-clip";
  static final String ENDLESS = "demo-endless";

  /** The progress of a pipeline whose first step is done, in percent. */
  static final int FIRST_STEP = 25;

  private static final int PARTS = 10;

  private DemoKinds() {}

  /** Where a document comes from. */
  record Source(String document) {}

  /** A video, from {@code start}. */
  record Cut(String source, int start) {}

  static List<Kind<?>> all() {
    return List.of(
        Kind.of(PIPELINE, Source.class, DemoKinds::pipeline),
        Kind.of(CLIP, Cut.class, DemoKinds::clip),
        Kind.of(
            ENDLESS,
            Json.class,
            (payload, context) -> {
              for (int i = 0; ; i++) {
                context.checkCancelled();
                context.progress(Math.min(99, i), "there is always more to do");
                Thread.sleep(Duration.ofMillis(200));
              }
            }),
        // A crash of native code: the process ends without an exception or a log line.
        Kind.of(
            TOXIC,
            Json.class,
            (payload, context) -> {
              context.progress(1, "reading a broken file");
              Thread.sleep(Duration.ofMillis(300));
              Runtime.getRuntime().halt(139);
              return payload;
            }));
  }

  /** Four steps; a worker that takes over continues after the completed ones. */
  private static Object pipeline(Source source, JobContext context) {
    String text =
        context.step(
            "fetch", String.class, () -> slowly(context, 0, "fetched " + source.document()));
    int words =
        context.step(
            "split",
            Integer.class,
            () -> slowly(context, FIRST_STEP, text + " and split").split(" ", -1).length);
    String vector =
        context.step("embed", String.class, () -> slowly(context, 50, "vector of " + words));
    return context.step(
        "store", Map.class, () -> Map.of("stored", slowly(context, 75, vector), "words", words));
  }

  private static String slowly(JobContext context, int from, String result)
      throws InterruptedException {
    for (int i = 0; i < PARTS; i++) {
      context.progress(from + 25 * i / PARTS, result);
      Thread.sleep(Duration.ofMillis(250));
    }
    return result;
  }

  private static Object clip(Cut cut, JobContext context) {
    Path clip = context.scratch().resolve("clip.mp4");
    int exit =
        ProgramRunner.run(
            context,
            List.of(
                "ffmpeg",
                "-nostdin",
                "-v",
                "error",
                "-y",
                "-ss",
                "" + cut.start(),
                "-t",
                "2",
                "-i",
                cut.source(),
                clip.toString()),
            line -> {},
            line -> {});
    if (exit != 0) {
      throw new IllegalStateException("ffmpeg ended with " + exit);
    }
    context.publish("clip.mp4", clip);
    return Map.of("artifact", "clip.mp4");
  }
}
