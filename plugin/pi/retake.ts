// Written by: retake agents install pi
// Taken away by: retake agents remove pi
//
// Tells Retake what happens in a session, so that every turn becomes a checkpoint that
// can be undone. It changes no tool call, stops one only if your policy says so (retake config
// gate.publish deny), and an error in here stays in here.
import { spawn } from "node:child_process"

const RETAKE = "retake"
const LIMIT = 2500 // milliseconds that pi waits for an answer
const KILL = 30000 // milliseconds after which a call is given up
const LONGEST = 64 * 1024 // characters of a tool's output

// Tools that change nothing need no checkpoint.
const QUIET = new Set(["read", "grep", "find", "ls"])

// ask hands one event over and gives the answer, or null. It never rejects and
// never takes longer than LIMIT; the call itself may go on behind.
function ask(event: any): Promise<any> {
  return new Promise((resolve) => {
    let out = ""
    let child: any
    const wait = setTimeout(() => {
      // What is late is waited for by nobody, not even by the end of the process.
      child?.stdin?.unref?.()
      child?.stdout?.unref?.()
      resolve(null)
    }, LIMIT)
    const done = (answer: any) => {
      clearTimeout(wait)
      resolve(answer)
    }
    try {
      child = spawn(RETAKE, ["hook", "pi"], { cwd: event.cwd, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const kill = setTimeout(() => child.kill("SIGKILL"), KILL)
      kill.unref?.()
      child.unref?.()
      child.on("error", () => done(null))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.on("data", (piece: any) => (out += piece))
      child.on("close", () => {
        clearTimeout(kill)
        done(read(out))
      })
      child.stdin.end(JSON.stringify(event))
    } catch {
      done(null)
    }
  })
}

function read(out: string): any {
  try {
    return JSON.parse(out)
  } catch {
    return null
  }
}

function words(content: any): string {
  if (typeof content === "string") return content
  return (content ?? [])
    .filter((part: any) => part.type === "text")
    .map((part: any) => part.text)
    .join("\n")
}

function describe(name: string, ctx: any, more: any = {}): any {
  return {
    hook_event_name: name,
    session_id: ctx.sessionManager.getSessionId(),
    transcript_path: ctx.sessionManager.getSessionFile(),
    cwd: ctx.cwd,
    ...more,
  }
}

// safe makes a handler that never throws into pi.
const safe = (handler: any) => async (event: any, ctx: any) => {
  try {
    return await handler(event, ctx)
  } catch {
    // an error of ours is no error of the session
  }
}

export default function (pi: any) {
  // What only tells goes one after the other, and nobody waits for it.
  let line: Promise<any> = Promise.resolve()
  const tell = (one: any) => {
    line = line.then(() => ask(one))
  }

  pi.on("session_start", safe((event: any, ctx: any) => tell(describe("SessionStart", ctx, { source: event.reason }))))

  pi.on("before_agent_start", safe(async (event: any, ctx: any) => {
    const answer = await ask(describe("UserPromptSubmit", ctx, { prompt: event.prompt }))
    const note = answer?.hookSpecificOutput?.additionalContext
    if (note) return { message: { customType: "retake", content: note, display: false } }
  }))

  pi.on("tool_call", safe(async (event: any, ctx: any) => {
    if (QUIET.has(event.toolName)) return
    const answer = await ask(describe("PreToolUse", ctx, { tool_name: event.toolName, tool_input: event.input, call_id: event.toolCallId }))
    if (answer?.stop) return { block: true, reason: answer.stop }
  }))

  pi.on("tool_result", safe((event: any, ctx: any) => {
    if (QUIET.has(event.toolName)) return
    tell(describe(event.isError ? "PostToolUseFailure" : "PostToolUse", ctx, {
      tool_name: event.toolName,
      tool_input: event.input,
      tool_output: words(event.content).slice(0, LONGEST),
      call_id: event.toolCallId,
    }))
  }))

  pi.on("agent_end", safe((event: any, ctx: any) => {
    const last = (event.messages ?? []).filter((message: any) => message.role === "assistant").pop()
    const name = last?.errorMessage ? "StopFailure" : "Stop"
    tell(describe(name, ctx, { last_assistant_message: words(last?.content), error: last?.errorMessage }))
  }))

  pi.on("session_before_compact", safe((event: any, ctx: any) => tell(describe("PreCompact", ctx, { trigger: event.reason }))))

  // The process may end after this one, so all that was told is waited for.
  pi.on("session_shutdown", safe(async (event: any, ctx: any) => {
    tell(describe("SessionEnd", ctx, { reason: event.reason }))
    await Promise.race([line, new Promise((resolve) => setTimeout(resolve, LIMIT))])
  }))
}
