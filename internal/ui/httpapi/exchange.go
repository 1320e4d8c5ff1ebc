package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/pure/wire"
)

const tarType = wire.TarType

type importQuery struct {
	Name   string `query:"name" doc:"The name of the new workspace. Empty means that the server chooses one."`
	Intent string `query:"intent" doc:"The message of its first checkpoint."`
}

type archivePath struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Ref       string             `path:"ref" doc:"Which checkpoint: a number such as 14, a time such as 10:27 or 2h, latest, start, good, an ID, or a pin."`
}

type applyInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.ApplyBody
}

// registerArchives registers the routes for archives, and the restore in one request.
func (a *api) registerArchives() {
	handleBytes(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/checkpoints/{ref}/archive", "archive", "Export a checkpoint as a tar archive"), tarType, a.openArchive)
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/restore", "apply-restore", "Restore in one request"), a.restoreInOneRequest)
	a.registerImport()
}

// openArchive streams a checkpoint as an archive. It resolves the ref once, so that the whole
// archive is of one checkpoint.
func (a *api) openArchive(ctx context.Context, in *archivePath) (io.ReadCloser, error) {
	cp, err := a.Find(ctx, in.Workspace, in.Ref)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	p := &pipeReader{PipeReader: r, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, err := recoverPanic(a, func() (struct{}, error) {
			return struct{}{}, archive.Write(ctx, a.Service, in.Workspace, string(cp.ID), w)
		})
		_ = w.CloseWithError(err) // never fails
	}()
	return p, nil
}

// pipeReader reads what another goroutine writes.
type pipeReader struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close stops the writer and waits until it has returned.
func (p *pipeReader) Close() error {
	p.cancel()
	err := p.PipeReader.Close()
	<-p.done
	return err
}

// maxDrain limits how much of a refused archive is read and discarded.
const maxDrain = 64 << 20

func (a *api) registerImport() {
	o := withStatusCreated(newOperation(http.MethodPost, "/v1/import", "import", "Import a tar archive"))
	o.RequestBody = binaryBody(tarType, "A tar archive, plain or compressed with gzip or zstd.")
	handleUpload(a, o, func(ctx context.Context, office retake.Office, in *importQuery, body io.Reader) (retake.SaveResult, error) {
		out, err := office.Import(ctx, retake.ImportRequest{Name: in.Name, Intent: in.Intent}, body)
		out.Warnings = nonNil(out.Warnings)
		return out, err
	})
}

func binaryBody(mediaType, description string) *huma.RequestBody {
	return &huma.RequestBody{
		Description: description,
		Required:    true,
		Content:     map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
}

// handleUpload registers a route with a streamed request body. The router's own handling would
// read the whole body into memory.
func handleUpload[I, O any](a *api, o huma.Operation, f func(context.Context, retake.Office, *I, io.Reader) (O, error)) {
	status := max(o.DefaultStatus, http.StatusOK)
	o.Responses = map[string]*huma.Response{strconv.Itoa(status): {
		Description: http.StatusText(status),
		Content:     map[string]*huma.MediaType{jsonType: {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[O](), true, "")}},
	}}
	huma.Register(a.huma, o, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		if a.opts.Office == nil {
			return nil, problemOf(errServerOnly())
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // an upload may take long; handlers in front may limit it
			out, err := recoverPanic(a, func() (O, error) { return f(ctx, a.opts.Office, in, r.Body) })
			if err != nil {
				_, _ = io.CopyN(io.Discard, r.Body, maxDrain) // a client that is still sending would not read the response
				writeProblem(w, r, problemOf(err))
				return
			}
			writeJSON(w, status, jsonType, out)
		}}, nil
	})
}

// obstructedError is a restore that was refused, with the plan that explains why.
type obstructedError struct {
	err  error
	plan retake.Plan
}

func (o *obstructedError) Error() string { return o.err.Error() }
func (o *obstructedError) Unwrap() error { return o.err }

// maxPlanTries limits how often a plan is made because files changed under the one before.
const maxPlanTries = 3

// restoreInOneRequest plans and restores. ApplyRestore decides whether the accepted warnings
// suffice, and returns the earlier result if the ID is known.
func (a *api) restoreInOneRequest(ctx context.Context, in *applyInput, tell func(retake.Progress)) (retake.RestoreResult, error) {
	b := in.Body
	if b.Course == "" {
		b.Course = retake.CourseRestore
	}
	req := retake.PlanRequest{Workspace: in.Workspace, Course: b.Course, Ref: b.Ref, Paths: textsOrRaw(b.Paths, b.PathsRaw), To: b.To, Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session}
	return a.planAndApply(ctx, retake.ApplyRequest{PlanRequest: req, Accept: b.Accept, ID: checkpointIDFor(ctx, b.ID), Progress: tell}, confirmAlways)
}

// confirmation decides about obstacles that the client did not accept.
type confirmation bool

const (
	confirmAlways confirmation = true  // refuse and return the plan
	confirmIfLost confirmation = false // accept those that the safety checkpoint can undo
)

// planAndApply makes a plan and applies it, and tries again if files changed in between.
func (a *api) planAndApply(ctx context.Context, req retake.ApplyRequest, ask confirmation) (retake.RestoreResult, error) {
	ctx, end := a.workContext(ctx)
	defer end()
	said := req.Accept
	for try := 1; ; try++ {
		p, err := a.PlanRestore(ctx, req.PlanRequest)
		if err != nil {
			return retake.RestoreResult{}, err
		}
		req.Digest, req.Accept = p.Digest, slices.Clone(said)
		for i := range p.Obstacles {
			if ask == confirmIfLost && p.Obstacles[i].CanBeTakenBack() {
				req.Accept = append(req.Accept, p.Obstacles[i].Class)
			}
		}
		res, err := a.ApplyRestore(ctx, req)
		if retake.IsKind(err, retake.Moved) && try < maxPlanTries {
			continue
		}
		if retake.IsKind(err, retake.Denied) && !allAccepted(&p, req.Accept) {
			err = &obstructedError{err: err, plan: fillPlan(p)}
		}
		res.Failed, res.Warnings = nonNil(res.Failed), nonNil(res.Warnings)
		return res, err
	}
}

// allAccepted reports whether the client accepted all obstacles of a plan.
func allAccepted(p *retake.Plan, accept []string) bool {
	return !slices.ContainsFunc(p.Obstacles, func(o retake.Obstacle) bool { return !slices.Contains(accept, o.Class) })
}

// obstructedPlan returns the plan of a refused restore, or nil.
func obstructedPlan(err error) *retake.Plan {
	var o *obstructedError
	if errors.As(err, &o) {
		return &o.plan
	}
	return nil
}
