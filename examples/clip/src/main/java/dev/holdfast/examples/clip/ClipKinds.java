package dev.holdfast.examples.clip;

import dev.holdfast.Holdfast;
import dev.holdfast.KindProvider;
import dev.holdfast.worker.handler.Kind;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/** Brings the kind 'clip' to a worker that has this jar on its class path. */
public final class ClipKinds implements KindProvider {
  private static final String MOST_BYTES = "2000000000";

  @Override
  public Collection<Kind<?>> kinds(Holdfast holdfast) {
    Clip clip =
        new Clip(
            Path.of(setting("CLIP_FOLDER", ".")),
            Long.parseLong(setting("CLIP_MOST_BYTES", MOST_BYTES)));
    return List.of(Kind.of("clip", Clip.Request.class, clip).producing(Clip.ARTIFACT));
  }

  private static String setting(String name, String fallback) {
    String value = System.getenv(name);
    return value == null || value.isBlank() ? fallback : value;
  }
}
