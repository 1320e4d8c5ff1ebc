//go:build linux

package g14

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

// contextFault is one thing that is wrong with a part of the context. With anew the
// service is opened after it was arranged.
type contextFault struct {
	name    string
	anew    bool
	lasts   bool // what it makes of the context goes on after the turn
	arrange func(t *twins) (end func(), err error)
	payload func(kind retake.SignalKind, plain []byte) []byte
}

type contextProvider struct {
	name   string
	faults []contextFault
}

var contextProviders = []contextProvider{
	{"conversation", []contextFault{
		{name: "missing", lasts: true, arrange: inPlace(func(string) error { return nil })},
		{name: "a pipe", arrange: inPlace(func(p string) error { return unix.Mkfifo(p, 0o644) })},
		{name: "grows without end", lasts: true, arrange: growing},
		{name: "300 MB", lasts: true, arrange: inPlace(func(p string) error { return zeros(p, 300<<20) })},
		{name: "200 MB of lines", lasts: true, arrange: inPlace(lines200)},
		{name: "bytes that are no text", lasts: true, arrange: inPlace(func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("\x00\xff{\n", 1<<18)), 0o644) })},
		{name: "comes and goes", lasts: true, arrange: flickering},
		{name: "may not be read", arrange: behindFile},
		{name: "a link to /dev/zero", arrange: inPlace(func(p string) error { return os.Symlink("/dev/zero", p) })},
	}},
	{"sessions", []contextFault{
		{name: "corrupt", anew: true, arrange: stateIs(func(p string) error { return os.WriteFile(p, []byte(`{"v":1,"sessions":[{`), 0o600) })},
		{name: "of another shape", anew: true, arrange: stateIs(func(p string) error {
			return os.WriteFile(p, []byte(`{"v":-9,"sessions":[{},{}],"seen":[""],"rewind":{}}`), 0o600)
		})},
		{name: "a directory", anew: true, arrange: stateIs(func(p string) error { return os.MkdirAll(filepath.Join(p, "full"), 0o700) })},
		{name: "a pipe", anew: true, arrange: stateIs(func(p string) error { return unix.Mkfifo(p, 0o600) })},
		{name: "a link to /dev/zero", anew: true, arrange: stateIs(func(p string) error { return os.Symlink("/dev/zero", p) })},
		{name: "huge", anew: true, arrange: stateIs(func(p string) error { return zeros(p, 1<<30) })},
		{name: "their place cannot be written", anew: true, arrange: mountOver("sessions", unix.MS_RDONLY, "size=1m")},
		{name: "their disk is full", anew: true, arrange: mountOver("sessions", 0, "size=4k,nr_inodes=1")},
	}},
	{"signals that wait", []contextFault{
		{name: "their place is gone", arrange: placeIs("signals", os.RemoveAll)},
		{name: "their place is a file", arrange: placeIs("signals", func(p string) error { return errors.Join(os.RemoveAll(p), os.WriteFile(p, nil, 0o600)) })},
		{name: "their place cannot be written", arrange: mountOver("signals", unix.MS_RDONLY, "size=1m")},
		{name: "their disk is full", arrange: mountOver("signals", 0, "size=4k,nr_inodes=1")},
		{name: "too many", anew: true, arrange: placeIs("signals", func(p string) error { return crowd(p, queue.MaxSignals+1) })},
		{name: "junk", anew: true, arrange: placeIs("signals", func(p string) error { return crowd(p, 300) })},
		{name: "a pipe among them", anew: true, arrange: placeIs("signals", func(p string) error { return notThere(unix.Mkfifo(filepath.Join(p, "0.signal"), 0o600)) })},
		{name: "a link to /dev/zero among them", anew: true, arrange: placeIs("signals", func(p string) error { return notThere(os.Symlink("/dev/zero", filepath.Join(p, "1.signal"))) })},
	}},
	{"tasks", hostile(retake.SignalCalled, func(text string) map[string]any {
		var todos []any
		for range min(400, mostTasks/len(text)) {
			todos = append(todos, map[string]any{"content": text, "status": "completed", "activeForm": text})
		}
		return map[string]any{"tool_name": "TodoWrite", "tool_input": map[string]any{"todos": todos}}
	})},
	{"calls", hostile(retake.SignalCalled, func(text string) map[string]any {
		return map[string]any{"tool_name": text, "tool_input": map[string]any{"command": text, "more": text}, "tool_response": map[string]any{"stdout": text, "stderr": text}}
	})},
	{"risk", hostile(retake.SignalCall, func(text string) map[string]any {
		return map[string]any{"tool_input": map[string]any{"command": "rm -rf " + text}}
	})},
	{"secrets", hostile(retake.SignalPrompt, func(text string) map[string]any { return map[string]any{"prompt": text} })},
	{"notes", notes()},
}

// mostTasks keeps a list below what an adapter reads at all.
const mostTasks = 2 << 20

// texts are what a parser, a pattern or a terminal may stumble over.
var hostileTexts = []struct{ name, text string }{
	{"long", strings.Repeat("a", 1<<20)},
	{"nested", strings.Repeat("$(", 1<<14) + strings.Repeat(")", 1<<14)},
	{"open", strings.Repeat("'\"`{[(<<EOF\n", 1<<14)},
	{"likely secrets", strings.Repeat("password=hunter2hunter2 AKIAIOSFODNN7EXAMPLE -----BEGIN RSA PRIVATE KEY----- ", 1<<12)},
	{"no text", strings.Repeat("\xff\xfe\x00\x1b]0;x\a", 1<<14)},
	{"braces", strings.Repeat("{1..999999999}", 1<<12)},
	{"bars", strings.Repeat("x|", 1<<16)},
	{"backslashes", strings.Repeat("\\\n\\\\", 1<<16)},
}

// hostile puts each text into the event of a kind.
func hostile(kind retake.SignalKind, in func(text string) map[string]any) []contextFault {
	var out []contextFault
	for _, h := range hostileTexts {
		out = append(out, contextFault{name: h.name, payload: with(kind, in(h.text))})
	}
	return append(out, contextFault{name: "deep", payload: deep(kind)})
}

// with replaces fields of a payload.
func with(kind retake.SignalKind, fields map[string]any) func(retake.SignalKind, []byte) []byte {
	return func(k retake.SignalKind, plain []byte) []byte {
		var all map[string]any
		if k != kind || json.Unmarshal(plain, &all) != nil {
			return plain
		}
		for name, value := range fields {
			all[name] = value
		}
		b, err := json.Marshal(all)
		if err != nil {
			return plain
		}
		return b
	}
}

// deep adds a value that is nested nearly as far as the adapters follow.
func deep(kind retake.SignalKind) func(retake.SignalKind, []byte) []byte {
	const levels = 2_000
	return func(k retake.SignalKind, plain []byte) []byte {
		if k != kind {
			return plain
		}
		return append([]byte(`{"more":`+strings.Repeat(`{"a":[`, levels)+"1"+strings.Repeat("]}", levels)+","), plain[1:]...)
	}
}

// notes are what agents are to be told at their next prompt.
func notes() []contextFault {
	var out []contextFault
	for _, h := range hostileTexts {
		out = append(out, contextFault{name: h.name, anew: true, arrange: stateIs(func(p string) error {
			b, err := json.Marshal(map[string]any{"v": 1, "sessions": []any{}, "rewind": map[string]any{"id": h.text[:64], "at": time.Now(), "text": h.text}})
			return errors.Join(err, os.WriteFile(p, b, 0o600))
		})})
	}
	return out
}

// inPlace puts something where the conversation is.
func inPlace(put func(path string) error) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		return func() {}, errors.Join(os.RemoveAll(t.transcript()), put(t.transcript()))
	}
}

// stateIs puts something where the state of the sessions is.
func stateIs(put func(path string) error) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) { return func() {}, errors.Join(os.RemoveAll(t.state()), put(t.state())) }
}

func placeIs(name string, put func(path string) error) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		at := filepath.Join(t.data, name)
		return func() { _ = errors.Join(os.RemoveAll(at), os.MkdirAll(at, 0o700)) }, put(at) // the next turn finds it whole
	}
}

// mountOver puts a file system over a directory of ours.
func mountOver(name string, flags uintptr, data string) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		at := filepath.Join(t.data, name)
		return func() { _ = unix.Unmount(at, unix.MNT_DETACH) }, unix.Mount("tmpfs", at, "tmpfs", flags, data) // scratch
	}
}

func zeros(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// lines200 is a conversation that is large and whole.
func lines200(path string) error {
	line := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("long words ", 1<<16) + `"}]}}` + "\n")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for n := 0; err == nil && n < 200<<20; n += len(line) {
		_, err = f.Write(fmt.Appendf(line[:len(line):len(line)], `{"n":%d,"at":%d}`+"\n", n, time.Now().UnixNano()))
	}
	return errors.Join(err, f.Close())
}

// behindFile makes the path one that cannot be opened, also by root.
func behindFile(t *twins) (func(), error) {
	was := t.agent.Transcript
	t.agent.Transcript = filepath.Join(t.transcript(), "session.jsonl")
	return func() { t.agent.Transcript = was }, nil
}

// growing appends as fast as it can until the turn has its checkpoint.
func growing(t *twins) (func(), error) {
	const most = 100 << 20
	f, err := os.OpenFile(t.transcript(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	chunk := []byte(strings.Repeat(`{"type":"user","message":{"content":"more"}}`+"\n", 1000))
	return forEver(func(i int) {
		if i*len(chunk) < most {
			_, _ = f.Write(chunk)
		}
	}, func() { _ = f.Close() }), nil
}

// flickering removes the conversation and writes it again, all the time.
func flickering(t *twins) (func(), error) {
	path := t.transcript()
	return forEver(func(int) {
		_ = os.Remove(path)
		_ = os.WriteFile(path, []byte(strings.Repeat("{\"type\":\"user\"}\n", 1000)), 0o644)
	}, func() {}), nil
}

// pipeWithTime is a pipe whose other end takes its time to write.
func pipeWithTime(t *twins) (func(), error) {
	if err := errors.Join(os.RemoveAll(t.transcript()), unix.Mkfifo(t.transcript(), 0o644)); err != nil {
		return nil, err
	}
	path := t.transcript()
	return forEver(func(int) {
		<-time.After(4 * daemonbed.ContextSlack)
		if f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			_, _ = f.Write([]byte("{}\n"))
			_ = f.Close() // a reader was there, and is released
		}
	}, func() {}), nil
}

// forEver repeats something until the answer is called.
func forEver(do func(i int), after func()) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				after()
				return
			case <-time.After(time.Millisecond):
				do(i)
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}

// crowd puts many files that are no signals among them.
func crowd(dir string, n int) error {
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%020d.signal", i)), []byte("junk"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// notThere lives with what the turn before left.
func notThere(err error) error {
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}
