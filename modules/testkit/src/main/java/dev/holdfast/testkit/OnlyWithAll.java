package dev.holdfast.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * For tests that take long and whose behaviour other tests cover more cheaply: run by {@code ./test
 * --all}.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(named = "holdfast.test.all", matches = "true")
public @interface OnlyWithAll {}
