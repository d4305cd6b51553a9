@NullMarked
package dev.holdfast.examples.clip;

import org.jspecify.annotations.NullMarked;
