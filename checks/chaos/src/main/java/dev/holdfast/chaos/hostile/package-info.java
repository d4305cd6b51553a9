/** Requests over HTTP that no well-behaved client would send. */
@NullMarked
package dev.holdfast.chaos.hostile;

import org.jspecify.annotations.NullMarked;
