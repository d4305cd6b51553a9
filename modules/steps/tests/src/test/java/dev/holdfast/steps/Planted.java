package dev.holdfast.steps;

import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

/**
 * Text with secrets between ⟦ and ⟧. Braces stand for random characters, such as {36}, {hex32},
 * {upper16}: nothing here looks like a secret to those who search repositories for them.
 */
record Planted(String template) {
  private static final Pattern BLANK = Pattern.compile("\\{(hex|upper|digits|)(\\d+)}");
  private static final String DIGITS = "0123456789";
  private static final String UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  private static final String ALL =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

  static Planted of(String template) {
    Random random = new Random(template.hashCode());
    return new Planted(
        BLANK.matcher(template).replaceAll(blank -> fill(random, blank.group(1), blank.group(2))));
  }

  private static String fill(Random random, String kind, String length) {
    String characters =
        switch (kind) {
          case "hex" -> "0123456789abcdef";
          case "upper" -> UPPER;
          case "digits" -> DIGITS;
          default -> ALL;
        };
    StringBuilder filled = new StringBuilder();
    // One of each kind for sure, as a real one of this length would have.
    filled.append(kind.isEmpty() ? "a7K" : "");
    while (filled.length() < Integer.parseInt(length)) {
      filled.append(characters.charAt(random.nextInt(characters.length())));
    }
    return filled.toString();
  }

  String text() {
    return template.replace("⟦", "").replace("⟧", "");
  }

  String scrubbed() {
    return template.replaceAll("⟦[^⟧]*⟧", "***");
  }

  static final List<String> SECRETS =
      List.of(
          // Clouds
          "found ⟦AKIA{upper16}⟧ in the log",
          "session ⟦ASIA{upper16}⟧",
          "aws_secret_access_key = ⟦{40}⟧",
          "AWS_SECRET_ACCESS_KEY=⟦{20}/{10}+{8}⟧",
          "export AWS_SESSION_TOKEN=⟦{200}==⟧",
          "\"SecretAccessKey\": \"⟦{40}⟧\",",
          "https://maps.example.com/api?key=⟦AIza{35}⟧&x=1",
          "⟦AIza{35}⟧",
          "access ⟦ya29.{60}⟧",
          "\"client_secret\":\"⟦GOCSPX-{28}⟧\"",
          "AccountName=store;AccountKey=⟦{86}==⟧;EndpointSuffix=core.example.net",
          "Endpoint=sb://x.example.net/;SharedAccessKeyName=all;SharedAccessKey=⟦{43}=⟧",
          "https://x.blob.example.net/c?sv=2022-11-02&sr=b&sig=⟦{40}%2B{4}%3D⟧&se=2026",
          "https://s3.example.com/b/k?X-Amz-Signature=⟦{hex64}⟧",
          "doctl uses ⟦dop_v1_{hex64}⟧",
          "vault gave ⟦hvs.{24}⟧",
          "databricks ⟦dapi{hex32}⟧",
          // Forges and registries
          "⟦ghp_{36}⟧",
          "token ⟦gho_{36}⟧ refused",
          "'⟦ghu_{36}⟧'",
          "(⟦ghs_{36}⟧)",
          "a=⟦ghr_{36}⟧",
          "fatal: could not read ⟦github_pat_{22}_{59}⟧",
          "git clone https://x-access-token:⟦ghs_{36}⟧@github.example.com/a/b.git",
          "git clone https://⟦ghp_{36}⟧@github.example.com/a/b.git",
          "\u001b[32m⟦ghp_{36}⟧\u001b[0m",
          "a%3D⟦ghp_{36}⟧%26b",
          "first\\n⟦ghp_{36}⟧\\nlast",
          "⟦glpat-{20}⟧",
          "runner ⟦glrt-{20}⟧",
          "deploy ⟦gldt-{20}⟧",
          "//packages.example.org/:_authToken=⟦npm_{36}⟧",
          "⟦npm_{36}⟧",
          "//registry.example.org/:_auth=⟦{24}==⟧",
          "upload with ⟦pypi-AgEI{80}⟧",
          "docker login -p ⟦dckr_pat_{27}⟧",
          "gem push ⟦rubygems_{hex48}⟧",
          // Services
          "⟦xoxb-{digits12}-{digits12}-{24}⟧",
          "slack: ⟦xoxp-{digits12}-{digits12}-{hex32}⟧",
          "⟦xapp-1-A{upper10}-{digits13}-{hex64}⟧",
          "POST https://hooks.slack.com/services/⟦T{upper8}/B{upper8}/{24}⟧",
          "POST https://discord.com/api/webhooks/⟦{digits18}/{68}⟧",
          "stripe ⟦sk_live_{24}⟧",
          "stripe ⟦rk_live_{24}⟧",
          "stripe ⟦sk_test_{24}⟧ in test mode",
          "hook ⟦whsec_{32}⟧",
          "⟦sk-{48}⟧",
          "key ⟦sk-proj-{40}-{40}⟧",
          "⟦sk-ant-api03-{60}_{30}-{4}AA⟧",
          "invalid x-api-key ⟦sk-ant-api03-{90}AA⟧.",
          "⟦gsk_{52}⟧",
          "⟦hf_{34}⟧",
          "mail ⟦SG.{22}.{43}⟧",
          "twilio ⟦SK{hex32}⟧ refused",
          "bot{digits10}:⟦AA{33}⟧/getMe",
          "discord ⟦MT{22}.{6}.{38}⟧ logged in",
          "shop ⟦shpat_{hex32}⟧",
          // Keys and tokens of standard forms
          "⟦eyJ{20}.eyJ{60}.{43}⟧",
          "id_token=⟦eyJ{20}.eyJ{60}.{43}⟧",
          "Cookie jwt: ⟦eyJ{30}.eyJ{100}.{86}⟧ end",
          "-----BEGIN RSA PRIVATE KEY-----⟦\nMII{60}\n{64}\n{20}==\n⟧-----END RSA PRIVATE KEY-----",
          "-----BEGIN PRIVATE KEY-----⟦\\nMII{60}\\n{64}\\n{20}==\\n⟧-----END PRIVATE KEY-----\\n",
          "-----BEGIN OPENSSH PRIVATE KEY-----⟦\n[a] {70}\n[a] {70}\n⟧-----END OPENSSH PRIVATE KEY-----",
          "-----BEGIN EC PRIVATE KEY-----⟦\nProc-Type: 4,ENCRYPTED\n\n{64}\n⟧-----END EC PRIVATE KEY-----",
          "-----BEGIN PGP PRIVATE KEY BLOCK-----⟦\n\n{64}\n⟧-----END PGP PRIVATE KEY BLOCK-----",
          "{\"private_key\": \"-----BEGIN PRIVATE KEY-----⟦\\n{64}\\n⟧-----END PRIVATE KEY-----\\n\"}",
          "PRIVATE_KEY=\"-----BEGIN PRIVATE KEY-----⟦\n{64}\n⟧-----END PRIVATE KEY-----\"",
          // Headers
          "Authorization: Bearer ⟦{40}⟧",
          "authorization: bearer ⟦{12}.{12}⟧",
          "> Authorization: Basic ⟦{20}==⟧",
          "Authorization: token ⟦{hex40}⟧",
          "Proxy-Authorization: Basic ⟦{20}=⟧",
          "curl -H \"Authorization: Bearer ⟦{30}⟧\" https://api.example.com/v1",
          "curl -H 'Authorization: Bearer ⟦{30}⟧' https://api.example.com/v1",
          "{\"Authorization\":\"Bearer ⟦{30}⟧\"}",
          "{\\\"Authorization\\\":\\\"Bearer ⟦{30}⟧\\\"}",
          "headers={Authorization=[Bearer ⟦{30}⟧], Accept=[*/*]}",
          "sent Bearer ⟦{30}⟧ to the server",
          "X-Api-Key: ⟦{20}⟧",
          "X-Auth-Token: ⟦{hex32}⟧",
          "PRIVATE-TOKEN: ⟦{20}⟧",
          // URLs
          "postgres://holdfast:⟦s3cr3t-of-ours⟧@db.example.com:5432/queue",
          "jdbc:postgresql://db/queue?user=me&password=⟦p4ss!word⟧&ssl=true",
          "redis://:⟦{20}⟧@cache:6379/0",
          "amqp://guest:⟦gu%40est⟧@mq",
          "https://bob:⟦a@b:c⟧@example.com/path",
          "cloning https://⟦{hex40}⟧@git.example.com/x.git",
          // Names
          "password=⟦hunter2⟧",
          "PASSWORD=⟦letmein⟧",
          "DB_PASSWORD=⟦a,b;c&d⟧",
          "export DB_PASSWORD=⟦xyz⟧",
          "db.password = ⟦hunter2⟧",
          "spring.datasource.password: ⟦letmein⟧",
          "  password: ⟦letmein⟧",
          "  password: ⟦letmein⟧ # the old one",
          "password: \"⟦correct horse battery staple⟧\"",
          "password: '⟦it is⟧'",
          "{\"user\":\"bob\",\"password\":\"⟦hunter2⟧\",\"port\":5432}",
          "{\"password\" : \"⟦with \\\" quote⟧\", \"x\": 1}",
          "{\\\"password\\\": \\\"⟦hunter2⟧\\\", \\\"x\\\": 1}",
          "{'db_passwd': '⟦hunter2⟧'}",
          "dbPassword=⟦hunter2⟧, user=bob",
          "User[name=bob, password=⟦hunter2⟧]",
          "Settings(token=⟦abcdef⟧, retries=3)",
          "clientSecret: ⟦{32}⟧",
          "client-secret=⟦{32}⟧",
          "CLIENT_SECRET='⟦{32}⟧'",
          "apiKey=⟦{32}⟧",
          "api_key: ⟦{32}⟧",
          "APIKEY=⟦{32}⟧",
          "?api-key=⟦{16}⟧&page=2",
          "accessToken: '⟦{20}⟧',",
          "refresh_token=⟦{20}⟧",
          "ACCESS_TOKEN_2=⟦{20}⟧",
          "encryption_key=⟦{hex64}⟧",
          "secret_key_base: ⟦{hex64}⟧".replace("_base:", ":"),
          "smtp_pass=⟦{12}⟧",
          "userpwd=⟦hunter2⟧",
          "credentials=⟦bob:hunter2⟧",
          "passphrase=\"⟦open sesame⟧\"",
          "config['password'] = '⟦hunter2⟧'",
          "'password' => '⟦hunter2⟧'",
          "mysql --user bob --password ⟦hunter2⟧ --host db",
          "mysql --password=⟦hunter2⟧ -h db",
          "tool --api-key \"⟦{20}⟧\" run",
          "[\"tool\", \"--token\", \"⟦abcdefgh⟧\", \"run\"]",
          "[tool, --token, ⟦abcdefgh⟧, run]",
          "<password>⟦hunter2⟧</password>",
          "ALTER USER bob WITH PASSWORD '⟦hunter2⟧';",
          "Server=db;User Id=sa;Password=⟦hunter2⟧;Encrypt=true",
          "docker run -e \"DB_PASSWORD=⟦hunter2⟧\" image",
          "\"env\": \"DB_PASSWORD=⟦hunter2⟧\\nPORT=1\"",
          "API key: ⟦{16}⟧",
          "the secret key is \"⟦{16}⟧\"".replace(" is", ""),
          "invalid token '⟦{16}⟧'",
          "password \"⟦hunter2⟧\" rejected",
          "{\"X-Api-Key\":[\"⟦{16}⟧\"]}",
          "{x-api-key=[⟦{16}⟧], accept=[*]}",
          "String password = \"⟦hunter2⟧\";",
          "PGPASSWORD=⟦s3cret⟧ psql -h db",
          "user:bob password:⟦hunter2⟧ host:x",
          "generated password: ⟦Xk2-9q⟧",
          "token: ⟦{24}⟧ for user bob");

  static final List<String> ORDINARY =
      List.of(
          "",
          "   ",
          "token expired",
          "password is required",
          "Error: password is required",
          "secret santa",
          "The secret of the token is a password.",
          "token_count=12",
          "max_tokens: 4096",
          "{\"prompt_tokens\": 812, \"completion_tokens\": 93}",
          "tokens=5",
          "passwordEncoder.encode(password)",
          "return passwordEncoder.matches(raw, user.getPassword());",
          "if (password == null) {",
          "this.password = password;",
          "String password = request.password();",
          "private final String password;",
          "var token = parser.next();",
          "token=parser.next()",
          "const token = getToken",
          "fun login(user: String, password: String): Token",
          "password: required",
          "password: must not be blank",
          "token: expired",
          "Unexpected token: }",
          "SyntaxError: Unexpected token < in JSON at position 0",
          "unexpected token: identifier",
          "invalid token: unexpected end of input",
          "password=${DB_PASSWORD}",
          "password=$DB_PASSWORD",
          "password: {{ .Values.password }}",
          "usage: tool --password <password> [--token TOKEN]",
          "use --password to set one",
          "set PASSWORD=*** before",
          "password=null",
          "auth: none",
          "auth=basic",
          "author: John Doe",
          "authority=example.com",
          "Authorization: required",
          "Bearer authentication is required here",
          "commit 3f786850e387550fdab836ed7e6dc881de23001b",
          "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
          "id 123e4567-e89b-12d3-a456-426614174000 done",
          "at com.example.auth.TokenFilter.doFilter(TokenFilter.java:42)",
          "at dev.holdfast.steps.PasswordTest.a_password(PasswordTest.java:17)",
          "Caused by: java.lang.IllegalStateException: no token",
          "/usr/lib/jvm/secret/token.txt: No such file or directory",
          "PWD=/home/user/project",
          "credentials=/run/secrets/app.json",
          "GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/key.json",
          "password_file=/run/secrets/db",
          "token_url=https://login.example.com/oauth",
          "--password-stdin",
          "https://example.com:8443/path?a=b@c",
          "git clone git@github.com:acme/app.git",
          "ssh://git@example.com/x.git",
          "http://user@example.com/",
          "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
          "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0",
          "Tests: pass=12 fail=0",
          "pass: 12, fail: 3",
          "primary_key=id",
          "primary key: id",
          "sort=token:asc",
          "{\"token\":{\"a\":1}}",
          "char[] password = {'a'};",
          "Credentials=[PROTECTED]",
          "expected token 'identifier' here",
          "Enter passphrase for key '/root/.ssh/id_rsa': ",
          "remote: Invalid username or password.",
          "passwd: all authentication tokens updated successfully.",
          "key=value",
          "sort_key: name",
          "risk-assessment-of-the-whole-project-2024",
          "sk-learn-is-not-a-key-but-a-library",
          "npm_config_registry=https://packages.example.org/",
          "-----BEGIN CERTIFICATE-----",
          "-----BEGIN PUBLIC KEY-----",
          "eyJ is how they begin",
          "see org.example.Foo.barbaz.SomethingVeryLongIndeedWhichHasNoEnd",
          "12:34:56.789 [main] INFO d.h.worker.Worker - claimed 3 jobs",
          "Downloading https://packages.example.org/maven2/org/x/1.0/x-1.0.pom",
          "50% [=====>     ] 5/10",
          "==> default: Mounting shared folders",
          "std::auth::Token::new",
          "der Schlüssel ist ein Geheimnis: ja",
          "assertThat(token).isEqualTo(expected);",
          "password:12");
}
