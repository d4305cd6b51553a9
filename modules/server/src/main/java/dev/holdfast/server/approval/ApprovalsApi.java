package dev.holdfast.server.approval;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.token.ApprovalTokens;
import dev.holdfast.contract.token.TokenException;
import dev.holdfast.model.notice.AskedQuestion;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.value.Text;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.auth.RateLimiter;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.ExceptionProblems;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Links to questions: whoever has one decides, without a key. Opening a link shows the question and
 * changes nothing, since programs open links in messages to show what is behind them; only a button
 * decides. The token in the address is all that is needed, so it protects from forged requests as
 * well: a page that does not know the address cannot send the form.
 */
public final class ApprovalsApi {
  private static final int REQUESTS_PER_SECOND = 20;
  private static final int NAME_CHARS = 100;
  private static final String LINK = "link";

  /** What can happen to people gets a page. */
  private static final Set<Integer> SHOWN = Set.of(404, 409, 410, 422, 429);

  private static final String HTML = "text/html; charset=utf-8";

  private final JobStore store;
  private final ApprovalTokens tokens;
  private final RateLimiter requests = new RateLimiter(REQUESTS_PER_SECOND, System::nanoTime);

  public ApprovalsApi(JobStore store, ApprovalTokens tokens) {
    this.store = store;
    this.tokens = tokens;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/approvals/{token}", Guard.OPEN, this::show),
        Route.post("/approvals/{token}", Guard.OPEN, this::decide).maxBody(Route.SMALL));
  }

  /** A question that is asked now. */
  private record Open(AskedQuestion asked, OpenWait open, OpenWait.Asked question) {}

  /**
   * What somebody has decided by a link.
   *
   * @param name of who says so; nobody has checked it
   */
  record LinkDecision(@Nullable Boolean approved, @Nullable String name, @Nullable String comment) {
    LinkDecision {
      Wire.present("approved", approved);
    }

    static LinkDecision of(Map<String, String> form) {
      String decision = form.getOrDefault("decision", "");
      if (!decision.equals("approve") && !decision.equals("reject")) {
        throw new Problem(422, "invalid_value", "choose to approve or to reject");
      }
      return new LinkDecision(decision.equals("approve"), form.get("name"), form.get("comment"));
    }

    /**
     * Who has decided, for the timeline: that it was by a link comes first, so that no name looks
     * like that of a key.
     */
    Decision decision() {
      String by = name == null ? "" : name.strip();
      if (by.length() > NAME_CHARS || !Text.isOneInertLine(by)) {
        throw new Problem(
            422,
            "invalid_value",
            "a name may have %d characters, all of which are seen".formatted(NAME_CHARS));
      }
      return new Decision(
          Boolean.TRUE.equals(approved),
          by.isEmpty() ? LINK : LINK + ": " + by,
          comment == null ? "" : comment.replace("\r\n", "\n").strip());
    }
  }

  private Answer show(Call call) {
    return answered(
        isForProgram(call),
        () -> {
          Open open = open(scope(call));
          return isForProgram(call)
              ? Answer.ok(json(open))
              : html(200, QuestionPage.of(open.asked(), open.open(), open.question()));
        });
  }

  private Answer decide(Call call) {
    boolean form = call.isForm();
    return answered(
        !form,
        () -> {
          ApprovalTokens.Scope scope = scope(call);
          LinkDecision said =
              form
                  ? LinkDecision.of(call.form("decision", "name", "comment"))
                  : call.body(LinkDecision.class);
          Decision decision = said.decision();
          decide(scope, decision);
          return form
              ? html(
                  200,
                  QuestionPage.message(
                      decision.approved() ? "Approved" : "Rejected",
                      "Thank you: the job was told. This page can be closed."))
              : Answer.ok(
                  Wire.object()
                      .put("id", scope.job().toString())
                      .put("waitId", scope.waitId())
                      .put("approved", decision.approved()));
        });
  }

  private void decide(ApprovalTokens.Scope scope, Decision decision) {
    Decision.Answer answer =
        store
            .jobs()
            .decide(scope.job(), scope.waitId(), scope.since(), decision, scope.role(), Tenant.ANY);
    switch (answer) {
      case ACCEPTED -> {}
      case NO_SUCH_JOB -> throw QuestionGone.withdrawn(null);
      case NOT_ASKED -> {
        // Says what has become of it.
        var unused = open(scope);
        throw QuestionGone.withdrawn(null);
      }
      case NOT_ALLOWED -> throw QuestionGone.noLink();
    }
  }

  private ApprovalTokens.Scope scope(Call call) {
    if (!requests.allows(call.peer())) {
      throw new Problem(429, "rate_limited", "too many requests: wait a moment")
          .header("Retry-After", "1");
    }
    try {
      return tokens.read(call.value("token"));
    } catch (TokenException refused) {
      throw switch (refused.reason()) {
        case INVALID, NOT_YET_VALID -> QuestionGone.noLink();
        case EXPIRED -> QuestionGone.expired();
      };
    }
  }

  private Open open(ApprovalTokens.Scope scope) {
    AskedQuestion asked =
        store.queries().question(scope.job(), scope.waitId(), scope.since()).orElse(null);
    if (asked == null) {
      throw QuestionGone.withdrawn(null);
    }
    OpenWait open = asked.open();
    if (open != null && open.question() != null) {
      return new Open(asked, open, open.question());
    }
    throw asked.end() == null ? QuestionGone.withdrawn(asked) : QuestionGone.decided(asked.end());
  }

  private static ObjectNode json(Open open) {
    ObjectNode node = Wire.object();
    node.putObject("job")
        .put("id", open.asked().job().toString())
        .put("kind", open.asked().kind())
        .put("queue", open.asked().queue());
    OpenWait.Asked question = open.question();
    node.putObject("question")
        .put("waitId", open.open().id())
        .put("text", question.text())
        .put("details", question.details())
        .put("role", question.role().word())
        .put("since", open.open().since().toString())
        .put("until", open.open().until() == null ? null : open.open().until().toString())
        .put("afterwards", open.open().until() == null ? null : question.afterwards().name());
    return node;
  }

  /** Whether JSON is asked for, and no page. */
  private static boolean isForProgram(Call call) {
    String accept = call.header("Accept").orElse("").toLowerCase(Locale.ROOT);
    return accept.contains("application/json") && !accept.contains("text/html");
  }

  /** A refusal becomes a page, for people. */
  private static Answer answered(boolean forProgram, Supplier<Answer> action) {
    Answer answer;
    try {
      answer = action.get();
    } catch (Problem refused) {
      answer = refusal(forProgram, refused);
    } catch (RefusedException refused) {
      answer = refusal(forProgram, ExceptionProblems.refused(refused));
    }
    // The address is a secret. With 'no-referrer' browsers would send the form without its origin,
    // which is refused, and no other site gets it this way either.
    return answer
        .header("Content-Security-Policy", QuestionPage.POLICY)
        .header("Referrer-Policy", "same-origin")
        .header("X-Robots-Tag", "noindex, nofollow")
        .header("Cross-Origin-Opener-Policy", "same-origin");
  }

  private static Answer refusal(boolean forProgram, Problem refused) {
    Answer problem = refused.answer();
    if (forProgram || !SHOWN.contains(refused.status())) {
      return problem;
    }
    String title =
        switch (refused.error()) {
          case "already_decided" -> "Decided already";
          case "link_expired" -> "Too late";
          case "question_withdrawn" -> "Not asked any longer";
          case "not_found" -> "No such question";
          default -> "That did not work";
        };
    Answer page =
        html(
            refused.status(),
            QuestionPage.message(title, sentence(String.valueOf(refused.getMessage()))));
    problem
        .headers()
        .forEach(
            (name, value) -> {
              if (!name.equals("Content-Type")) {
                page.header(name, value);
              }
            });
    return page;
  }

  private static String sentence(String message) {
    return Character.toUpperCase(message.charAt(0)) + message.substring(1) + ".";
  }

  private static Answer html(int status, byte[] page) {
    return Answer.text(status, HTML, page);
  }
}
