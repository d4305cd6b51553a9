/** Git: mirrors, work trees, snapshots and patches. */
@NullMarked
package dev.holdfast.workspace.git;

import org.jspecify.annotations.NullMarked;
