// Written by: retake agents install opencode
// Taken away by: retake agents remove opencode
//
// Tells Retake what happens in a session, so that every turn becomes a checkpoint that
// can be undone. It changes no tool call, stops one only if your policy says so (retake config
// gate.publish deny), and an error in here stays in here.
import { spawn, spawnSync } from "node:child_process"
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"

const RETAKE = "retake"
const LIMIT = 2500 // milliseconds that opencode waits for an answer
const KILL = 30000 // milliseconds after which a call is given up
const LONGEST = 64 * 1024 // characters of a tool's output
const HEADLESS = process.argv.includes("run") // it exits after the turn, and waits for nobody

// Tools that change nothing need no checkpoint.
const QUIET = new Set(["read", "grep", "glob", "list", "ls", "lsp", "skill", "question", "webfetch", "websearch", "codesearch", "todoread", "todowrite"])

// ask hands one event over and gives the answer, or null. It never rejects and
// never takes longer than LIMIT; the call itself may go on behind.
function ask(event) {
  return new Promise((resolve) => {
    let out = ""
    let child
    const wait = setTimeout(() => {
      // What is late is waited for by nobody, not even by the end of the process.
      child?.stdin?.unref?.()
      child?.stdout?.unref?.()
      resolve(null)
    }, LIMIT)
    const done = (answer) => {
      clearTimeout(wait)
      resolve(answer)
    }
    try {
      child = spawn(RETAKE, ["hook", "opencode"], { cwd: event.cwd, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const kill = setTimeout(() => child.kill("SIGKILL"), KILL)
      kill.unref?.()
      child.unref?.()
      child.on("error", () => done(null))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.on("data", (piece) => (out += piece))
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

// askNow hands one event over and waits: what comes next may be the end of the program.
function askNow(event) {
  spawnSync(RETAKE, ["hook", "opencode"], { cwd: event.cwd, input: JSON.stringify(event), stdio: ["pipe", "ignore", "ignore"], timeout: 4 * LIMIT, windowsHide: true })
}

function read(out) {
  try {
    return JSON.parse(out)
  } catch {
    return null
  }
}

function words(parts) {
  return (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n")
}

// partID sorts behind the parts that opencode made in the same millisecond.
function partID() {
  const time = (BigInt(Date.now()) * 4096n + 4095n).toString(16).padStart(12, "0").slice(-12)
  const rest = Array.from({ length: 14 }, () => Math.floor(Math.random() * 36).toString(36)).join("")
  return "prt_" + time + rest
}

// transcript is where a session is written down, line by line: opencode keeps its
// sessions in a database. First the session, then each message with its parts, as
// "opencode export" has them. A message is written when it is complete.
function transcript(session) {
  if (!/^ses_[0-9A-Za-z]+$/.test(session)) return undefined
  return join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode", "retake", session + ".jsonl")
}

const row = (record) => JSON.stringify(record) + "\n"

function written(file) {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line).info.id)
  } catch {
    return []
  }
}

// Stopped ends a call that a policy of the user stops.
class Stopped extends Error {}

// safe makes a hook that throws nothing else into opencode.
const safe = (hook) => async (input, output) => {
  try {
    await hook(input, output)
  } catch (error) {
    if (error instanceof Stopped) throw error
    // an error of ours is no error of the session
  }
}

export const RetakePlugin = async ({ client, directory }) => {
  const sessions = new Map() // what is known of a session: parent, version, last words
  const roles = new Map() // who wrote a message
  const known = (id) => sessions.get(id) ?? sessions.set(id, {}).get(id)

  const event = (name, session, more) => ({
    hook_event_name: name,
    session_id: session,
    parent_id: known(session).parent,
    version: known(session).version,
    transcript_path: known(session).caught ? transcript(session) : undefined,
    cwd: directory,
    ...more,
  })

  // What is said, by message, until it is written.
  const talks = new Map()
  const talk = (session) => talks.get(session) ?? talks.set(session, { open: new Map(), done: new Set() }).get(session)
  const said = (session, id) => {
    const { open, done } = talk(session)
    if (done.has(id)) return {} // it is written: what comes later is decoration
    return open.get(id) ?? open.set(id, { parts: new Map() }).get(id)
  }

  // catchUp writes what the transcript lacks before a turn: all of it when the session
  // went on without us, or was cut.
  const catchUp = async (session, prompt) => {
    const file = transcript(session)
    if (!file || known(session).parent || known(session).caught) return
    const [info, messages] = await Promise.all([client.session.get({ path: { id: session } }), client.session.messages({ path: { id: session } })])
    const past = messages.data.filter((message) => message.info.id !== prompt)
    const ids = [session, ...past.map((message) => message.info.id)]
    if (written(file).join() !== ids.join()) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, row({ info: info.data }) + past.map(row).join(""), { mode: 0o600 })
    }
    known(session).caught = true
  }

  // writeDown adds the messages that are there, at once: the program may end now.
  const writeDown = (session) => {
    const file = transcript(session)
    if (!file || !known(session).caught) {
      talks.delete(session) // of a subagent, or not to be written
      return
    }
    const { open, done } = talk(session)
    let rows = ""
    for (const [id, { info, parts }] of open) {
      if (info && !done.has(id)) rows += row({ info, parts: [...parts.values()] })
      done.add(id)
    }
    open.clear()
    if (rows) appendFileSync(file, rows)
  }

  // What only tells goes one after the other, and nobody waits for it.
  let line = Promise.resolve()
  const tell = (...args) => {
    const one = event(...args)
    line = line.then(() => ask(one))
  }

  const told = {
    "session.created": ({ info }) => tell("session.created", info.id),
    "session.compacted": ({ sessionID }) => tell("session.compacted", sessionID),
    "session.idle": ({ sessionID }) => {
      writeDown(sessionID)
      const end = { message_id: known(sessionID).prompt, last_assistant_message: known(sessionID).said }
      if (HEADLESS && !known(sessionID).parent) askNow(event("session.idle", sessionID, end))
      else tell("session.idle", sessionID, end)
    },
    "session.error": ({ sessionID, error }) => {
      if (!sessionID) return
      writeDown(sessionID)
      tell("session.error", sessionID, { error: error?.data?.message ?? error?.name, last_assistant_message: known(sessionID).said })
    },
    "session.deleted": ({ info }) => {
      tell("session.deleted", info.id)
      if (known(info.id).caught) rmSync(transcript(info.id), { force: true })
      sessions.delete(info.id)
      talks.delete(info.id)
    },
    "todo.updated": ({ sessionID, todos }) =>
      tell("todo.updated", sessionID, { todos: (todos ?? []).map((todo, i) => ({ id: String(todo.id ?? i + 1), content: todo.content, status: todo.status })) }),
    "message.updated": ({ info }) => {
      if (roles.size > 1000) roles.clear()
      roles.set(info.id, info.role)
      said(info.sessionID, info.id).info = info
      if (info.role === "assistant" && info.time?.completed) writeDown(info.sessionID)
    },
    "message.part.updated": ({ part }) => {
      said(part.sessionID, part.messageID).parts?.set(part.id, part)
      if (part.type === "text" && roles.get(part.messageID) === "assistant") known(part.sessionID).said = part.text
    },
  }

  return {
    event: safe(async ({ event: { type, properties } }) => {
      const info = properties?.info
      if (type.startsWith("session.") && info?.id) Object.assign(known(info.id), { parent: info.parentID, version: info.version })
      told[type]?.(properties)
    }),

    "chat.message": safe(async (input, output) => {
      const message = input.messageID ?? output.message?.id
      known(input.sessionID).prompt = message
      await catchUp(input.sessionID, message).catch(() => {})
      const answer = await ask(event("chat.message", input.sessionID, { message_id: message, prompt: words(output.parts) }))
      if (!answer?.note) return
      output.parts.push({ id: partID(), sessionID: input.sessionID, messageID: message, type: "text", text: answer.note, synthetic: true })
    }),

    "tool.execute.before": safe(async ({ tool, sessionID, callID }, output) => {
      if (QUIET.has(tool)) return
      const answer = await ask(event("tool.execute.before", sessionID, { tool_name: tool, tool_input: output.args, call_id: callID }))
      if (answer?.stop) throw new Stopped(answer.stop)
    }),

    "tool.execute.after": safe(async ({ tool, sessionID, callID, args }, output) => {
      if (QUIET.has(tool)) return
      tell("tool.execute.after", sessionID, { tool_name: tool, tool_input: args, tool_output: String(output?.output ?? "").slice(0, LONGEST), call_id: callID })
    }),
  }
}
