package dev.holdfast.model;

import org.jspecify.annotations.Nullable;

/**
 * What a worker should know of a job before it begins.
 *
 * @param failure why an attempt before this one failed
 */
public record Background(LiveControl control, @Nullable Failure failure) {
  public static final Background NONE = new Background(LiveControl.NONE, null);
}
