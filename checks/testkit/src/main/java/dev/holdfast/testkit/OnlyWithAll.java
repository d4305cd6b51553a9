package dev.holdfast.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * For tests that take long and that few changes can break: run by {@code ./test --all}, as in CI.
 * JUnit makes the instance of a class also for a method that it then skips: where the constructor
 * starts a process, such a test has a class of its own.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(named = "holdfast.test.all", matches = "true")
public @interface OnlyWithAll {}
