/** A worker's jobs over HTTP. */
@NullMarked
package dev.holdfast.client.worker;

import org.jspecify.annotations.NullMarked;
