/** Scratch folders, and files that are published as artifacts. */
@NullMarked
package dev.holdfast.worker.artifact;

import org.jspecify.annotations.NullMarked;
