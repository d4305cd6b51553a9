/**
 * JSON as it is read and written on the wire.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.contract.json;

import org.jspecify.annotations.NullMarked;
