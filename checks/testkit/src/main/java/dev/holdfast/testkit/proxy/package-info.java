/** What is between the two ends of a connection that is made to fail. */
@NullMarked
package dev.holdfast.testkit.proxy;

import org.jspecify.annotations.NullMarked;
