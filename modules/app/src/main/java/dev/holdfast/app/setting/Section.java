package dev.holdfast.app.setting;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A record of settings: a section of holdfast.yaml, and a table in the documents. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Section {
  /** Of the table. */
  String title();

  /** The keys of the settings begin with it. */
  String key();
}
