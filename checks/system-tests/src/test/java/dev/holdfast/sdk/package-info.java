@NullMarked
package dev.holdfast.sdk;

import org.jspecify.annotations.NullMarked;
