package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/archive"
)

const tarType = "application/x-tar"

type importQuery struct {
	Name   string `query:"name" doc:"Of the new workspace. Empty: made here."`
	Intent string `query:"intent" doc:"Of its first checkpoint."`
}

type archivePath struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Ref       string             `path:"ref" doc:"A number, a time, latest, start, an id, or the name of a pin."`
}

type applyInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      applyBody
}

// applyBody is restoreBody without what only who saw a plan can say.
type applyBody struct {
	Course   retake.Course       `json:"course,omitempty" doc:"restore, undo, redo, adopt, finish or unwind. Empty: restore."`
	Ref      string              `json:"ref,omitempty" doc:"The checkpoint gone to, or the item that undo takes back. Empty: the newest one."`
	Paths    []string            `json:"paths,omitempty" nullable:"false" doc:"Below the root of the workspace. None: everything."`
	PathsRaw [][]byte            `json:"paths_raw,omitempty" nullable:"false" doc:"The bytes of all paths, when one of them is not UTF-8."`
	Git      bool                `json:"git,omitempty" doc:"Also replace repositories that are there."`
	Fork     retake.WorkspaceID  `json:"fork,omitempty" doc:"The fork to adopt."`
	Edits    bool                `json:"edits,omitempty" doc:"With the course undo: discard the unsaved edits instead of the last recorded change."`
	Session  string              `json:"session,omitempty" doc:"With the course undo: take back all turns of this session, named by the beginning of its id, by its agent, or as last."`
	Accept   []string            `json:"accept,omitempty" nullable:"false" doc:"Classes of obstacles that are consented to before they are seen."`
	ID       retake.CheckpointID `json:"id,omitempty" doc:"Of the checkpoint of the restore, made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here."`
}

func (a *api) exchanging() {
	bytesOf(a, op(http.MethodGet, "/v1/workspaces/{ws}/checkpoints/{ref}/archive", "archive", "A checkpoint as a tar archive"), tarType, a.archive)
	progressive(a, op(http.MethodPost, "/v1/workspaces/{ws}/restore", "apply-restore", "Plan and restore in one request; with obstacles, nothing but the plan"), a.apply)
	a.importing()
}

// archive resolves the ref once: all of an archive is of one checkpoint.
func (a *api) archive(ctx context.Context, in *archivePath) (io.ReadCloser, error) {
	cp, err := a.Find(ctx, in.Workspace, in.Ref)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	p := &piped{PipeReader: r, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, err := guarded(a, func() (struct{}, error) {
			return struct{}{}, archive.Write(ctx, a.Service, in.Workspace, string(cp.ID), w)
		})
		_ = w.CloseWithError(err) // never fails
	}()
	return p, nil
}

// piped is what another goroutine writes. It ends with its reader.
type piped struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close waits until nobody writes any more.
func (p *piped) Close() error {
	p.cancel()
	err := p.PipeReader.Close()
	<-p.done
	return err
}

// maxRest bounds what is read of an archive that is refused already.
const maxRest = 64 << 20

// importing adds the one route whose body is a stream: the router would hold it.
func (a *api) importing() {
	o := op(http.MethodPost, "/v1/import", "import", "Make a workspace of an archive, and take its first checkpoint")
	o.RequestBody = &huma.RequestBody{
		Description: "tar, plain or packed by gzip or zstd. One that would write anywhere else is refused whole.",
		Required:    true,
		Content:     map[string]*huma.MediaType{tarType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
	schemas := a.huma.OpenAPI().Components.Schemas
	o.DefaultStatus = http.StatusCreated
	o.Responses = map[string]*huma.Response{"201": {
		Description: http.StatusText(http.StatusCreated),
		Content:     map[string]*huma.MediaType{jsonType: {Schema: schemas.Schema(reflect.TypeFor[retake.SaveResult](), true, "")}},
	}}
	huma.Register(a.huma, o, func(ctx context.Context, in *importQuery) (*huma.StreamResponse, error) {
		if a.o.Office == nil {
			return nil, problemOf(errNoOffice())
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // an archive may be long; who stands before us bounds it
			out, err := guarded(a, func() (retake.SaveResult, error) {
				return a.o.Office.Import(ctx, retake.ImportRequest{Name: in.Name, Intent: in.Intent}, r.Body)
			})
			if err != nil {
				_, _ = io.CopyN(io.Discard, r.Body, maxRest) // who still sends would not hear us
				writeProblem(w, r, problemOf(err))
				return
			}
			out.Warnings = filled(out.Warnings)
			writeJSON(w, http.StatusCreated, jsonType, out)
		}}, nil
	})
}

// obstructed is a restore that was refused, with the plan that says why.
type obstructed struct {
	err  error
	plan retake.Plan
}

func (o *obstructed) Error() string { return o.err.Error() }
func (o *obstructed) Unwrap() error { return o.err }

// maxMoved is how often a plan is made anew when files changed under it.
const maxMoved = 3

// apply plans and restores. Whether the consent is enough is decided where the plan is
// done; an id that is known is answered there too.
func (a *api) apply(ctx context.Context, in *applyInput, tell func(retake.Progress)) (retake.RestoreResult, error) {
	b := in.Body
	if b.Course == "" {
		b.Course = retake.CourseRestore
	}
	req := retake.PlanRequest{Workspace: in.Workspace, Course: b.Course, Ref: b.Ref, Paths: wholes(b.Paths, b.PathsRaw), Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session}
	return a.applied(ctx, retake.ApplyRequest{PlanRequest: req, Accept: b.Accept, ID: checkpoint(ctx, b.ID), Progress: tell}, askFirst)
}

// confirmation is what a restore in one request does about obstacles that nobody accepted.
type confirmation bool

const (
	askFirst  confirmation = true  // refuse, and tell the plan
	askIfLost confirmation = false // the same, but for what the safety checkpoint holds whole
)

func (a *api) applied(ctx context.Context, req retake.ApplyRequest, ask confirmation) (retake.RestoreResult, error) {
	ctx, end := a.carried(ctx)
	defer end()
	said := req.Accept
	for try := 1; ; try++ {
		p, err := a.PlanRestore(ctx, req.PlanRequest)
		if err != nil {
			return retake.RestoreResult{}, err
		}
		req.Digest, req.Accept = p.Digest, slices.Clone(said)
		for i := range p.Obstacles {
			if ask == askIfLost && p.Obstacles[i].CanBeTakenBack() {
				req.Accept = append(req.Accept, p.Obstacles[i].Class)
			}
		}
		res, err := a.ApplyRestore(ctx, req)
		if retake.IsKind(err, retake.Moved) && try < maxMoved {
			continue
		}
		if retake.IsKind(err, retake.Denied) && !consented(&p, req.Accept) {
			err = &obstructed{err: err, plan: filledPlan(p)}
		}
		res.Failed, res.Warnings = filled(res.Failed), filled(res.Warnings)
		return res, err
	}
}

func consented(p *retake.Plan, accept []string) bool {
	return !slices.ContainsFunc(p.Obstacles, func(o retake.Obstacle) bool { return !slices.Contains(accept, o.Class) })
}

// planOf is the plan that a refused restore tells.
func planOf(err error) *retake.Plan {
	var o *obstructed
	if errors.As(err, &o) {
		return &o.plan
	}
	return nil
}
