//go:build linux

package matrix

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// state is what a namespace has: rows by table, answers to its own keys, files by their hash. Each
// value is a list that can be compared.
type state map[string][]string

// otherState reads all of the other namespace.
func (b *Bed) otherState() (state, error) {
	if !b.hall.Settled() {
		return nil, errors.New("the server does not come to rest")
	}
	out := state{}
	rows, err := b.rowsOf(otherName, otherName+"-child")
	if err != nil {
		return nil, err
	}
	for table, all := range rows {
		if !slices.Contains(anchored, table) {
			out["table "+table] = slices.DeleteFunc(all, anchors)
		}
	}
	if out["list /v1/namespaces"], err = b.list(b.provisioner[otherName].Secret, "/v1/namespaces"); err != nil {
		return nil, err
	}
	for _, path := range []string{"/v1/workspaces", "/v1/namespace", "/v1/keys", "/v1/webhooks", "/v1/schedules", "/v1/deletions", "/v1/deliveries?limit=1000", "/v1/events?limit=1000"} {
		if out["list "+path], err = b.list(b.other.Keys[retake.KeyAdmin], path); err != nil {
			return nil, err
		}
	}
	for _, ws := range []string{b.theirs["ws"], b.bait["ws"], b.theirs["fork"]} {
		if err := b.workspaceState(out, b.other.Keys[retake.KeyAdmin], ws); err != nil {
			return nil, err
		}
	}
	if out["audit by actor"], err = b.actors(); err != nil {
		return nil, err
	}
	return out, errors.Join(hashFiles(out, filepath.Join(b.hall.Dir, "ns", otherName)), hashFiles(out, filepath.Join(b.hall.Dir, "ns", otherName+"-child")))
}

// protected reads all that no request of a sweep may change.
func (b *Bed) protected() (state, error) {
	out, err := b.otherState()
	if err != nil {
		return nil, err
	}
	vault, err := b.vaultState()
	maps.Copy(out, vault)
	return out, err
}

// vaultState reads the workspace that no caller may change.
func (b *Bed) vaultState() (state, error) {
	out := state{}
	if err := b.workspaceState(out, b.own.Keys[retake.KeyReader], string(b.vault)); err != nil {
		return nil, err
	}
	return out, hashFiles(out, filepath.Join(b.hall.Files(ownName), vaultName))
}

func (b *Bed) workspaceState(out state, key, ws string) error {
	for _, path := range []string{"/checkpoints", "/forks", "/verifications", "/tasks"} {
		all, err := b.list(key, "/v1/workspaces/"+ws+path)
		if err != nil {
			return err
		}
		out["list "+ws+path] = all
	}
	return nil
}

// moving are fields that change by themselves: when a key was used last, and what is computed
// about a checkpoint some time after it.
var moving = []string{"used", "story", "findings", "last", "next"}

// list reads a list as lines of JSON.
func (b *Bed) list(key, path string) ([]string, error) {
	a := b.hall.Ask(serverbed.Asked{Key: key, Method: http.MethodGet, Path: path})
	if !a.Good() {
		return nil, fmt.Errorf("read %s: %s", path, a.Say())
	}
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(still(v), "", " ")
	return strings.Split(string(text), "\n"), err
}

// still removes the fields that move.
func still(v any) any {
	switch x := v.(type) {
	case map[string]any:
		maps.DeleteFunc(x, func(k string, _ any) bool { return slices.Contains(moving, k) })
		for k := range x {
			x[k] = still(x[k])
		}
	case []any:
		for i := range x {
			x[i] = still(x[i])
		}
	}
	return v
}

// A server signs the end of each audit log every few minutes, and notes that in the log.
const anchorName = "anchor"

var anchored = []string{"anchor", "audit_head"}

// anchors says whether a row is about that.
func anchors(row string) bool {
	return strings.HasPrefix(row, anchorName+" | ") || strings.Contains(row, `"actor":{"kind":"maintainer","name":"`+anchorName+`"}`)
}

// actors counts the audit entries of the other namespace by who acted.
func (b *Bed) actors() ([]string, error) {
	a := b.hall.Ask(serverbed.Asked{Key: b.other.Keys[retake.KeyAdmin], Method: http.MethodGet, Path: "/v1/audit?limit=1000"})
	var list struct {
		Data []retake.AuditEntry `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &list); err != nil || len(list.Data) == 0 {
		return nil, fmt.Errorf("read the audit log: %s: %w", a.Say(), err)
	}
	counts := map[string]int{}
	for i := range list.Data {
		e := &list.Data[i]
		if e.Actor.Name == anchorName {
			continue
		}
		counts[fmt.Sprint(e.Actor.Kind, " ", e.Actor.Key, " ", e.Actor.Name, " ", e.Verb)]++
	}
	var out []string
	for who, n := range counts {
		out = append(out, fmt.Sprint(who, " ", n))
	}
	slices.Sort(out)
	return out, nil
}

// fleeting are directories of what is under way.
var fleeting = []string{"locks", "sessions", "signals"}

// hashFiles adds every file below a directory.
func hashFiles(out state, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && filepath.Base(filepath.Dir(path)) == "own" && slices.Contains(fleeting, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			out["file "+path] = []string{"a directory"}
			return nil
		case !d.Type().IsRegular():
			out["file "+path] = []string{d.Type().String()}
			return nil
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		out["file "+path] = []string{fmt.Sprintf("%x", sha256.Sum256(b))}
		return err
	})
}

// growing are tables with what a server finds out about a checkpoint some time after it.
var growing = []string{"table finding", "table place"}

// unlike tells what differs between two states.
func (s state) unlike(t state) []string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(s)) {
		if is, ok := t[what]; !ok {
			out = append(out, what+" is gone")
		} else if !slices.Equal(s[what], is) {
			was := slices.Sorted(slices.Values(s[what]))
			gone, come := serverbed.Apart(was, slices.Sorted(slices.Values(is)))
			if len(gone) > 0 || !slices.Contains(growing, what) {
				out = append(out, fmt.Sprintf("%s: gone %.300q, come %.300q", what, gone, come))
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(t)) {
		if _, ok := s[what]; !ok {
			out = append(out, what+" came")
		}
	}
	return out
}
