import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

/** A process, and what it has printed. */
export interface Program {
  process: ChildProcess;
  output(): string;
  /** Resolves with the match once it has been printed. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  exited: Promise<number | null>;
}

const TIMEOUT_MS = 180_000;
/** What the environment says of the database and the JVM. The program refuses settings that it does not know. */
const KEPT = ["HOLDFAST_DATABASE_ALLOW_UNSAFE", "HOLDFAST_JAVA_OPTS"];

/** CONFORMANCE_PROGRAM is a folder with holdfast.jar; without it the launcher of the checkout builds and runs it. */
export function startProgram(args: string[], cwd: string, settings: Record<string, string>): Program {
  const folder = process.env["CONFORMANCE_PROGRAM"];
  const foreign = Object.keys(process.env).filter((name) => name.startsWith("HOLDFAST_") && !KEPT.includes(name));
  const environment = { ...Object.fromEntries(foreign.map((name) => [name, undefined])), ...settings };
  if (!folder) {
    return startProcess(process.env["HOLDFAST_LAUNCHER"] as string, args, cwd, environment);
  }
  const home = process.env["JAVA_HOME"];
  const options = ["-XX:+UseSerialGC", "-Xmx384m", "--enable-native-access=ALL-UNNAMED"];
  options.push(...(process.env["HOLDFAST_JAVA_OPTS"] ?? "").split(" ").filter((option) => option !== ""));
  const program = ["-cp", join(folder, "holdfast.jar"), "dev.holdfast.app.Main"];
  return startProcess(home ? join(home, "bin/java") : "java", [...options, ...program, ...args], cwd, environment);
}

export function startProcess(
  command: string,
  args: string[],
  cwd: string,
  environment: Record<string, string | undefined>,
): Program {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...environment } });
  let printed = "";
  let heard: (() => void)[] = [];
  const hear = (text: string): void => {
    printed += text;
    heard.splice(0).forEach((look) => look());
  };
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  void exited.then(() => hear(""));
  return {
    process: child,
    output: () => printed,
    exited,
    line: async (pattern) => {
      const end = Date.now() + TIMEOUT_MS;
      for (;;) {
        const match = pattern.exec(printed);
        if (match) {
          return match;
        }
        if (child.exitCode !== null || child.signalCode !== null || Date.now() > end) {
          throw new Error(`${command} has not printed ${String(pattern)}:\n${printed}`);
        }
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 1_000);
          heard.push(() => {
            clearTimeout(timer);
            resolve();
          });
        });
        heard = [];
      }
    },
  };
}

export async function stopProgram(program: Program): Promise<void> {
  program.process.kill("SIGTERM");
  const timer = setTimeout(() => program.process.kill("SIGKILL"), 60_000);
  await program.exited;
  clearTimeout(timer);
}
