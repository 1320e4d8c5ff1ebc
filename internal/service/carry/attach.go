package carry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/rewind"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// AttachOptions say how a store is made of a copy.
type AttachOptions struct {
	Key    func(text string) (CopyKey, error)
	Heads  func(ctx context.Context, p replica.Place, k CopyKey) ([]store.Head, error) // of a copy
	Create func(ctx context.Context, p replica.Place, k CopyKey, h *replica.Head) error
	Fetch  func(ctx context.Context, st store.Store, tree retake.ObjectID) error // what a tree needs of the copy; "": all
	Needs  func(st store.Store) bool                                             // it has not all of the copy yet
}

// CopyKey is what a recovery key opens.
type CopyKey struct {
	Password string
	Family   string
	Sealer   replica.Sealer
}

// BaseState says which copy the store of this machine began as.
type BaseState struct {
	URL    string              `json:"url"`
	Access retake.RemoteAccess `json:"access"`
	Name   string              `json:"name"` // of the copy at the remote
	Head   int64               `json:"head"` // that is pinned
	Who    string              `json:"who"`  // has the pin
}

// BaseFile is where BaseState is kept, in the directory of the remotes.
const BaseFile = "base"

// Attaching brings a history here.
type Attaching struct {
	workspaces *workspace.Registry
	history    *history.History
	agents     *agentstate.Agents
	rewinder   *rewind.Rewinder
	uploads    *Uploads
}

// NewAttaching returns an Attaching.
func NewAttaching(w *workspace.Registry, h *history.History, a *agentstate.Agents, r *rewind.Rewinder, u *Uploads) *Attaching {
	return &Attaching{w, h, a, r, u}
}

// foundCopy is a workspace in a copy.
type foundCopy struct {
	store replica.StoreInfo
	name  string
	place replica.Place
	head  *replica.Head
	ws    store.Head
}

// Attach makes the timeline of a remote that of this machine.
func (s *Attaching) Attach(ctx context.Context, req retake.AttachRequest) (retake.Receipt, error) {
	out := retake.Receipt{URL: req.URL, Missing: []retake.NotArrived{}}
	o := s.uploads.opts.Attach
	if s.uploads.opts.Dir == "" || o.Create == nil {
		return out, &retake.Error{Kind: retake.Invalid, What: "nothing is attached here", Safe: workspace.Unchanged}
	}
	if err := s.checkEmpty(ctx); err != nil {
		return out, err
	}
	key, err := o.Key(req.Key)
	if err != nil {
		return out, &retake.Error{Kind: retake.Invalid, What: "that is not a recovery key, or a letter of it is wrong", Safe: workspace.Unchanged, Hint: "it has 14 groups of 4; on the other machine: retake remote key"}
	}
	c, err := s.find(ctx, req, key)
	if err != nil {
		return out, err
	}
	defer c.place.Close() //nolint:errcheck // only read
	if !req.Browse {
		if req.Dir, err = attachDir(req.Dir, c.ws.Workspace.Root); err != nil {
			return out, err
		}
	}
	if err := s.create(ctx, req, key, c); err != nil {
		return out, workspace.WrapError("not attached", workspace.Unchanged, err)
	}
	out.Machine = c.store.Machine
	err = s.arrive(context.WithoutCancel(ctx), req, c, &out)
	name := termtext.ShellWord(c.ws.Workspace.Name)
	if err != nil {
		e := *retake.AsError(workspace.WrapError("attached in part", "", err))
		e.Safe, e.Hint = "The timeline is here; the remote was only read.", "put the files here: retake restore latest --workspace "+name
		return out, &e
	}
	return out, nil
}

// checkEmpty refuses a machine that has a history: two keys do not fit into one store.
func (s *Attaching) checkEmpty(ctx context.Context) error {
	all, err := s.workspaces.Catalog.Workspaces(workspace.AsMaintainer(ctx))
	if err != nil {
		return workspace.WrapError("the workspaces cannot be listed", workspace.Unchanged, err)
	}
	if len(all) == 0 && s.workspaces.StoreIfOpen() == nil {
		return nil
	}
	return &retake.Error{Kind: retake.Exists, What: "this machine has a history of its own already", Safe: workspace.Unchanged,
		Hint: "attach with another directory for its data: set RETAKE_HOME, then the same command"}
}

// attachDir returns the directory for the files, which must be empty or missing.
func attachDir(dir, former string) (string, error) {
	if dir == "" {
		dir = former
	}
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir, nil
	case err != nil:
		return "", workspace.WrapError("the directory cannot be read", workspace.Unchanged, err)
	case len(names) > 0:
		return "", &retake.Error{Kind: retake.Exists, What: dir + " is not empty", Safe: workspace.Unchanged, Hint: "name an empty directory, or one that is not there: retake help attach"}
	}
	return workspace.RealPath(dir)
}

// find looks for a workspace in all copies of a key. Of several copies it takes the newest.
func (s *Attaching) find(ctx context.Context, req retake.AttachRequest, key CopyKey) (*foundCopy, error) {
	at, err := s.uploads.opts.Address(req.URL)
	if err != nil {
		return nil, &retake.Error{Kind: retake.Invalid, What: err.Error(), Safe: workspace.Unchanged, Hint: "see which there are: retake help remote add"}
	}
	fail := func(err error) (*foundCopy, error) {
		e := *retake.AsError((&remote{state: remoteState{URL: req.URL}}).explain(err, "can't read "+req.URL))
		e.Safe, e.Hint = workspace.Unchanged, ""
		return nil, &e
	}
	list, err := at.Open(ctx, replica.Copies(key.Family), req.Access)
	if err != nil {
		return fail(err)
	}
	stores, err := replica.Stores(ctx, list, key.Sealer)
	if err = errors.Join(err, list.Close()); err != nil {
		return fail(err)
	}
	var all []*foundCopy
	for _, i := range stores {
		found, err := s.look(ctx, at, req, key, i)
		if err != nil {
			return fail(err)
		}
		all = append(all, found...)
	}
	return choose(req, all)
}

// look lists the workspaces of one copy. One that was not begun has none.
func (s *Attaching) look(ctx context.Context, at replica.Address, req retake.AttachRequest, key CopyKey, i replica.StoreInfo) ([]*foundCopy, error) {
	name := replica.CopyOf(key.Family, i.Store)
	place, err := at.Open(ctx, name, req.Access)
	if err != nil {
		return nil, err
	}
	h, err := replica.ReadHead(ctx, place, key.Sealer)
	if err != nil || h.Number == 0 {
		return nil, errors.Join(err, place.Close())
	}
	heads, err := s.uploads.opts.Attach.Heads(ctx, place, key)
	if err != nil {
		return nil, errors.Join(err, place.Close())
	}
	var out []*foundCopy
	for _, ws := range heads {
		out = append(out, &foundCopy{i, name, place, h, ws})
	}
	return out, nil
}

// choose returns the one that was asked for.
func choose(req retake.AttachRequest, all []*foundCopy) (*foundCopy, error) {
	var best *foundCopy
	var names []string
	for _, c := range all {
		ws := c.ws.Workspace
		if !slices.Contains(names, ws.Name) {
			names = append(names, ws.Name)
		}
		fits := req.Workspace == "" || req.Workspace == ws.Name || req.Workspace == string(ws.ID)
		if fits && (best == nil || c.head.Time.After(best.head.Time)) {
			best = c
		}
	}
	for _, c := range all {
		if best == nil || c.place != best.place {
			_ = c.place.Close() // only read
		}
	}
	slices.Sort(names)
	list := strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		return nil, &retake.Error{Kind: retake.NotFound, What: "there is nothing with this key at " + req.URL, Safe: workspace.Unchanged, Hint: "compare the address and the key with those of the other machine: retake remote list"}
	case best == nil:
		return nil, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("%s has no workspace %s; it has %s", req.URL, req.Workspace, list), Safe: workspace.Unchanged}
	case req.Workspace == "" && len(names) > 1:
		return nil, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%s has %d workspaces: %s", req.URL, len(names), list), Safe: workspace.Unchanged, Hint: "name one of them: retake help attach"}
	}
	return best, nil
}

// create makes the store. The copy keeps what it has until the pin is gone.
func (s *Attaching) create(ctx context.Context, req retake.AttachRequest, key CopyKey, c *foundCopy) error {
	who, err := storeName(s.uploads.opts.Dir, true)
	if err != nil {
		return err
	}
	if err := replica.Pin(ctx, c.place, c.head.Number, who); err != nil {
		return fmt.Errorf("pin the copy: %w", err)
	}
	file := filepath.Join(s.uploads.opts.Dir, BaseFile)
	text, err := json.Marshal(BaseState{URL: req.URL, Access: req.Access, Name: c.name, Head: c.head.Number, Who: who})
	if err == nil {
		err = fsx.ReplaceFile(file, text, 0o600)
	}
	if err == nil {
		err = s.uploads.opts.Attach.Create(ctx, c.place, key, c.head)
	}
	if err != nil {
		return errors.Join(err, replica.Unpin(context.WithoutCancel(ctx), c.place, c.head.Number, who), os.Remove(file))
	}
	return nil
}

// arrive lists the timeline and puts the files and the conversation where they belong.
func (s *Attaching) arrive(ctx context.Context, req retake.AttachRequest, c *foundCopy, out *retake.Receipt) error {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return err
	}
	if err := s.keepOnly(ctx, st, c.ws.Workspace.ID); err != nil {
		return err
	}
	if out.Workspace, err = s.relocate(ctx, c.ws, req.Dir); err != nil {
		return err
	}
	if out.Checkpoints, _, err = s.workspaces.Catalog.Counts(ctx, out.Workspace.ID); err != nil {
		return err
	}
	if out.Newest, err = s.workspaces.Catalog.Latest(ctx, out.Workspace.ID, 0); err != nil {
		return err
	}
	if !req.Browse {
		if err := s.putFiles(ctx, st, out); err != nil {
			return err
		}
		s.putConversation(ctx, req, out)
	}
	out.Later = s.uploads.opts.Attach.Needs(st)
	s.uploads.fetchRest()
	return nil
}

// keepOnly lists one workspace of the copy. The others stay where they are.
func (s *Attaching) keepOnly(ctx context.Context, st store.Store, id retake.WorkspaceID) error {
	heads, err := st.Heads(ctx)
	if err != nil {
		return err
	}
	for _, h := range heads {
		if h.Workspace.ID != id {
			if err := st.Erase(ctx, h.Workspace.ID); err != nil {
				return err
			}
		}
	}
	_, err = s.workspaces.Rebuild(ctx)
	return err
}

// relocate notes where the workspace is from now on.
func (s *Attaching) relocate(ctx context.Context, h store.Head, dir string) (retake.Workspace, error) {
	ws := h.Workspace
	if dir != "" {
		ws.Root = dir
	}
	ws.Dev, ws.Ino, ws.Ended = 0, 0, nil
	err := s.workspaces.WithWriter(ctx, ws, func(w store.Writer) error { return w.Amend(ctx, ws, w.Head().Pins) })
	if err == nil {
		err = s.workspaces.Catalog.PutWorkspace(ctx, ws)
	}
	return ws, err
}

// putFiles fetches what the newest checkpoint needs, many packs at a time, while its files are written.
func (s *Attaching) putFiles(ctx context.Context, st store.Store, out *retake.Receipt) error {
	rec, err := st.Record(ctx, out.Workspace.ID, out.Newest.Number)
	if err != nil {
		return err
	}
	fetched := make(chan error, 1)
	go func() { fetched <- s.uploads.opts.Attach.Fetch(ctx, st, rec.Files.Object) }()
	err = s.writeFiles(ctx, out)
	return errors.Join(err, <-fetched)
}

func (s *Attaching) writeFiles(ctx context.Context, out *retake.Receipt) error {
	plan := retake.PlanRequest{Workspace: out.Workspace.ID, Course: retake.CourseRestore, Ref: string(out.Newest.ID)}
	p, err := s.rewinder.PlanRestore(ctx, plan)
	if err != nil {
		return err
	}
	req := retake.ApplyRequest{PlanRequest: plan, Digest: p.Digest}
	for _, o := range p.Obstacles {
		req.Accept = append(req.Accept, o.Class)
	}
	if _, err = s.rewinder.ApplyRestore(ctx, req); err != nil {
		return err
	}
	out.Files, out.Bytes = out.Newest.Files, out.Newest.Bytes
	out.Missing = append(findMissing(s.workspaces.FS, out.Workspace.Root, s.uploads.opts.Machine), leftOut(out.Newest)...)
	return nil
}

// putConversation puts the conversation where its agent looks for it. Without it the files are still here.
func (s *Attaching) putConversation(ctx context.Context, req retake.AttachRequest, out *retake.Receipt) {
	r, err := s.agents.Resume(ctx, retake.ResumeRequest{Workspace: out.Workspace.ID, Ref: string(out.Newest.ID), Dir: req.Dir})
	switch {
	case err == nil:
		out.Conversation, out.Tasks = &r, r.Tasks
	case !retake.IsKind(err, retake.NotFound): // no agent worked there
		out.Missing = append(out.Missing, retake.NotArrived{What: "conversation", Why: retake.AsError(err).Error(), Hint: "read it: retake show latest --conversation"})
	}
}

// leftOut is what the newest checkpoint does not have.
func leftOut(cp retake.Checkpoint) (out []retake.NotArrived) {
	for _, g := range cp.Coverage.Gaps {
		out = append(out, retake.NotArrived{What: g.Path, Why: "not saved there: " + string(g.Reason)})
	}
	for _, p := range cp.Policy.Exclude {
		out = append(out, retake.NotArrived{What: p, Why: "excluded on purpose", Want: true})
	}
	return out
}
