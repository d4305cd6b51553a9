package dev.holdfast.app.cli;

import dev.holdfast.model.ops.Pause;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** By whom and why something is paused, asked for and shown. */
public final class PauseText {
  @Option(
      names = {"-r", "--reason"},
      paramLabel = "TEXT",
      description = "why; it is shown until the end of the pause")
  public @Nullable String reason;

  /** As in {@code by ada (deploying)}, after a blank; nothing if nothing is known. */
  public static String of(@Nullable Pause pause) {
    if (pause == null) {
      return "";
    }
    return (pause.by() == null ? "" : " by " + pause.by())
        + (pause.reason() == null ? "" : " (" + pause.reason() + ")");
  }
}
