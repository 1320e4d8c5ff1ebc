//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
)

// desk is one workspace and the only client that edits it.
type desk struct {
	b    *bed
	t    *tenant
	ws   retake.WorkspaceID
	root string
	rnd  *rand.Rand
	now  tree // what is there
	turn int

	mu       sync.Mutex
	acks     []ack                       // guarded by mu
	known    map[retake.CheckpointID]int // guarded by mu; place in acks
	keys     map[string]bool             // guarded by mu; all that were ever sent
	wrong    []string                    // guarded by mu; restores that did not give what was saved
	backed   int64                       // guarded by mu; restores that were compared
	torn     int64                       // guarded by mu; restores without a good end, after which the client tidied up
	listed   int64                       // guarded by mu; how often the newest was looked for in the list
	unlisted []string                    // guarded by mu; and was not there
	lost     bool                        // a restore may still be under way: nobody knows what is there
}

// ack is a checkpoint that the server said it has, and what it must hold.
type ack struct {
	id     retake.CheckpointID
	key    string // of the request, which is in the intent too; "" for those of restores
	holds  tree
	whole  bool // what it holds is known: the server says that nothing is missing
	digest digest
	from   string // how it came about
}

const (
	filesAtFirst = 60
	perTurn      = 3
	folders      = 5
)

func newDesk(b *bed, t *tenant, ws retake.Workspace, seed, i uint64) *desk {
	return &desk{
		b: b, t: t, ws: ws.ID, root: string(ws.Root), rnd: rand.New(rand.NewPCG(seed, i)), now: tree{},
		known: map[retake.CheckpointID]int{}, keys: map[string]bool{},
	}
}

// begin fills the workspace.
func (d *desk) begin() error {
	want := tree{}
	for i := range folders {
		want[fmt.Sprintf("part%d", i)] = leaf{dir: true, mode: 0o755}
	}
	for i := range filesAtFirst {
		want[fmt.Sprintf("part%d/file%d.go", i%folders, i)] = d.file()
	}
	want["latest"] = leaf{link: "part0/file0.go"}
	return d.become(context.Background(), want)
}

func (d *desk) file() leaf {
	mode := uint32(0o644)
	if d.rnd.IntN(8) == 0 {
		mode = 0o755
	}
	return fileOf(d.rnd.Uint64(), 200+d.rnd.IntN(6000), mode)
}

// become makes the workspace equal a tree by hand. On a full disk it waits for room.
func (d *desk) become(ctx context.Context, want tree) error {
	is, err := onDisk(d.root)
	if err != nil {
		return err
	}
	gone := slices.Sorted(maps.Keys(is))
	slices.Reverse(gone) // what is in a directory goes first
	for _, path := range gone {
		l, ok := want[path]
		if ok && l.dir == is[path].dir && (l.link == "") == (is[path].link == "") {
			continue
		}
		if err := os.Remove(filepath.Join(d.root, path)); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if err := d.put(ctx, path, want[path]); err != nil {
			return err
		}
	}
	d.now = maps.Clone(want)
	return nil
}

func (d *desk) put(ctx context.Context, path string, l leaf) error {
	for {
		err := put(d.root, path, l)
		if !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// edit changes a few names.
func (d *desk) edit(ctx context.Context) error {
	next := maps.Clone(d.now)
	names := slices.Sorted(maps.Keys(next))
	for range perTurn {
		path := names[d.rnd.IntN(len(names))]
		l, ok := next[path]
		switch {
		case !ok || l.dir:
			continue
		case l.link != "":
			next[path] = leaf{link: fmt.Sprintf("part%d/file%d.go", d.rnd.IntN(folders), d.rnd.IntN(filesAtFirst))}
		case d.rnd.IntN(12) == 0 && len(names) > filesAtFirst/2:
			delete(next, path)
		default:
			next[path] = d.file()
		}
	}
	if d.rnd.IntN(4) == 0 {
		next[fmt.Sprintf("part%d/new%d.txt", d.rnd.IntN(folders), d.rnd.IntN(filesAtFirst))] = d.file()
	}
	for path := range d.now {
		if _, stays := next[path]; !stays {
			if err := os.Remove(filepath.Join(d.root, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for path, l := range next {
		if l != d.now[path] {
			if err := d.put(ctx, path, l); err != nil {
				return err
			}
		}
	}
	d.now = next
	return nil
}

// save asks for a checkpoint in one of three ways, and remembers what it must hold.
func (d *desk) save(ctx context.Context) error {
	key := uuid.NewString()
	d.mu.Lock()
	d.keys[key] = true
	d.mu.Unlock()
	ask := deed{name: "save", method: http.MethodPost, path: d.path("checkpoints"), key: d.t.keys[retake.KeyAgent], once: key, body: map[string]any{"intent": key}}
	switch d.rnd.IntN(3) {
	case 0:
		ask.path, ask.body = "/v1/snapshots", map[string]any{"label": key, "workspace_id": d.ws}
	case 1:
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		ask.body = map[string]any{"intent": key, "id": retake.CheckpointPrefix + id.String()}
	}
	a, err := d.b.caller.do(ctx, ask)
	if err != nil {
		return err
	}
	var told struct {
		Snapshot   retake.CheckpointID `json:"snapshot_id"`
		Complete   bool                `json:"complete"`
		Checkpoint retake.Checkpoint   `json:"checkpoint"`
		Warnings   []retake.Warning    `json:"warnings"`
	}
	if err := json.Unmarshal(a.body, &told); err != nil {
		return fmt.Errorf("read a save: %w", err)
	}
	d.b.caller.warned(told.Warnings)
	from := fmt.Sprintf("a save to %s, %d tries", ask.path, a.tries)
	if told.Snapshot != "" {
		d.acknowledged(told.Snapshot, key, from, d.now, told.Complete)
		return nil
	}
	d.acknowledged(told.Checkpoint.ID, key, from, d.now, told.Checkpoint.Coverage.Grade == retake.Complete)
	return nil
}

func (d *desk) acknowledged(id retake.CheckpointID, key, from string, holds tree, whole bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.known[id]; ok || id == "" {
		return
	}
	d.known[id] = len(d.acks)
	holds = maps.Clone(holds)
	d.acks = append(d.acks, ack{id: id, key: key, holds: holds, whole: whole, digest: holds.digest(), from: from})
}

func (d *desk) all() []ack {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.acks)
}

// any answers one checkpoint of many.
func (d *desk) any() (ack, bool) {
	all := d.all()
	if len(all) == 0 {
		return ack{}, false
	}
	return all[d.rnd.IntN(len(all))], true
}

func (d *desk) path(rest string) string {
	return "/v1/workspaces/" + string(d.ws) + "/" + rest
}

func (d *desk) get(name, path string) deed {
	return deed{name: name, method: http.MethodGet, path: path, key: d.t.keys[retake.KeyAgent]}
}

// look lists, gets one and reads a file of it.
func (d *desk) look(ctx context.Context) error {
	a, err := d.b.caller.do(ctx, d.get("list", d.path("checkpoints?limit=50")))
	if err == nil {
		err = d.listedAtOnce(a)
	}
	one, ok := d.any()
	if !ok {
		return err
	}
	_, gerr := d.b.caller.do(ctx, d.get("get", d.path("find?ref="+string(one.id))))
	err = join(err, gerr)
	if d.turn%2 == 1 {
		err = join(err, d.read(ctx, one))
	}
	if d.turn%10 == 9 {
		_, eerr := d.b.caller.do(ctx, d.get("events", "/v1/events?after=0&limit=50"))
		err = join(err, eerr)
	}
	return err
}

// listedAtOnce: what was just acknowledged is at the head of the list, whichever server
// answers.
func (d *desk) listedAtOnce(a answer) error {
	var t retake.Timeline
	if err := json.Unmarshal(a.body, &t); err != nil {
		return fmt.Errorf("read a list: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.acks[len(d.acks)-1].id
	d.listed++
	if !slices.ContainsFunc(t.Checkpoints, func(cp retake.Checkpoint) bool { return cp.ID == last }) {
		d.unlisted = append(d.unlisted, string(last))
	}
	if slices.ContainsFunc(t.Checkpoints, func(cp retake.Checkpoint) bool { return cp.ID == nobody }) {
		d.unlisted = append(d.unlisted, "whatever is asked for is found")
	}
	return nil
}

// nobody is no checkpoint.
const nobody retake.CheckpointID = "cp_00000000-0000-7000-8000-000000000000"

func (d *desk) read(ctx context.Context, one ack) error {
	for path, l := range one.holds {
		if l.dir || l.link != "" || !one.whole {
			continue
		}
		a, err := d.b.caller.do(ctx, d.get("read", d.path("file?ref="+string(one.id)+"&path="+url.QueryEscape(path))))
		if err == nil && string(a.body) != string(bytesOf(l.seed, l.size)) {
			d.mistaken("%s of %s is read with other bytes", path, one.id)
		}
		return err
	}
	return nil
}

func (d *desk) mistaken(format string, a ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrong = append(d.wrong, fmt.Sprintf(format, a...))
}
