/** A connection to a Holdfast server. */
@NullMarked
package dev.holdfast.client.http;

import org.jspecify.annotations.NullMarked;
