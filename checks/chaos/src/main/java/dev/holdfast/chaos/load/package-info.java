/** The jobs that are run, and what is expected of each. */
@NullMarked
package dev.holdfast.chaos.load;

import org.jspecify.annotations.NullMarked;
