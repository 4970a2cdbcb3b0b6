// An agent that runs hooks, in TypeScript, with Node's own modules alone.
//
//     node --experimental-strip-types host.ts PROJECT SCRIPT    (Node 22.6 and newer)
//
// All types can be erased, so newer versions of Node run the file as it is; for older
// ones let `tsc` make a `host.js` of it.
// The model and the user are played by a script, such as `../script.json`; put your own
// model, tools and user into `World`. `Engine` and `Agent` can stay as they are.
// Set REMORA if the program `remora` is not on the PATH.

import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { createInterface } from "node:readline";

type Fields = Record<string, any>;
type Callback = (event: Fields) => Fields | null;
type Notice = { method: string; params: Fields };
type Waiter = { resolve: (result: any) => void; reject: (error: Error) => void };

type Place = "aside" | "tool_result" | "user_message" | { notification: { prompt: string } };
type Delivery = { agent: string | null; place: Place; text: string };
type Decision = "allow" | "ask" | "deny" | "defer";
type Outcome = {
  blocked: boolean;
  permission: Decision | null;
  reason: string | null;
  final: Decision | null;
  final_why: string | null;
  continue: boolean;
  stop_reason: string | null;
  updated_input: Fields | null;
  updated_output: any;
  interrupt: boolean | null;
  messages: string[];
  initial_user_message: string | null;
  session_title: string | null;
  suppress_original_prompt: boolean | null;
  display_content: string | null;
  terminal_sequence: string | null;
};
type Fired = {
  report: { outcome: Outcome };
  deliveries: Delivery[];
  stop: null | "ends" | "continues" | { overridden: { blocks: number } };
};
type Status = { phase: "idle" | "waking" | "busy"; running: Fields[]; shell_prelude: string };

type Call = { id: string; tool: string; input: Fields };
type Reply = { text: string; calls: Call[] };
type Script = {
  prompts: string[];
  permissions: boolean[];
  replies: { text?: string; calls?: Call[]; fails?: string }[];
};

/** `remora hooks serve`: requests as promises, notices kept until they are wanted. */
class Engine {
  readonly notices: Notice[] = [];
  private readonly process: ChildProcess;
  private readonly callbacks: Record<string, Callback>;
  private readonly waiting = new Map<number, Waiter>();
  private readonly ended: Promise<void>;
  private listeners: Waiter[] = [];
  private gone = false;
  private lastId = 0;

  constructor(program: string, callbacks: Record<string, Callback>) {
    this.callbacks = callbacks;
    this.process = spawn(program, ["hooks", "serve"], { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => {
      this.process.on("error", (error) => this.fail(error));
      this.process.on("close", () => {
        this.fail(new Error("the engine is gone"));
        resolve();
      });
    });
    this.process.stdin!.on("error", (error) => this.fail(error));
    createInterface({ input: this.process.stdout! }).on("line", (line) => this.read(line));
  }

  ask(method: string, params: Fields): Promise<any> {
    if (this.gone) return Promise.reject(new Error("the engine is gone"));
    const id = ++this.lastId;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  /** Waits until one more notice is there. */
  nextNotice(): Promise<void> {
    if (this.gone) return Promise.reject(new Error("the engine is gone"));
    return new Promise((resolve, reject) => this.listeners.push({ resolve, reject }));
  }

  /** The next notice of that name. */
  async waitFor(method: string): Promise<Notice> {
    for (;;) {
      const at = this.notices.findIndex((notice) => notice.method === method);
      if (at >= 0) return this.notices.splice(at, 1)[0];
      await this.nextNotice();
    }
  }

  async close(): Promise<void> {
    this.process.stdin!.end();
    await this.ended;
  }

  private send(message: Fields): void {
    this.process.stdin!.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  private read(line: string): void {
    const message = JSON.parse(line);
    if (message.method === "callback") {
      this.send({ id: message.id, ...this.callBack(message.params) });
    } else if (message.method) {
      this.notices.push(message);
      for (const listener of this.listeners.splice(0)) listener.resolve(undefined);
    } else {
      const waiter = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) waiter?.reject(new Error(message.error.message));
      else waiter?.resolve(message.result);
    }
  }

  private callBack(call: Fields): Fields {
    try {
      return { result: this.callbacks[call.callback](call.event) };
    } catch (error) {
      // A hook that fails is no reason to end the agent.
      return { error: { code: -32000, message: String(error) } };
    }
  }

  private fail(error: Error): void {
    this.gone = true;
    for (const waiter of [...this.waiting.values(), ...this.listeners.splice(0)]) {
      waiter.reject(error);
    }
    this.waiting.clear();
  }
}

/** The loop: every event of a turn, and what the agent makes of each outcome. */
class Agent {
  private readonly engine: Engine;
  private readonly world: World;
  private readonly session: string;
  private readonly base: Fields;
  /** Texts that the next request carries behind the prompt or the results. */
  private asides: string[] = [];

  constructor(engine: Engine, world: World, session: string, project: string) {
    this.engine = engine;
    this.world = world;
    this.session = session;
    this.base = { session_id: "example", cwd: project, permission_mode: "default" };
  }

  async runSession(prompts: string[]): Promise<void> {
    const fired = await this.fire("SessionStart", { source: "startup" });
    await this.deliver(fired.deliveries);
    const first = fired.report.outcome.initial_user_message;
    for (const prompt of first === null ? prompts : [first, ...prompts]) {
      await this.runTurn(prompt, prompt);
    }
    await this.waitForWakeUps();
    await this.fire("SessionEnd", { reason: "other" });
    await this.ask("close", { end_all: true });
  }

  /** Turns that hooks begin, until none can begin one. */
  private async waitForWakeUps(): Promise<void> {
    for (;;) {
      const status: Status = await this.ask("status");
      const notice = this.engine.notices.shift();
      if (notice?.method === "wake_up") {
        await this.runTurn(notice.params.prompt, notice.params.text);
      } else if (!notice && status.running.length === 0 && status.phase !== "waking") {
        return;
      } else if (!notice) {
        await this.engine.nextNotice();
      }
    }
  }

  /** A turn: from a prompt to an end that the hooks allow. */
  private async runTurn(prompt: string, shown: string): Promise<void> {
    const submitted = await this.fire("UserPromptSubmit", { prompt });
    if (!this.acceptPrompt(submitted, prompt)) return;
    this.world.add("user", shown);
    await this.deliver(submitted.deliveries);
    await this.takeDeliveries("next_prompt");
    for (let reply = await this.askModel(); reply; reply = await this.askModel()) {
      if (reply.calls.length === 0) {
        const fired = await this.fire("Stop", { last_assistant_message: reply.text });
        await this.deliver(fired.deliveries);
        if (fired.stop === "continues") continue;
        return;
      }
      const calls: Fields[] = [];
      let goesOn = true;
      for (const call of reply.calls) {
        const made = await this.makeCall(call);
        calls.push(made.call);
        goesOn = goesOn && made.goesOn;
      }
      if (goesOn) {
        const fired = await this.fire("PostToolBatch", { tool_calls: calls });
        await this.deliver(fired.deliveries);
        goesOn = fired.report.outcome.continue;
      }
      if (!goesOn) break;
      await this.takeDeliveries("next_request");
    }
    await this.ask("end_turn");
  }

  /** One call, and whether the turn goes on behind it. */
  private async makeCall(call: Call): Promise<{ call: Fields; goesOn: boolean }> {
    const about: Fields = { tool_name: call.tool, tool_input: call.input, tool_use_id: call.id };
    let { refused: text, goesOn } = await this.decide(about);
    if (text === null) {
      const status: Status = await this.ask("status");
      const made = await this.world.callTool(call.tool, about.tool_input, status.shell_prelude);
      const fired =
        "error" in made
          ? await this.fire("PostToolUseFailure", { ...about, error: made.error })
          : await this.fire("PostToolUse", { ...about, tool_response: made.output });
      await this.deliver(fired.deliveries);
      const outcome = fired.report.outcome;
      goesOn = goesOn && outcome.continue;
      text = readText(outcome.updated_output ?? ("error" in made ? made.error : made.output));
    }
    this.world.add("result", text);
    return { call: { ...about, tool_response: text }, goesOn };
  }

  /**
   * Hooks, rules and the user about one call: why it is not made, if it is not, and
   * whether the turn goes on.
   */
  private async decide(about: Fields): Promise<{ refused: string | null; goesOn: boolean }> {
    let fired = await this.fire("PreToolUse", about);
    let outcome = fired.report.outcome;
    let decision = outcome.final;
    let goesOn = outcome.continue;
    about.tool_input = outcome.updated_input ?? about.tool_input;
    if (decision === "ask") {
      await this.deliver(fired.deliveries);
      fired = await this.fire("PermissionRequest", about);
      outcome = fired.report.outcome;
      goesOn = goesOn && outcome.interrupt !== true;
      about.tool_input = outcome.updated_input ?? about.tool_input;
      // Rules had their say before; where hooks say nothing, the user is asked.
      decision = outcome.permission === null ? "ask" : outcome.final;
    }
    const labelled = await this.deliver(fired.deliveries);
    switch (decision) {
      case "ask":
        return { refused: await this.askUser(about), goesOn };
      case "deny":
        return { refused: labelled ?? outcome.final_why ?? "The call is refused.", goesOn };
      case "defer":
        // Only where no user can be asked: whoever started the run decides.
        return { refused: outcome.final_why ?? "The call is refused.", goesOn: false };
      default:
        return { refused: null, goesOn };
    }
  }

  /** Puts texts where they belong. Returns the one that is the result of a call. */
  private async deliver(deliveries: Delivery[]): Promise<string | null> {
    let result: string | null = null;
    for (const { agent, place, text } of deliveries) {
      if (agent !== null) continue; // A subagent's; this agent starts none.
      if (place === "aside") {
        this.asides.push(text);
      } else if (place === "tool_result") {
        result = text;
      } else if (place === "user_message") {
        this.world.add("user", text);
      } else {
        const prompt = place.notification.prompt;
        const fired = await this.fire("UserPromptSubmit", { prompt });
        if (this.acceptPrompt(fired, prompt)) {
          this.asides.push(text);
          await this.deliver(fired.deliveries);
        }
      }
    }
    return result;
  }

  private async takeDeliveries(point: "next_prompt" | "next_request"): Promise<void> {
    const taken = await this.ask("take_deliveries", { point });
    await this.deliver(taken.deliveries);
  }

  /** Fires an event and shows the user what hooks say to them. */
  private async fire(name: string, about: Fields): Promise<Fired> {
    const event = { ...this.base, hook_event_name: name, ...about };
    const conversation = name === "Stop" ? this.world.listMessages() : [];
    const fired: Fired = await this.ask("fire", { event, conversation });
    const outcome = fired.report.outcome;
    for (const message of outcome.messages) this.world.show("message", message);
    if (outcome.stop_reason !== null && !outcome.continue) {
      this.world.show("stopped", outcome.stop_reason);
    }
    if (outcome.session_title !== null) this.world.show("title", outcome.session_title);
    if (outcome.terminal_sequence !== null) {
      this.world.show("terminal", outcome.terminal_sequence);
    }
    return fired;
  }

  /** Whether hooks let the prompt through; if not, the user gets it back. */
  private acceptPrompt(fired: Fired, prompt: string): boolean {
    const outcome = fired.report.outcome;
    if (outcome.blocked) {
      this.world.show("refused", outcome.reason ?? "");
      if (!outcome.suppress_original_prompt) this.world.show("prompt", prompt);
    }
    return outcome.continue && !outcome.blocked;
  }

  /** The next request; null if the model fails. */
  private async askModel(): Promise<Reply | null> {
    for (const text of this.asides.splice(0)) this.world.add("system", text);
    const reply = await this.world.askModel();
    if ("fails" in reply) {
      await this.fire("StopFailure", { error: "unknown", last_assistant_message: reply.fails });
      this.world.show("failed", reply.fails);
      return null;
    }
    if (reply.text !== "") {
      const fired = await this.fire("MessageDisplay", {
        turn_id: "turn",
        message_id: "message",
        index: 0,
        final: true,
        delta: reply.text,
      });
      this.world.add("assistant", reply.text);
      this.world.show("assistant", fired.report.outcome.display_content ?? reply.text);
    }
    return reply;
  }

  /** Asks the user about a call; the answer is why it is not made. */
  private async askUser(about: Fields): Promise<string | null> {
    await this.fire("Notification", {
      message: "Permission is needed",
      notification_type: "permission_prompt",
    });
    const allowed = await this.world.askUser(about.tool_name, about.tool_input);
    return allowed ? null : "The user does not want this call.";
  }

  private ask(method: string, params: Fields = {}): Promise<any> {
    return this.engine.ask(method, { session: this.session, ...params });
  }
}

/** What the model reads of a tool's output. */
function readText(output: any): string {
  const text = output?.stdout ?? output;
  return typeof text === "string" ? text : JSON.stringify(text);
}

/**
 * The agent's own: its model, its tools and its user. Here a script plays them, and what
 * the model reads and the user sees is printed.
 */
class World {
  private readonly script: Script;
  private readonly engine: Engine;
  private readonly project: string;
  private readonly messages: { role: string; text: string }[] = [];

  constructor(script: Script, engine: Engine, project: string) {
    this.script = script;
    this.engine = engine;
    this.project = project;
  }

  /** A message of the conversation. */
  add(role: string, text: string): void {
    this.messages.push({ role, text });
    this.note(role, text);
  }

  /** The conversation in two roles, as prompt hooks judge it. */
  listMessages(): { role: "user" | "assistant"; text: string }[] {
    return this.messages.map(({ role, text }) => ({
      role: role === "assistant" ? "assistant" : "user",
      text,
    }));
  }

  /** Send `this.messages` to a model here. */
  async askModel(): Promise<Reply | { fails: string }> {
    const reply = this.script.replies.shift() ?? { fails: "the script is over" };
    if (reply.fails !== undefined) return { fails: reply.fails };
    return { text: reply.text ?? "", calls: reply.calls ?? [] };
  }

  async callTool(
    tool: string,
    input: Fields,
    prelude: string,
  ): Promise<{ output: Fields } | { error: string }> {
    if (tool === "Wait") {
      await this.engine.waitFor("background_ended");
      return { output: { stdout: "a hook in the background has ended" } };
    }
    const made = spawnSync("sh", ["-c", prelude + "\n" + input.command], {
      cwd: this.project,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (made.status !== 0) {
      return { error: `Exit code ${made.status}\n${made.stdout}${made.stderr}` };
    }
    const { stdout, stderr } = made;
    return { output: { stdout, stderr, interrupted: false, isImage: false } };
  }

  /** Something for the user. */
  show(kind: string, text: string): void {
    this.note(`[${kind}]`, text);
  }

  /** Whether a call may be made. */
  async askUser(tool: string, input: Fields): Promise<boolean> {
    const allowed = this.script.permissions.shift() ?? false;
    this.show("question", `${tool} ${JSON.stringify(input)} ${allowed ? "yes" : "no"}`);
    return allowed;
  }

  private note(mark: string, text: string): void {
    console.log(`${mark}: ${text.trimEnd().replaceAll("\n", "\n    ")}`);
  }
}

/** The host's own hook: the answer is what a command would print. */
function guardRelease(event: Fields): Fields | null {
  const deploys = String(event.tool_input.command ?? "").startsWith("deploy");
  return deploys ? { decision: "block", reason: "not on a Friday" } : null;
}

async function main(): Promise<void> {
  const [projectArg, scriptArg] = process.argv.slice(2);
  if (scriptArg === undefined) throw new Error("usage: host.ts PROJECT SCRIPT");
  const project = realpathSync(projectArg);
  const script: Script = JSON.parse(readFileSync(scriptArg, "utf8"));
  const engine = new Engine(process.env.REMORA ?? "remora", { guard_release: guardRelease });
  const { session, warnings } = await engine.ask("open", {
    project,
    attendance: "interactive",
    // Ask your user before you say so: hooks run commands.
    trusted: true,
  });
  for (const warning of warnings) console.error("warning:", warning);
  await engine.ask("register_callback", {
    session,
    callback: "guard_release",
    event: "PreToolUse",
    matcher: "Bash",
    timeout_seconds: 5,
    failure_blocks: true,
  });
  const agent = new Agent(engine, new World(script, engine, project), session, project);
  await agent.runSession(script.prompts);
  await engine.close();
}

await main();
