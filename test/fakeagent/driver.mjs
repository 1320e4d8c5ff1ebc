// Loads a plugin of opencode and calls its hooks as opencode does. One JSON object
// a line comes in, one goes out. What the plugin spawns is counted, so that whoever
// plays can wait until nothing runs.
import child from "node:child_process"
import { readFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { createInterface } from "node:readline"

let running = 0
let ended = []
const spawn = child.spawn
child.spawn = (...args) => {
  const one = spawn(...args)
  let out = ""
  running++
  one.stdout?.on("data", (piece) => (out += piece))
  one.on("error", (error) => ended.push({ exit: -1, out: String(error) }))
  one.on("close", (exit) => {
    running--
    ended.push({ exit: exit ?? -1, out })
  })
  return one
}
syncBuiltinESMExports()

const [, , file, directory] = process.argv
const source = readFileSync(file).toString("base64")
const plugin = await import("data:text/javascript;base64," + source)
const hooks = []
for (const make of new Set(Object.values(plugin))) {
  hooks.push(await make({ directory, worktree: directory, project: { id: "p" }, client: {}, $: () => {} }, {}))
}

// rest waits until nothing runs, and until what waits in a line had its turn.
async function rest() {
  for (let quiet = 0; quiet < 3; quiet++) {
    if (running > 0) quiet = 0
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const all = ended
  ended = []
  return all
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, hook, input, output } = JSON.parse(line)
  const answer = { id, output }
  void (async () => {
    try {
      if (hook === "rest") answer.ended = await rest()
      else for (const one of hooks) await one[hook]?.(input, output)
    } catch (error) {
      answer.threw = String(error?.message ?? error)
    }
    process.stdout.write(JSON.stringify(answer) + "\n")
  })()
}
