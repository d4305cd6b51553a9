/** Settings: where they come from and what they are made into. */
@NullMarked
package dev.holdfast.app.config;

import org.jspecify.annotations.NullMarked;
