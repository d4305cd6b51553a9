/** Finding jobs: the syntax of the search, jobs that depend on each other, groups of failures. */
@NullMarked
package dev.holdfast.model.search;

import org.jspecify.annotations.NullMarked;
