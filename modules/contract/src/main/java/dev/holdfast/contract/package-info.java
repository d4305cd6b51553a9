/**
 * What goes over the wire.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract;

import org.jspecify.annotations.NullMarked;
