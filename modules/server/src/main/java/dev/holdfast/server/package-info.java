@NullMarked
package dev.holdfast.server;

import org.jspecify.annotations.NullMarked;
