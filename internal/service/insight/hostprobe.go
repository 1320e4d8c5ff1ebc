package insight

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
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// hostFactsFile holds, in the state of a checkpoint, what changed on the host outside the
// root since the previous checkpoint. It is shown, never restored.
const hostFactsFile = "machine.json"

// hostCache is what is known of the host.
type hostCache struct {
	mu        sync.Mutex
	lastProbe time.Time
	files     map[string]probedFile // by path
}

// probedFile is a host file that was read, with its size and time then.
type probedFile struct {
	size, mtime int64
	traits      []retake.Trait
}

// probeInterval is the minimum time between two probes of the host.
const probeInterval = 5 * time.Second

// hostState is the result of the last probe for a workspace.
type hostState struct {
	V      int                       `json:"v"`
	Number int64                     `json:"number"` // of the checkpoint it was seen at
	Places map[string][]retake.Trait `json:"places"` // by path; ports have none
}

// probeHost probes the host for the newest checkpoint of a workspace and stores what
// changed with the checkpoint. It reports whether something did.
func (s *Insight) probeHost(ctx context.Context, cp retake.Checkpoint) (changed bool, err error) {
	if s.opts.HostProbe == nil || !s.workspaces.Exclusive {
		return false, diag.ErrSkipped
	}
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	now := s.workspaces.Clock.Now()
	if newest, err := s.workspaces.Catalog.Latest(ctx, cp.Workspace, 0); now.Sub(s.host.lastProbe) < probeInterval || err != nil || newest.ID != cp.ID {
		return false, diag.ErrSkipped
	}
	s.host.lastProbe = now
	seen := hostState{V: 1, Number: cp.Number, Places: s.readHostPlaces(ctx, cp.Workspace)}
	if seen.Places == nil {
		return false, diag.ErrSkipped // an incomplete probe would report things as gone
	}
	var facts []retake.Fact
	if was, known := s.loadHostState(cp.Workspace); known {
		facts = compareHostStates(was.Places, seen.Places)
	}
	if len(facts) > 0 {
		if err := s.annotateCheckpoint(ctx, cp, hostFactsFile, facts); err != nil {
			return false, err // the next probe reports it
		}
	}
	return len(facts) > 0, s.workspaces.WriteSessionFile(hostFileName(cp.Workspace), seen) // else the next probe reports it again
}

// readHostPlaces reads the ports and the files of the host, and reads again only files that
// changed. It returns nil if there was no time for all of them.
func (s *Insight) readHostPlaces(ctx context.Context, id retake.WorkspaceID) map[string][]retake.Trait {
	o := *s.opts.HostProbe
	if ws, err := s.workspaces.LoadWorkspace(ctx, id); err == nil {
		o.WorkspaceRoot, o.AgentPIDs = ws.Root, s.AgentPIDs(id)
	}
	ports, files := hostprobe.Ports(ctx, o), hostprobe.Files(ctx, o)
	if ports == nil || files == nil {
		return nil
	}
	places := map[string][]retake.Trait{"": ports}
	fresh := map[string]probedFile{}
	for _, f := range files {
		p, ok := s.host.files[f.Path]
		if !ok || p.size != f.Size || p.mtime != f.ModTime {
			p = probedFile{size: f.Size, mtime: f.ModTime, traits: s.readHostTraits(ctx, f)}
		}
		fresh[f.Path] = p
		if len(p.traits) > 0 {
			places[f.Path] = p.traits
		}
	}
	s.host.files = fresh
	return places
}

// readHostTraits reads one host file, in the child process like all untrusted files.
func (s *Insight) readHostTraits(ctx context.Context, f hostprobe.File) []retake.Trait {
	if t := hostprobe.Profiles([]hostprobe.File{f}); len(t) > 0 {
		return t
	}
	if s.opts.Readers == nil {
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
	got, err := s.opts.Readers.Read(ctx, asks)
	if err != nil {
		return nil
	}
	var out []retake.Trait
	for _, r := range got {
		out = append(out, r.Traits...)
	}
	return out
}

// compareHostStates returns the facts that differ between two probes.
func compareHostStates(was, is map[string][]retake.Trait) []retake.Fact {
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
			f.Direct = isOwnPort(is[""], f.Name) || isOwnPort(was[""], f.Name)
		}
	}
	return facts
}

// ownHostFacts returns the host facts that belong to a checkpoint: ports of programs that
// the agent started or that run in the workspace, and the rest only if a call of the agent
// was about the machine. Everything else may come from any other program.
func ownHostFacts(cp retake.Checkpoint, facts []retake.Fact) []retake.Fact {
	asked := slices.ContainsFunc(cp.Effects, func(e retake.Effect) bool { return e.Kind == "machine" && !e.Failed() })
	return slices.DeleteFunc(slices.Clone(facts), func(f retake.Fact) bool {
		if f.Kind == retake.FactPort {
			return !f.Direct
		}
		return !asked
	})
}

// isOwnPort reports whether a program of the workspace listens on a port.
func isOwnPort(ports []retake.Trait, name string) bool {
	return slices.ContainsFunc(ports, func(t retake.Trait) bool { return t.Name == name && t.Direct })
}

// annotateCheckpoint adds a small JSON document to the state of a checkpoint.
func (s *Insight) annotateCheckpoint(ctx context.Context, cp retake.Checkpoint, name string, doc any) error {
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	ws, err := s.workspaces.LoadWorkspace(ctx, cp.Workspace)
	if err != nil {
		return err
	}
	return s.workspaces.WithWriter(ctx, ws, func(w store.Writer) error {
		id, n, err := w.WriteFile(ctx, name, bytes.NewReader(append(b, '\n')))
		if err != nil {
			return err
		}
		return w.Annotate(ctx, cp.Number, []retake.Entry{{Name: name, Kind: retake.KindFile, Mode: 0o600, Size: n, Object: id}})
	})
}

// loadHostFacts returns the host facts stored with a checkpoint.
func (s *Insight) loadHostFacts(ctx context.Context, cp retake.Checkpoint) (facts []retake.Fact) {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return nil
	}
	leaf, err := st.Record(ctx, cp.Workspace, cp.Number)
	if err != nil {
		return nil
	}
	for _, e := range leaf.State {
		if e.Name == hostFactsFile && workspace.ReadStateDoc(ctx, st, e, &facts) != nil {
			return nil
		}
	}
	return facts
}

func hostFileName(ws retake.WorkspaceID) string { return string(ws) + ".machine" }

func (s *Insight) loadHostState(ws retake.WorkspaceID) (m hostState, ok bool) {
	ok = s.workspaces.ReadSessionFile(hostFileName(ws), &m)
	return m, ok && m.V == 1
}
