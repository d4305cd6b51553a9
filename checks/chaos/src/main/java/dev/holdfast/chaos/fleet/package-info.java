/** The database and the processes of the program. */
@NullMarked
package dev.holdfast.chaos.fleet;

import org.jspecify.annotations.NullMarked;
