package dev.holdfast.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * For tests of what only a release makes, and for those that take longest and whose behaviour other
 * tests cover more cheaply: run by {@code ./test --release}.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(named = "holdfast.test.release", matches = "true")
public @interface OnlyWithRelease {}
