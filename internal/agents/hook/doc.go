// Package hook is what agents call: it reads one event of an agent, turns it into
// signals, and responds in the agent's own format.
//
// It sees the vocabulary and the clock; all it touches comes in by Deps. It never
// decides about history, never blocks or permits what an agent does, makes no path
// of an id, and writes nothing but the answer.
//
//	J1  The exit code is 0, whatever happens, and the answer comes within the budgets.
//	J2  Out holds nothing, or one JSON object; only a worktree is answered by its path.
//	J3  Permission is never granted; only an agent that blocks without an answer is told to go on.
//	J4  Every signal passes one gate: ids are clean, texts are valid and bounded, paths are absolute.
//	J5  A signal that is not received in time is queued under the same id.
//	J6  A list of tasks is reported only if it is the whole list of the session.
package hook
