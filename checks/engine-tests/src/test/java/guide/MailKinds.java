package guide;

import dev.holdfast.Holdfast;
import dev.holdfast.KindProvider;
import dev.holdfast.worker.handler.Kind;
import java.util.Collection;
import java.util.List;
import java.util.Map;

// region kinds
public final class MailKinds implements KindProvider {
  @Override
  public Collection<Kind<?>> kinds(Holdfast holdfast) {
    return List.of(Kind.of("send-mail", Mail.class, (mail, context) -> Map.of("to", mail.to())));
  }
}
// endregion
