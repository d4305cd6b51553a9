@NullMarked
package dev.holdfast.overhttp;

import org.jspecify.annotations.NullMarked;
