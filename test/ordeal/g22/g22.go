//go:build linux

// Package g22 plants secrets in a server: none may appear in logs, rows, blobs, answers,
// messages or processes.
package g22

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

func init() { harness.Register("G22", keysNeverAppear) }

// keysNeverAppear: secrets are nowhere but where they must be, after a whole life of a
// server: requests good and bad, messages, metrics, traces, a log that tells everything,
// and the last words of a process that was told to say what it does.
func keysNeverAppear(r *harness.Run) []harness.Verdict {
	return serverbed.OnPostgres(r, []harness.Verdict{secretsOf(r, "")}, secretsOf)
}

func secretsOf(r *harness.Run, dsn string) harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G22", What: "secrets in logs, rows, blobs, answers, messages, processes", Detail: map[string]any{},
		Control: "each secret planted in a log, in a file and in an answer: found",
	}
	exe, err := daemonbed.Program(r)
	start := time.Now()
	var l *lifetime
	if err == nil {
		l, err = newLifetime(r, exe, dsn)
	}
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	if err := l.live(); err != nil {
		v.Fail("%v", err)
	}
	if err := errors.Join(l.collect(), l.stranded(r, exe)); err != nil {
		v.Fail("%v", err)
	}
	for _, hit := range l.search() {
		v.Fail("%s", hit)
	}
	v.Tried = l.looked
	if v.Caught = l.planted(); v.Caught != int64(4*len(l.secrets)) {
		v.Fail("of %d planted secrets %d are found", 4*len(l.secrets), v.Caught)
	}
	v.Detail["secrets"], v.Detail["things looked through"], v.Detail["bytes"], v.Detail["children"] = len(l.secrets), len(l.things), l.bytes, l.children
	v.Seconds = time.Since(start).Seconds()
	return v
}

// lifetime is a server with what it left behind.
type lifetime struct {
	h       *serverbed.Hall
	m       *serverbed.Realm
	sink    *serverbed.Receiver
	traces  *serverbed.Receiver
	proc    *served
	keeper  secretbox.Keeper
	metrics string // address
	token   string // lies in a file of a workspace
	deploy  string // of a place for backups

	mu      sync.Mutex
	secrets map[string][]string // forms by name; guarded by mu
	things  map[string][]byte   // guarded by mu
	count   int                 // of answers; guarded by mu
	looked  int64
	bytes   int64

	children int // of the server, whose environment was looked at
}

// learn remembers a secret in the forms in which it could appear.
func (l *lifetime) learn(name, text string) {
	if len(text) < 12 {
		return
	}
	forms := []string{text, url.QueryEscape(text), base64.StdEncoding.EncodeToString([]byte(text)), hex.EncodeToString([]byte(text))}
	bare := text
	for _, prefix := range []string{"whsec_", "whsk_"} {
		bare = strings.TrimPrefix(bare, prefix)
	}
	if raw, err := base64.StdEncoding.DecodeString(bare); err == nil && len(raw) >= 16 {
		forms = append(forms, string(raw), hex.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw), bare)
	}
	if raw, err := hex.DecodeString(text); err == nil {
		forms = append(forms, string(raw), base64.StdEncoding.EncodeToString(raw))
	}
	slices.Sort(forms)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.secrets[name] = slices.Compact(forms)
}

func (l *lifetime) keep(name string, b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.things[name] = b
	l.bytes += int64(len(b))
}

// may says where a secret must be.
func (l *lifetime) may(secret, thing string) bool {
	switch secret {
	case "server key":
		return thing == "data/server.key"
	case "token in a file":
		// The file itself, what a restore took out of its place, and who asks for it.
		return strings.HasPrefix(thing, "data/ns/main/files/") || strings.HasPrefix(thing, "data/ns/main/own/returns/") || strings.HasPrefix(thing, "own content ")
	}
	return false
}

// search looks for every secret in everything.
func (l *lifetime) search() []string {
	var out []string
	for _, thing := range slices.Sorted(maps.Keys(l.things)) {
		out = append(out, l.in(thing, l.things[thing])...)
	}
	return out
}

// in looks for every secret in one thing.
func (l *lifetime) in(thing string, b []byte) []string {
	var out []string
	for name, forms := range l.secrets {
		l.looked++
		if at := found(b, forms); at >= 0 && !l.may(name, thing) {
			out = append(out, fmt.Sprintf("%s is in %s: %q", name, thing, around(b, at)))
		}
	}
	return out
}

func found(b []byte, forms []string) int {
	for _, f := range forms {
		if at := bytes.Index(b, []byte(f)); at >= 0 {
			return at
		}
	}
	return -1
}

func around(b []byte, at int) []byte { return b[max(0, at-80):min(len(b), at+40)] }

// planted puts every secret, in each of its forms, where it must not be.
func (l *lifetime) planted() int64 {
	var caught int64
	for name, forms := range l.secrets {
		for i, thing := range []string{"log", "data/server.db", "data/ns/main/own/store/blobs/p", "answer 1"} {
			b := slices.Concat(l.things[thing], []byte(forms[i%len(forms)]), []byte("\n"))
			if slices.ContainsFunc(l.in(thing, b), func(s string) bool { return strings.HasPrefix(s, name+" is in ") }) {
				caught++
			}
		}
	}
	return caught
}

// collect reads all that the server left: its directory, its logs, what others heard.
func (l *lifetime) collect() error {
	err := filepath.WalkDir(l.h.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil {
			l.keep("data"+strings.TrimPrefix(path, l.h.Dir), b)
		}
		return err
	})
	log, lerr := os.ReadFile(l.proc.log)
	l.keep("log", log)
	for i, m := range l.sink.All() {
		l.keep(fmt.Sprintf("message %d", i), fmt.Appendf(nil, "%v\n%s", m.Header, m.Body))
	}
	for i, m := range l.traces.All() {
		l.keep(fmt.Sprintf("trace %d", i), fmt.Appendf(nil, "%v\n%s", m.Header, unzipped(m.Body)))
	}
	if len(log) == 0 || len(l.sink.All()) == 0 || len(l.traces.All()) == 0 {
		err = errors.Join(err, fmt.Errorf("something was not told: log %d bytes, %d messages, %d traces", len(log), len(l.sink.All()), len(l.traces.All())))
	}
	return errors.Join(err, lerr)
}
