package dev.holdfast.model.attempt;

/**
 * What the programs of an attempt printed: one of the last pieces, in whole lines.
 *
 * @param piece counted from 1 in its attempt
 */
public record LogPiece(int attempt, int piece, String text) {}
