/** Not part of the API: for the modules of Holdfast, and may change in any release. */
@NullMarked
package dev.holdfast.process;

import org.jspecify.annotations.NullMarked;
