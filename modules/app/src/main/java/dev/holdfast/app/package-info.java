/** The program: its commands. */
@NullMarked
package dev.holdfast.app;

import org.jspecify.annotations.NullMarked;
