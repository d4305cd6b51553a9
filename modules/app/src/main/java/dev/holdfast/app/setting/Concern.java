package dev.holdfast.app.setting;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.model.value.RefusedException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes a record from the values of the settings that its components declare. */
public final class Concern<R extends Record> {
  private static final String FOLDER = "folder";

  private final Class<R> type;
  private final Section section;
  private final Constructor<R> constructor;
  private final Map<String, Setting> settings = new LinkedHashMap<>();

  private Concern(Class<R> type, Section section, Constructor<R> constructor) {
    this.type = type;
    this.section = section;
    this.constructor = constructor;
  }

  public static <R extends Record> Concern<R> of(Class<R> type) {
    List<Class<?>> types = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      types.add(component.getType());
    }
    try {
      Concern<R> concern =
          new Concern<>(
              type,
              Objects.requireNonNull(type.getAnnotation(Section.class)),
              type.getConstructor(types.toArray(Class<?>[]::new)));
      for (RecordComponent component : type.getRecordComponents()) {
        if (declared(component).sameAs().isEmpty()) {
          concern.settings.put(component.getName(), concern.setting(component));
        }
      }
      return concern;
    } catch (NoSuchMethodException hidden) {
      throw new IllegalStateException(type + " is not public", hidden);
    }
  }

  private static Declared declared(RecordComponent component) {
    return Objects.requireNonNull(
        component.getAnnotation(Declared.class), component + " is not declared");
  }

  private Setting setting(RecordComponent component) {
    Declared declared = declared(component);
    String key = declared.key();
    if (key.isEmpty()) {
      key = section.key() + "." + component.getName();
    }
    return new Setting(key, SettingType.of(component.getType(), declared), declared);
  }

  /** The title of its table in the documents. */
  public String name() {
    return section.title();
  }

  public List<Setting> settings() {
    return List.copyOf(settings.values());
  }

  /** Throws when a value is wrong, or contradicts another one. */
  public R read(SettingValues values) {
    List<@Nullable Object> arguments = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      arguments.add(value(component, values));
    }
    try {
      return constructor.newInstance(arguments.toArray());
    } catch (InvocationTargetException refused) {
      throw switch (refused.getCause()) {
        case ContradictionException wrong -> wrong(wrong, values);
        case RefusedException wrong -> CommandException.misconfigured(wrong);
        case RuntimeException other -> other;
        case null, default -> new IllegalStateException(refused);
      };
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private @Nullable Object value(RecordComponent component, SettingValues values) {
    Declared declared = declared(component);
    Setting setting = settings.get(component.getName());
    if (setting == null) {
      String other = declared.sameAs();
      return isNullable(component) && !values.isGiven(other) ? null : values.get(other);
    }
    if (values.isGiven(setting.key()) || !declared.value().isEmpty()) {
      return values.get(setting.key());
    }
    Class<?> of = component.getType();
    if (!declared.inFolder().equals(Declared.NONE)) {
      return ((Path) values.get(FOLDER)).resolve(declared.inFolder());
    }
    return of == String.class && declared.form() == Declared.Form.BY_TYPE && !isNullable(component)
        ? ""
        : of == List.class ? List.of() : of == Set.class ? Set.of() : null;
  }

  private static boolean isNullable(RecordComponent component) {
    return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  private CommandException wrong(ContradictionException wrong, SettingValues values) {
    String other = keyOf(wrong.other());
    return values.wrong(
        keyOf(wrong.component()),
        wrong
            .expected()
            .replace(
                "{}", "%s (%s)".formatted(values.setting(other).variable(), values.text(other))));
  }

  private String keyOf(String name) {
    for (RecordComponent component : type.getRecordComponents()) {
      if (component.getName().equals(name)) {
        Setting own = settings.get(name);
        return own == null ? declared(component).sameAs() : own.key();
      }
    }
    throw new IllegalArgumentException(type + " has no component " + name);
  }
}
