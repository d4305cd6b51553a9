package dev.holdfast.app;

import static com.sun.source.tree.Tree.Kind.CASE;
import static com.sun.source.tree.Tree.Kind.CATCH;
import static com.sun.source.tree.Tree.Kind.CONDITIONAL_AND;
import static com.sun.source.tree.Tree.Kind.CONDITIONAL_EXPRESSION;
import static com.sun.source.tree.Tree.Kind.CONDITIONAL_OR;
import static com.sun.source.tree.Tree.Kind.DO_WHILE_LOOP;
import static com.sun.source.tree.Tree.Kind.ENHANCED_FOR_LOOP;
import static com.sun.source.tree.Tree.Kind.FOR_LOOP;
import static com.sun.source.tree.Tree.Kind.IF;
import static com.sun.source.tree.Tree.Kind.RECORD;
import static com.sun.source.tree.Tree.Kind.WHILE_LOOP;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import dev.holdfast.testkit.program.AssembledProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Methods of the main code have few parameters and few branches. */
class CodeShapeTest {
  private static final int MOST_PARAMETERS = 8;
  private static final int MOST_BRANCHES = 20;

  /** {@code Class.method}, and why it has more. */
  private static final Map<String, String> MORE_PARAMETERS =
      Map.of("Result.of", "what a run of chaos came to, from as many places");

  private static final Map<String, String> MORE_BRANCHES =
      Map.of(
          "Failures.exitCode", "a table of exceptions and exit codes",
          "ModelQueue.answer", "a table of verbs and who carries them out",
          "PostgresQueue.answer", "the same table for the database",
          "VerbText.of", "a table of answers and what is compared of them",
          "NamedSecret.join", "a table of the signs between a name and its value",
          "ProblemText.of", "a table of what a server refuses and how it is said");

  private static final Set<Tree.Kind> BRANCHES =
      EnumSet.of(
          IF,
          CONDITIONAL_EXPRESSION,
          CONDITIONAL_AND,
          CONDITIONAL_OR,
          CASE,
          CATCH,
          FOR_LOOP,
          ENHANCED_FOR_LOOP,
          WHILE_LOOP,
          DO_WHILE_LOOP);

  private static final Map<String, Integer> PARAMETERS_OF = new TreeMap<>();
  private static final Map<String, Integer> BRANCHES_OF = new TreeMap<>();

  @BeforeAll
  static void readAllMainSources() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String root : List.of("modules", "checks", "examples")) {
      try (Stream<Path> modules = Files.list(AssembledProgram.checkout().resolve(root))) {
        for (Path sources : modules.map(module -> module.resolve("src/main/java")).toList()) {
          if (Files.isDirectory(sources)) {
            try (Stream<Path> all = Files.walk(sources)) {
              all.filter(file -> file.toString().endsWith(".java")).forEach(files::add);
            }
          }
        }
      }
    }
    assertThat(files).hasSizeGreaterThan(500);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      var sources = manager.getJavaFileObjectsFromPaths(files);
      var task = (JavacTask) compiler.getTask(null, manager, null, null, null, sources);
      for (CompilationUnitTree unit : task.parse()) {
        new Methods().scan(unit, null);
      }
    }
  }

  @Test
  void no_method_has_more_than_8_parameters() {
    assertThat(more(PARAMETERS_OF, MOST_PARAMETERS).keySet())
        .as("%s", more(PARAMETERS_OF, MOST_PARAMETERS))
        .isEqualTo(MORE_PARAMETERS.keySet());
  }

  @Test
  void no_method_has_more_than_20_branches() {
    assertThat(more(BRANCHES_OF, MOST_BRANCHES).keySet())
        .as("%s", more(BRANCHES_OF, MOST_BRANCHES))
        .isEqualTo(MORE_BRANCHES.keySet());
  }

  private static Map<String, Integer> more(Map<String, Integer> counts, int most) {
    Map<String, Integer> found = new TreeMap<>(counts);
    found.values().removeIf(count -> count <= most);
    return found;
  }

  /** Of overloads, the one with the most counts. */
  private static final class Methods extends TreeScanner<@Nullable Void, @Nullable ClassTree> {
    @Override
    public @Nullable Void visitClass(ClassTree type, @Nullable ClassTree outer) {
      return super.visitClass(type, type);
    }

    @Override
    public @Nullable Void visitMethod(MethodTree method, @Nullable ClassTree type) {
      boolean constructor = method.getReturnType() == null;
      String name = type.getSimpleName() + "." + (constructor ? "new" : method.getName());
      // That of a record has as many as the record has values.
      if (!constructor || type.getKind() != RECORD) {
        PARAMETERS_OF.merge(name, method.getParameters().size(), Math::max);
      }
      Branches branches = new Branches();
      branches.scan(method.getBody(), null);
      BRANCHES_OF.merge(name, branches.count, Math::max);
      return super.visitMethod(method, type);
    }
  }

  /** Those of a method, without the classes in it. */
  private static final class Branches extends TreeScanner<@Nullable Void, @Nullable Void> {
    private int count;

    @Override
    public @Nullable Void scan(@Nullable Tree tree, @Nullable Void none) {
      if (tree == null || tree instanceof ClassTree) {
        return null;
      }
      if (BRANCHES.contains(tree.getKind())) {
        count++;
      }
      return super.scan(tree, none);
    }
  }
}
