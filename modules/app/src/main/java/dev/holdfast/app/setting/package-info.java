/** How a setting is declared, read from text and kept with its origin. */
@NullMarked
package dev.holdfast.app.setting;

import org.jspecify.annotations.NullMarked;
