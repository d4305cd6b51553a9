@NullMarked
package dev.holdfast.shipped;

import org.jspecify.annotations.NullMarked;
