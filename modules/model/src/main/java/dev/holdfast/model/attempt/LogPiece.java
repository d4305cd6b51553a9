package dev.holdfast.model.attempt;

/**
 * A piece of the output of an attempt's programs, in whole lines.
 *
 * @param piece counted from 1 in its attempt
 */
public record LogPiece(int attempt, int piece, String text) {}
