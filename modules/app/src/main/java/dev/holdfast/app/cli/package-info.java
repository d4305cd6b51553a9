/** What commands share: options, tables, input. */
@NullMarked
package dev.holdfast.app.cli;

import org.jspecify.annotations.NullMarked;
