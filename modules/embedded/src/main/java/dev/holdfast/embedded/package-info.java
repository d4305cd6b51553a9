@NullMarked
package dev.holdfast.embedded;

import org.jspecify.annotations.NullMarked;
