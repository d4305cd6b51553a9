package dev.holdfast.workspace.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.testkit.OnlyWithAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@OnlyWithAll
class RepositoryTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://example.org/a/b.git",
        "https://user:secret@example.org:8443/a b.git",
        "http://[::1]:80/a",
        "ssh://git@example.org:22/a.git",
        "ssh://example.org/a.git",
        "git@example.org:a/b.git",
        "file:///srv/a.git",
        "/srv/with space/a.git"
      })
  void a_repository_may_have_these_urls(String url) {
    assertThat(new Repository(url, "main").url()).isEqualTo(url);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "relative/path",
        "-u",
        "--upload-pack=touch x",
        "ext::sh -c touch% x",
        "fd::7",
        "git@ext::sh",
        "git@example.org:-x",
        "git@-oProxyCommand=x:a",
        "ssh://-oProxyCommand=touch x/a",
        "ssh://git@-x/a",
        "ssh://user:secret@example.org/a",
        "https://-x/a",
        "https:///a",
        "https://exa mple.org/a",
        "git://example.org/a",
        "ftp://example.org/a",
        "file://host/a",
        "file:relative",
        "//host/a",
        "https://example.org/a\nb",
        "/srv/a\u0000b",
        "/srv/a\u007f"
      })
  void any_other_url_is_refused(String url) {
    assertThatThrownBy(() -> new Repository(url, "main"))
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.BAD_NAME))
        .hasMessageNotContaining("secret")
        .hasMessageNotContaining("\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "main",
        "HEAD",
        "feature/a-b",
        "v1.0",
        "refs/pull/7/head",
        "größe",
        "a@b",
        "0123456789012345678901234567890123456789"
      })
  void a_ref_is_a_branch_a_tag_a_full_ref_or_a_commit(String ref) {
    assertThat(new Repository("/srv/a", ref).ref()).isEqualTo(ref);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-x",
        "--upload-pack=x",
        "a..b",
        "a b",
        "a\nb",
        "a\u0000",
        "a\u007f",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "a[b",
        "a\\b",
        "@",
        "a@{1}",
        "/a",
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a.",
        "a.lock",
        "a.lock/b"
      })
  void an_invalid_git_ref_is_refused(String ref) {
    assertThatThrownBy(() -> new Repository("/srv/a", ref))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("is no ref");
  }

  @Test
  void user_and_password_are_not_shown() {
    Repository repository = new Repository("https://user:p@ss%3Aword@example.org/a.git", "main");
    assertThat(repository.toString()).isEqualTo("https://example.org/a.git at main");
    assertThat(repository.address()).isEqualTo("https://example.org/a.git");
    // user:p@ss:word
    assertThat(repository.authorization()).contains("Authorization: Basic dXNlcjpwQHNzOndvcmQ=");
    assertThat(new Repository("https://token@example.org/a", "main").authorization())
        .contains("Authorization: Basic dG9rZW46");
    assertThat(new Repository("https://example.org/a@b", "main").authorization()).isEmpty();
    assertThat(Repository.masked("cannot reach https://user:secret@example.org/a"))
        .isEqualTo("cannot reach https://***@example.org/a");
  }
}
