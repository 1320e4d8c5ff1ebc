package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/hostprobe"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/storage/store"
)

// machineFile holds, in the state of a checkpoint, what changed on the machine outside
// the root since the checkpoint before. It is seen and told, never restored.
const machineFile = "machine.json"

// probing is what is known of the machine.
type probing struct {
	mu   sync.Mutex
	at   time.Time
	read map[string]probed // by path
}

// probed is a file of the machine that was read, and what it was then.
type probed struct {
	size, time int64
	traits     []retake.Trait
}

// probeStep is the least time between two looks at the machine.
const probeStep = 5 * time.Second

// machineState is what was seen at the last look for a workspace.
type machineState struct {
	V      int                       `json:"v"`
	Number int64                     `json:"number"` // of the checkpoint it was seen at
	Places map[string][]retake.Trait `json:"places"` // by path; ports have none
}

// probe looks at the machine for the newest checkpoint of a workspace, and keeps what
// changed with it. It answers whether something did.
func (s *Service) probe(ctx context.Context, cp retake.Checkpoint) (changed bool, err error) {
	if s.p.Probe == nil || !s.p.Exclusive {
		return false, nil
	}
	s.machine.mu.Lock()
	defer s.machine.mu.Unlock()
	now := s.p.Clock.Now()
	if newest, err := s.p.Catalog.Latest(ctx, cp.Workspace, 0); now.Sub(s.machine.at) < probeStep || err != nil || newest.ID != cp.ID {
		return false, nil
	}
	s.machine.at = now
	seen := machineState{V: 1, Number: cp.Number, Places: s.lookAround(ctx, cp.Workspace)}
	if seen.Places == nil {
		return false, nil // there was no time for all of it, and a part would tell of things that went
	}
	var facts []retake.Fact
	if was, known := s.lastMachine(cp.Workspace); known {
		facts = machineFacts(was.Places, seen.Places)
	}
	if len(facts) > 0 {
		if err := s.annotate(ctx, cp, machineFile, facts); err != nil {
			return false, err // the next look tells it
		}
	}
	return len(facts) > 0, s.writeSmall(machineName(cp.Workspace), seen) // else the next look tells it again
}

// lookAround reads the places of the machine that changed since the last look.
func (s *Service) lookAround(ctx context.Context, id retake.WorkspaceID) map[string][]retake.Trait {
	o := *s.p.Probe
	if ws, err := s.row(ctx, id); err == nil {
		o.WorkspaceRoot, o.AgentPIDs = ws.Root, s.hearingOf(id).agents()
	}
	ports, files := hostprobe.Ports(ctx, o), hostprobe.Files(ctx, o)
	if ports == nil || files == nil {
		return nil
	}
	places := map[string][]retake.Trait{"": ports}
	fresh := map[string]probed{}
	for _, f := range files {
		p, ok := s.machine.read[f.Path]
		if !ok || p.size != f.Size || p.time != f.ModTime {
			p = probed{size: f.Size, time: f.ModTime, traits: s.traitsOf(ctx, f)}
		}
		fresh[f.Path] = p
		if len(p.traits) > 0 {
			places[f.Path] = p.traits
		}
	}
	s.machine.read = fresh
	return places
}

// traitsOf reads one file of the machine, in the child as everything else.
func (s *Service) traitsOf(ctx context.Context, f hostprobe.File) []retake.Trait {
	if t := hostprobe.Profiles([]hostprobe.File{f}); len(t) > 0 {
		return t
	}
	if s.readers == nil {
		return nil
	}
	path := strings.TrimPrefix(f.Path, "/")
	e := retake.Entry{Kind: retake.KindFile, Mode: 0o644, Size: f.Size}
	var asks []xray.Request
	for _, name := range xray.ReadersFor(path, e) {
		if xray.IsCacheable(name) && !strings.HasPrefix(name, "secret@") {
			asks = append(asks, xray.Request{Reader: name, Path: path, Entry: e, Open: func(context.Context) (io.ReadCloser, error) { return f.Open() }})
		}
	}
	got, err := s.readers.Read(ctx, asks)
	if err != nil {
		return nil
	}
	var out []retake.Trait
	for _, r := range got {
		out = append(out, r.Traits...)
	}
	return out
}

// machineFacts are what differs between two looks.
func machineFacts(was, is map[string][]retake.Trait) []retake.Fact {
	sided := func(places map[string][]retake.Trait) []xray.SidedReading {
		var out []xray.SidedReading
		for path, traits := range places {
			if path == "" {
				path = "/proc/net"
			}
			out = append(out, xray.SidedReading{Path: path, Reader: "machine@1", Reading: xray.Reading{Traits: traits}})
		}
		slices.SortFunc(out, func(a, b xray.SidedReading) int { return cmp.Compare(a.Path, b.Path) })
		return out
	}
	facts := xray.CompareReadings(sided(was), sided(is))
	for i := range facts {
		if f := &facts[i]; f.Kind == retake.FactPort {
			f.Direct = ownPort(is[""], f.Name) || ownPort(was[""], f.Name)
		}
	}
	return facts
}

// ownFacts are those of the machine that belong to a checkpoint: ports of programs that the
// agent started or that work in the workspace, and the rest only when a call of the agent
// was about the machine. Everything else may be the work of anybody.
func ownFacts(cp retake.Checkpoint, facts []retake.Fact) []retake.Fact {
	asked := slices.ContainsFunc(cp.Effects, func(e retake.Effect) bool { return e.Kind == "machine" && !e.Failed() })
	return slices.DeleteFunc(slices.Clone(facts), func(f retake.Fact) bool {
		if f.Kind == retake.FactPort {
			return !f.Direct
		}
		return !asked
	})
}

// ownPort reports whether a program of the workspace listens there.
func ownPort(ports []retake.Trait, name string) bool {
	return slices.ContainsFunc(ports, func(t retake.Trait) bool { return t.Name == name && t.Direct })
}

// annotate keeps a small document with a checkpoint.
func (s *Service) annotate(ctx context.Context, cp retake.Checkpoint, name string, doc any) error {
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	ws, err := s.row(ctx, cp.Workspace)
	if err != nil {
		return err
	}
	return s.onLine(ctx, ws, func(w store.Writer) error {
		id, n, err := w.WriteFile(ctx, name, bytes.NewReader(append(b, '\n')))
		if err != nil {
			return err
		}
		return w.Annotate(ctx, cp.Number, []retake.Entry{{Name: name, Kind: retake.KindFile, Mode: 0o600, Size: n, Object: id}})
	})
}

// machineOf answers what changed on the machine with a checkpoint.
func (s *Service) machineOf(ctx context.Context, cp retake.Checkpoint) (facts []retake.Fact) {
	st, err := s.store(ctx)
	if err != nil {
		return nil
	}
	leaf, err := st.Record(ctx, cp.Workspace, cp.Number)
	if err != nil {
		return nil
	}
	for _, e := range leaf.State {
		if e.Name == machineFile && readDoc(ctx, st, e, &facts) != nil {
			return nil
		}
	}
	return facts
}

func machineName(ws retake.WorkspaceID) string { return string(ws) + ".machine" }

func (s *Service) lastMachine(ws retake.WorkspaceID) (m machineState, ok bool) {
	ok = s.readSmall(machineName(ws), &m)
	return m, ok && m.V == 1
}

// writeSmall and readSmall keep small documents beside what is known of agents.
func (s *Service) writeSmall(name string, doc any) error {
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	dir, err := s.p.FS.OpenRoot(s.p.Sessions)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	return replaceSmall(dir, name, b)
}

func (s *Service) readSmall(name string, doc any) bool {
	if s.p.Sessions == "" {
		return false
	}
	dir, err := s.p.FS.OpenRoot(s.p.Sessions)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only read
	f, err := dir.OpenFile(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, maxHearing))
	return err == nil && json.Unmarshal(b, doc) == nil
}
