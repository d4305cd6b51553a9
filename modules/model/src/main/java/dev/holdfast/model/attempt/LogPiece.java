package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * A piece of the output of an attempt's programs, in whole lines.
 *
 * @param piece counted from 1 in its attempt
 */
public record LogPiece(int attempt, int piece, String text) {
  /**
   * The pieces of a log after lines were added, from this one on, which may have room. Long lines
   * are cut.
   */
  public List<LogPiece> append(String lines) {
    int number = piece;
    StringBuilder grown = new StringBuilder(text);
    List<LogPiece> pieces = new ArrayList<>();
    for (String line : lines.lines().toList()) {
      String kept = Text.excerpt(line, Limits.LOG_LINE_CHARS) + "\n";
      if (grown.length() + kept.length() > Limits.LOG_PIECE_CHARS) {
        pieces.add(new LogPiece(attempt, number++, grown.toString()));
        grown.setLength(0);
      }
      grown.append(kept);
    }
    if (!grown.isEmpty()) {
      pieces.add(new LogPiece(attempt, number, grown.toString()));
    }
    return pieces;
  }
}
