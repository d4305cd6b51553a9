/** What commands print. */
@NullMarked
package dev.holdfast.app.terminal;

import org.jspecify.annotations.NullMarked;
