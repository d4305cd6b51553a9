/**
 * Jobs of kind workspace: their steps run in a git repository, and what they change is kept as
 * patches.
 */
@NullMarked
package dev.holdfast.workspace;

import org.jspecify.annotations.NullMarked;
