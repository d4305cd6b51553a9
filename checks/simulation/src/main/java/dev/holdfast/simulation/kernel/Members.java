package dev.holdfast.simulation.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/**
 * The methods of substitutes. A class that calls one which its substitute does not have, as after a
 * change of the original, is found when it is rewritten, and not when a seed comes to the call.
 */
final class Members {
  private static final int API = Opcodes.ASM9;

  private final Map<String, String> originals = new HashMap<>();
  private final Remapper types;
  private final Map<String, Declared> known = new HashMap<>();

  /** What a class declares itself: access by name and descriptor. */
  private record Declared(
      boolean isInterface, List<String> supertypes, Map<String, Integer> methods) {}

  /**
   * @param substitutes by internal name of the original
   */
  Members(Map<String, String> substitutes, Remapper types) {
    substitutes.forEach((original, substitute) -> originals.put(substitute, original));
    this.types = types;
  }

  /** Passes a rewritten class on, and keeps what it misses. */
  Check check(@Nullable ClassVisitor next) {
    return new Check(next);
  }

  /** Collects calls of methods that a substitute does not have. */
  final class Check extends ClassVisitor {
    private final Set<String> missing = new TreeSet<>();
    private String caller = "";

    private Check(@Nullable ClassVisitor next) {
      super(API, next);
    }

    Set<String> missing() {
      return missing;
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      caller = name;
      super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String method,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      return new MethodVisitor(
          API, super.visitMethod(access, method, descriptor, signature, exceptions)) {
        @Override
        public void visitMethodInsn(
            int opcode, String owner, String name, String type, boolean isInterface) {
          called(owner, name + type, opcode == Opcodes.INVOKESTATIC, isInterface);
          super.visitMethodInsn(opcode, owner, name, type, isInterface);
        }

        @Override
        public void visitInvokeDynamicInsn(
            String name, String type, Handle bootstrap, Object... arguments) {
          for (Object argument : arguments) {
            if (argument instanceof Handle handle && handle.getDesc().startsWith("(")) {
              called(
                  handle.getOwner(),
                  handle.getName() + handle.getDesc(),
                  handle.getTag() == Opcodes.H_INVOKESTATIC,
                  handle.isInterface());
            }
          }
          super.visitInvokeDynamicInsn(name, type, bootstrap, arguments);
        }
      };
    }

    private void called(String owner, String method, boolean isStatic, boolean isInterface) {
      String original = originals.get(owner);
      if (original == null || caller.equals(owner)) {
        return;
      }
      Integer access = find(owner, method);
      boolean fits =
          access != null
              && (access & Opcodes.ACC_PUBLIC) != 0
              && isStatic == ((access & Opcodes.ACC_STATIC) != 0)
              && isInterface == declared(owner).isInterface();
      if (!fits) {
        missing.add(
            "%s calls %s%s of %s, and %s, which stands for it, has no such public method"
                .formatted(
                    plain(caller),
                    isStatic ? "static " : "",
                    method,
                    plain(original),
                    plain(owner)));
      }
    }
  }

  private static String plain(String internalName) {
    return internalName.replace('/', '.');
  }

  private @Nullable Integer find(String type, String method) {
    Declared declared = declared(type);
    Integer access = declared.methods().get(method);
    if (access != null || method.startsWith("<init>")) {
      return access;
    }
    for (String supertype : declared.supertypes()) {
      Integer inherited = find(supertype, method);
      if (inherited != null) {
        return inherited;
      }
    }
    return null;
  }

  private synchronized Declared declared(String type) {
    Declared declared = known.get(type);
    if (declared == null) {
      declared = read(type);
      known.put(type, declared);
    }
    return declared;
  }

  private Declared read(String type) {
    try (InputStream in = Members.class.getClassLoader().getResourceAsStream(type + ".class")) {
      if (in == null) {
        throw new IllegalStateException("there is no class " + plain(type));
      }
      ClassReader reader = new ClassReader(in);
      Map<String, Integer> methods = new HashMap<>();
      ClassVisitor collecting =
          new ClassVisitor(API) {
            @Override
            public @Nullable MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
              methods.put(name + descriptor, access);
              return null;
            }
          };
      // Those of the kernel are loaded as they are.
      boolean rewritten = !type.startsWith(Substitution.KERNEL) && !type.startsWith("java/");
      reader.accept(
          rewritten ? new ClassRemapper(collecting, types) : collecting, ClassReader.SKIP_CODE);
      List<String> supertypes =
          Stream.concat(Stream.ofNullable(reader.getSuperName()), Stream.of(reader.getInterfaces()))
              .toList();
      return new Declared((reader.getAccess() & Opcodes.ACC_INTERFACE) != 0, supertypes, methods);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
