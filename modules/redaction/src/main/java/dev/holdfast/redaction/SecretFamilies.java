package dev.holdfast.redaction;

import static dev.holdfast.redaction.Alphabet.ALNUM;
import static dev.holdfast.redaction.Alphabet.HEX;
import static dev.holdfast.redaction.Alphabet.WORD;
import static dev.holdfast.redaction.Alphabet.WORD_DASH;

import java.util.ArrayList;
import java.util.List;

/** Secrets that are known by their form. */
final class SecretFamilies {
  private static final Alphabet UPPER = Alphabet.of("A-Z0-9");
  private static final Alphabet DASH = Alphabet.of("A-Za-z0-9-");
  private static final Alphabet DOTS = Alphabet.of("A-Za-z0-9_.-");
  private static final Alphabet PATH = Alphabet.of("A-Za-z0-9_/-");
  private static final Alphabet QUERY = Alphabet.of("A-Za-z0-9_%+/=-");

  private SecretFamilies() {}

  static List<Rule> rules() {
    List<Rule> rules = new ArrayList<>();
    clouds(rules);
    forges(rules);
    services(rules);
    rules.add(new JsonWebToken());
    rules.add(new PrivateKey());
    rules.add(new UrlPassword());
    rules.add(new TelegramToken());
    rules.add(new DiscordToken());
    rules.add(new BearerToken());
    rules.addAll(NetrcPassword.rules());
    rules.addAll(ProgramPassword.rules());
    return rules;
  }

  private static void clouds(List<Rule> rules) {
    rules.add(Prefixed.exactly("AKIA", UPPER, 16));
    rules.add(Prefixed.exactly("ASIA", UPPER, 16));
    rules.add(Prefixed.atLeast("AIza", WORD_DASH, 35));
    rules.add(Prefixed.atLeast("ya29.", DOTS, 20));
    rules.add(Prefixed.atLeast("GOCSPX-", WORD_DASH, 20));
    for (String before : List.of("?", "&", ";")) {
      rules.add(Prefixed.atLeast(before + "sig=", QUERY, 16).keepingPrefix());
      rules.add(Prefixed.atLeast(before + "X-Amz-Signature=", QUERY, 16).keepingPrefix());
      rules.add(Prefixed.atLeast(before + "X-Goog-Signature=", QUERY, 16).keepingPrefix());
    }
    for (String prefix : List.of("dop_v1_", "doo_v1_", "dor_v1_")) {
      rules.add(Prefixed.atLeast(prefix, HEX, 32));
    }
    rules.add(Prefixed.atLeast("hvs.", WORD_DASH, 20));
    rules.add(Prefixed.atLeast("hvb.", WORD_DASH, 20));
    rules.add(Prefixed.exactly("dapi", HEX, 32));
    rules.add(Prefixed.atLeast("AGE-SECRET-KEY-1", UPPER, 40));
  }

  private static void forges(List<Rule> rules) {
    for (String prefix : List.of("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")) {
      rules.add(Prefixed.atLeast(prefix, WORD, 30));
    }
    for (String kind :
        List.of("pat", "dt", "rt", "cbt", "ptt", "ft", "soat", "imt", "agent", "oas", "ffct")) {
      rules.add(Prefixed.atLeast("gl" + kind + "-", DOTS, 18).ifRandom());
    }
    rules.add(Prefixed.atLeast("npm_", ALNUM, 30));
    rules.add(Prefixed.atLeast("pypi-", WORD_DASH, 32).ifRandom());
    rules.add(Prefixed.atLeast("rubygems_", HEX, 32));
    rules.add(Prefixed.atLeast("dckr_pat_", WORD_DASH, 20));
    rules.add(Prefixed.atLeast("dckr_oat_", WORD_DASH, 20));
  }

  private static void services(List<Rule> rules) {
    for (String kind : List.of("a", "b", "c", "d", "e", "o", "p", "r", "s")) {
      rules.add(Prefixed.atLeast("xox" + kind + "-", DASH, 10));
    }
    rules.add(Prefixed.atLeast("xoxe.", DOTS, 10));
    rules.add(Prefixed.atLeast("xapp-", DASH, 10));
    for (String hook : List.of("services/", "workflows/", "triggers/")) {
      rules.add(Prefixed.atLeast("hooks.slack.com/" + hook, PATH, 16).keepingPrefix());
    }
    rules.add(Prefixed.atLeast("discord.com/api/webhooks/", PATH, 30).keepingPrefix());
    rules.add(Prefixed.atLeast("discordapp.com/api/webhooks/", PATH, 30).keepingPrefix());
    for (String prefix : List.of("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_")) {
      rules.add(Prefixed.atLeast(prefix, ALNUM, 16));
    }
    rules.add(Prefixed.atLeast("sk-", WORD_DASH, 20).ifRandom());
    rules.add(Prefixed.atLeast("gsk_", ALNUM, 30));
    rules.add(Prefixed.atLeast("hf_", ALNUM, 30));
    rules.add(Prefixed.atLeast("SG.", DOTS, 40).ifRandom());
    rules.add(Prefixed.exactly("SK", HEX, 32));
    rules.add(Prefixed.atLeast("shpat_", HEX, 32));
    rules.add(Prefixed.atLeast("glsa_", WORD, 32));
    rules.add(Prefixed.atLeast("xkeysib-", DASH, 32));
    offices(rules);
    operations(rules);
  }

  /** Atlassian, Linear, Notion, Figma, Supabase. */
  private static void offices(List<Rule> rules) {
    for (String prefix : List.of("ATATT3x", "ATCTT3x", "ATSTT3x")) {
      rules.add(Prefixed.atLeast(prefix, QUERY, 20));
    }
    rules.add(Prefixed.atLeast("ATBB", ALNUM, 28).ifRandom());
    for (String prefix : List.of("lin_api_", "lin_oauth_", "lin_wh_")) {
      rules.add(Prefixed.atLeast(prefix, ALNUM, 30));
    }
    rules.add(Prefixed.atLeast("ntn_", ALNUM, 30));
    rules.add(Prefixed.atLeast("secret_", ALNUM, 40));
    for (String prefix : List.of("figd_", "figo_", "figu_", "figor_", "figur_")) {
      rules.add(Prefixed.atLeast(prefix, WORD_DASH, 20).ifRandom());
    }
    for (String prefix : List.of("sbp_", "sbp_v0_", "sbp_oauth_")) {
      rules.add(Prefixed.atLeast(prefix, HEX, 32));
    }
    rules.add(Prefixed.atLeast("sb_secret_", WORD_DASH, 20));
  }

  /** Where programs are built, run and watched. */
  private static void operations(List<Rule> rules) {
    for (String prefix : List.of("pscale_tkn_", "pscale_pw_", "vercel_blob_rw_", "tskey-auth-")) {
      rules.add(Prefixed.atLeast(prefix, WORD_DASH, 20));
    }
    for (String prefix : List.of("HRKU-", "NRAK-", "PMAK-", "CFPAT-", "xai-", "pplx-", "fm2_")) {
      rules.add(Prefixed.atLeast(prefix, QUERY, 20).ifRandom());
    }
    for (String prefix : List.of("sntrys_", "CCIPAT_", "glc_", "r8_", "dp.pt.")) {
      rules.add(Prefixed.atLeast(prefix, QUERY, 30).ifRandom());
    }
    for (String prefix : List.of("sntryu_", "squ_", "sqp_", "sqa_", "bkua_", "pul-")) {
      rules.add(Prefixed.atLeast(prefix, HEX, 40));
    }
  }
}
