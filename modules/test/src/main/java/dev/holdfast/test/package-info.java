/**
 * For the tests of a service: {@link dev.holdfast.test.HoldfastExtension} brings a database, {@link
 * dev.holdfast.test.HoldfastAssertions} says what was enqueued, and {@link
 * dev.holdfast.test.TestTime} lets time pass at once.
 */
@NullMarked
package dev.holdfast.test;

import org.jspecify.annotations.NullMarked;
