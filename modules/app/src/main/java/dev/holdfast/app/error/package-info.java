/** Exit codes, and what is printed when a command fails. */
@NullMarked
package dev.holdfast.app.error;

import org.jspecify.annotations.NullMarked;
