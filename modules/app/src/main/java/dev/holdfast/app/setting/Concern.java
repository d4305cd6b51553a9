package dev.holdfast.app.setting;

import java.util.List;
import java.util.function.Function;

/**
 * The settings that one record is made of.
 *
 * @param name the title of its table in the documents
 * @param read makes the record; throws when values that are right by themselves contradict each
 *     other
 */
public record Concern(String name, List<Setting<?>> settings, Function<SettingValues, ?> read) {
  public Concern {
    settings = List.copyOf(settings);
  }
}
