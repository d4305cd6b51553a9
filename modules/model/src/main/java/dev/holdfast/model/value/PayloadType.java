package dev.holdfast.model.value;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/**
 * A type together with its parameters, which a class alone does not know: {@code new
 * PayloadType<List<Mail>>() {}}.
 */
public abstract class PayloadType<T> {
  private final Type type;

  /** For subclasses without a name, as above. */
  protected PayloadType() {
    if (!(getClass().getGenericSuperclass() instanceof ParameterizedType own)
        || own.getRawType() != PayloadType.class) {
      throw new IllegalArgumentException(
          "a payload type is made with its parameter: new PayloadType<List<String>>() {}");
    }
    this.type = own.getActualTypeArguments()[0];
  }

  private PayloadType(Type type) {
    this.type = type;
  }

  /** Of a class without parameters. */
  public static <T> PayloadType<T> of(Class<T> type) {
    return new Known<>(type);
  }

  /** For types that are known only when the program runs, such as that of a parameter. */
  public static PayloadType<?> of(Type type) {
    return new Known<>(type);
  }

  /** As reflection has it. */
  public final Type type() {
    return type;
  }

  @Override
  public final String toString() {
    return type instanceof Class<?> named ? named.getSimpleName() : type.getTypeName();
  }

  private static final class Known<T> extends PayloadType<T> {
    Known(Type type) {
      super(type);
    }
  }
}
