/**
 * What an operator can do, on the database.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
@NullMarked
package dev.holdfast.operate;

import org.jspecify.annotations.NullMarked;
