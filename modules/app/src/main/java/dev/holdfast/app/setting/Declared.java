package dev.holdfast.app.setting;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares a component of a {@link Section} as a setting. Its type follows from that of the
 * component, its key from the section and its name: {@code server.publicUrl}. The variable follows
 * from the key, {@code HOLDFAST_SERVER_PUBLIC_URL}; only those that the requirements name differ.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Declared {
  /**
   * The default, as it would be written in the file. Without one, a setting that is not given is
   * null, or an empty text or list.
   */
  String value() default "";

  /** What it is for. */
  String about() default "";

  String least() default "";

  String most() default "";

  String[] oneOf() default {};

  Form form() default Form.BY_TYPE;

  /** A key that does not follow from the section. */
  String key() default "";

  /** A variable that does not follow from the key. The unit of a bare number in it is its end. */
  String variable() default "";

  /** A path that is not given is this name in the folder of the setting {@code folder}. */
  String inFolder() default NONE;

  /** The key of the setting of another section that this component repeats. */
  String sameAs() default "";

  /** Its value is never shown. */
  boolean secret() default false;

  String NONE = "\0";

  /** How a text is written, where its type does not say so. */
  enum Form {
    BY_TYPE,
    ADDRESS,
    HOSTS,
    HOSTS_AND_PORTS,
    HOST_AND_PORT,
    WEB_ADDRESS,
    WEBHOOK_SECRET
  }
}
