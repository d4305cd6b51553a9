/** What must hold at every moment, and in the end. */
@NullMarked
package dev.holdfast.chaos.check;

import org.jspecify.annotations.NullMarked;
