package dev.holdfast.simulation.kernel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.SimpleRemapper;

/**
 * Rewrites a class so that it takes its clocks, threads, locks and random numbers from the
 * simulation. The decisions in it stay what they are.
 */
final class Substitution {
  private static final int API = Opcodes.ASM9;
  static final String KERNEL = "dev/holdfast/simulation/kernel/";
  private static final String CALLS = KERNEL + "Calls";
  private static final String MONITORS = KERNEL + "Monitors";
  private static final String BODY = "$synchronized";

  private static final Map<String, String> TYPES =
      Map.of(
          "java/util/concurrent/locks/ReentrantLock", KERNEL + "Lock",
          "java/util/concurrent/CountDownLatch", KERNEL + "Latch",
          "java/util/concurrent/Semaphore", KERNEL + "Permits",
          "java/util/concurrent/ThreadLocalRandom", KERNEL + "SeededRandom",
          "java/security/SecureRandom", KERNEL + "SeededRandom",
          "java/util/concurrent/ThreadPoolExecutor", KERNEL + "ThreadPool",
          "java/util/concurrent/ScheduledThreadPoolExecutor", KERNEL + "TimerPool",
          "java/lang/Thread$Builder", KERNEL + "ThreadBuilder",
          "java/lang/Thread$Builder$OfPlatform", KERNEL + "ThreadBuilder",
          "java/lang/Thread$Builder$OfVirtual", KERNEL + "ThreadBuilder");

  /** Methods that {@link Calls} has under the same name. */
  private static final Set<String> METHODS =
      Set.of(
          "java/lang/System.nanoTime()J",
          "java/lang/System.currentTimeMillis()J",
          "java/time/Instant.now()Ljava/time/Instant;",
          "java/time/Clock.systemUTC()Ljava/time/Clock;",
          "java/util/UUID.randomUUID()Ljava/util/UUID;",
          "java/lang/Thread.sleep(J)V",
          "java/lang/Thread.sleep(Ljava/time/Duration;)V",
          "java/util/concurrent/TimeUnit.sleep(J)V",
          "java/util/concurrent/locks/LockSupport.parkNanos(J)V",
          "java/lang/Thread.join(Ljava/time/Duration;)Z",
          "java/lang/Thread.ofPlatform()Ljava/lang/Thread$Builder$OfPlatform;",
          "java/lang/Thread.ofVirtual()Ljava/lang/Thread$Builder$OfVirtual;",
          "java/util/concurrent/Executors.newVirtualThreadPerTaskExecutor()"
              + "Ljava/util/concurrent/ExecutorService;",
          "java/util/concurrent/CompletableFuture.get(JLjava/util/concurrent/TimeUnit;)"
              + "Ljava/lang/Object;",
          "java/util/concurrent/CompletableFuture.delayedExecutor(JLjava/util/concurrent/TimeUnit;"
              + "Ljava/util/concurrent/Executor;)Ljava/util/concurrent/Executor;");

  /** What would wait, or start a thread, outside the simulation. */
  private static final List<String> REFUSED =
      List.of(
          "java/lang/Object.wait(",
          "java/lang/Thread.<init>(",
          "java/lang/Thread.startVirtualThread(",
          "java/lang/Thread.join()",
          "java/lang/Thread.join(J",
          "java/lang/Thread.onSpinWait(",
          "java/util/Timer.",
          "java/util/concurrent/Executors.",
          "java/util/concurrent/ForkJoinPool.",
          "java/util/concurrent/CompletableFuture.supplyAsync(",
          "java/util/concurrent/CompletableFuture.runAsync(",
          "java/util/concurrent/CompletableFuture.orTimeout(",
          "java/util/concurrent/CompletableFuture.completeOnTimeout(",
          "java/util/concurrent/CompletableFuture.delayedExecutor(JLjava/util/concurrent/TimeUnit;)",
          "java/util/concurrent/LinkedBlockingQueue.",
          "java/util/concurrent/CyclicBarrier.",
          "java/util/concurrent/Phaser.",
          "java/util/concurrent/locks/LockSupport.parkUntil(",
          "java/util/concurrent/locks/ReentrantReadWriteLock.",
          "java/util/concurrent/locks/StampedLock.",
          "java/time/Clock.system",
          "java/time/LocalDateTime.now(",
          "java/lang/Math.random(");

  private final SimpleRemapper types;
  private final Members members;

  /**
   * @param more further types to be replaced, by internal name
   */
  Substitution(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(TYPES);
    all.putAll(more);
    this.types = new SimpleRemapper(API, all);
    Map<String, String> substitutes = new HashMap<>(all);
    // One of the originals of its methods.
    substitutes.put("java/lang/System", CALLS);
    this.members = new Members(substitutes, types);
  }

  byte[] of(byte[] original) {
    ClassReader reader = new ClassReader(original);
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    Members.Check check = members.check(writer);
    reader.accept(new Classes(new ClassRemapper(check, types)), 0);
    if (!check.missing().isEmpty()) {
      throw new IllegalStateException(String.join("\n", check.missing()));
    }
    return writer.toByteArray();
  }

  /** Calls of methods that no substitute has, whether or not the class is ever loaded. */
  Set<String> missing(byte[] original) {
    Members.Check check = members.check(null);
    new ClassReader(original).accept(new ClassRemapper(check, types), ClassReader.SKIP_FRAMES);
    return check.missing();
  }

  private static final class Classes extends ClassVisitor {
    private String name = "";

    Classes(ClassVisitor next) {
      super(API, next);
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      this.name = name;
      super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String method,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      if ((access & Opcodes.ACC_SYNCHRONIZED) == 0) {
        return new Methods(
            name, super.visitMethod(access, method, descriptor, signature, exceptions));
      }
      int plain = access & ~Opcodes.ACC_SYNCHRONIZED;
      writeWrapper(
          super.visitMethod(plain, method, descriptor, signature, exceptions),
          (access & Opcodes.ACC_STATIC) != 0,
          method,
          descriptor);
      int hidden = (plain & ~(Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED)) | Opcodes.ACC_PRIVATE;
      return new Methods(
          name, super.visitMethod(hidden, method + BODY, descriptor, signature, exceptions));
    }

    /** {@code enter(this); try { return body(…); } finally { exit(this); }}. */
    private void writeWrapper(
        MethodVisitor code, boolean isStatic, String method, String descriptor) {
      Label begin = new Label();
      Label end = new Label();
      Label failed = new Label();
      code.visitCode();
      code.visitTryCatchBlock(begin, end, failed, null);
      monitor(code, isStatic, "enter");
      code.visitLabel(begin);
      List<Object> locals = new ArrayList<>();
      int at = 0;
      if (!isStatic) {
        code.visitVarInsn(Opcodes.ALOAD, 0);
        locals.add(name);
        at = 1;
      }
      for (Type argument : Type.getArgumentTypes(descriptor)) {
        code.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), at);
        locals.add(local(argument));
        at += argument.getSize();
      }
      code.visitMethodInsn(
          isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKEVIRTUAL,
          name,
          method + BODY,
          descriptor,
          false);
      code.visitLabel(end);
      monitor(code, isStatic, "exit");
      code.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
      code.visitLabel(failed);
      code.visitFrame(
          Opcodes.F_FULL, locals.size(), locals.toArray(), 1, new Object[] {"java/lang/Throwable"});
      monitor(code, isStatic, "exit");
      code.visitInsn(Opcodes.ATHROW);
      code.visitMaxs(0, 0);
      code.visitEnd();
    }

    private void monitor(MethodVisitor code, boolean isStatic, String what) {
      if (isStatic) {
        code.visitLdcInsn(Type.getObjectType(name));
      } else {
        code.visitVarInsn(Opcodes.ALOAD, 0);
      }
      code.visitMethodInsn(Opcodes.INVOKESTATIC, MONITORS, what, "(Ljava/lang/Object;)V", false);
    }

    private static Object local(Type type) {
      return switch (type.getSort()) {
        case Type.LONG -> Opcodes.LONG;
        case Type.DOUBLE -> Opcodes.DOUBLE;
        case Type.FLOAT -> Opcodes.FLOAT;
        case Type.OBJECT, Type.ARRAY -> type.getInternalName();
        default -> Opcodes.INTEGER;
      };
    }
  }

  private static final class Methods extends MethodVisitor {
    private final String in;

    Methods(String in, MethodVisitor next) {
      super(API, next);
      this.in = in;
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT) {
        super.visitMethodInsn(
            Opcodes.INVOKESTATIC,
            MONITORS,
            opcode == Opcodes.MONITORENTER ? "enter" : "exit",
            "(Ljava/lang/Object;)V",
            false);
      } else {
        super.visitInsn(opcode);
      }
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String method, String descriptor, boolean isInterface) {
      String called = owner + "." + method + descriptor;
      if (METHODS.contains(called)) {
        super.visitMethodInsn(
            Opcodes.INVOKESTATIC,
            CALLS,
            method,
            opcode == Opcodes.INVOKESTATIC ? descriptor : withReceiver(owner, descriptor),
            false);
        return;
      }
      check(called);
      if (owner.startsWith("java/util/concurrent/atomic/") && !method.equals("<init>")) {
        super.visitMethodInsn(Opcodes.INVOKESTATIC, CALLS, "point", "()V", false);
      }
      super.visitMethodInsn(opcode, owner, method, descriptor, isInterface);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String method, String descriptor, Handle bootstrap, Object... arguments) {
      Object[] replaced = arguments.clone();
      for (int i = 0; i < replaced.length; i++) {
        if (replaced[i] instanceof Handle handle) {
          replaced[i] = replaced(handle);
        }
      }
      super.visitInvokeDynamicInsn(method, descriptor, bootstrap, replaced);
    }

    private Handle replaced(Handle handle) {
      String called = handle.getOwner() + "." + handle.getName() + handle.getDesc();
      if (METHODS.contains(called)) {
        boolean isStatic = handle.getTag() == Opcodes.H_INVOKESTATIC;
        return new Handle(
            Opcodes.H_INVOKESTATIC,
            CALLS,
            handle.getName(),
            isStatic ? handle.getDesc() : withReceiver(handle.getOwner(), handle.getDesc()),
            false);
      }
      check(called);
      return handle;
    }

    private void check(String called) {
      for (String refused : REFUSED) {
        if (called.startsWith(refused)) {
          throw new IllegalStateException(
              in.replace('/', '.')
                  + " calls "
                  + called
                  + ", which the simulation has no substitute for");
        }
      }
    }

    private static String withReceiver(String owner, String descriptor) {
      return "(L" + owner + ";" + descriptor.substring(1);
    }
  }
}
