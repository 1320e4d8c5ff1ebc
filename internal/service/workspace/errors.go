package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

// withLostHint adds to an error that a workspace was lost at this place: its user needs a
// way back and not a new workspace.
func (s *Registry) withLostHint(ctx context.Context, path string, err error) error {
	all, lerr := s.Workspaces(ctx)
	if lerr != nil {
		return err
	}
	if lost, ok := retake.LostAt(all, path); ok {
		e := retake.AsError(err)
		e.Safe = fmt.Sprintf("%s The workspace %s was here, and its %s kept.", e.Safe, lost.Name, checkpointCountText(lost.Count))
		e.Hint = restoreFilesHint(lost.Workspace, all) + "\n" + continueHint(lost.Workspace) + "\n" + listHint(lost.Workspace, all)
	}
	return err
}

// rootGoneError says how to restore a workspace whose directory is gone.
func (s *Registry) rootGoneError(ctx context.Context, ws retake.Workspace) error {
	all, _ := s.Catalog.Workspaces(ctx) // on an error it is named by its ID
	return &retake.Error{
		Kind: retake.NotFound, What: fmt.Sprintf("the directory of %s is gone: %s", ws.Name, ws.Root), Safe: s.keptText(all, ws),
		Hint: restoreFilesHint(ws, all) + "\n" + listHint(ws, all),
	}
}

// rootReplacedError says how to restore a workspace when another directory is in its place.
func (s *Registry) rootReplacedError(ctx context.Context, ws retake.Workspace, root fsx.Dir) error {
	all, _ := s.Catalog.Workspaces(ctx)
	e := &retake.Error{Kind: retake.Moved, What: fmt.Sprintf("another directory is at %s, where %s was", ws.Root, ws.Name), Safe: s.keptText(all, ws)}
	if owner := s.MarkOwner(ctx, root); owner != "" {
		e.What = fmt.Sprintf("%s belongs to the workspace %s now; %s was there before", ws.Root, owner, ws.Name)
		e.Hint = "put its files elsewhere: retake fork latest " + termtext.ShellWord(ws.Root+"-restored") + " --workspace " + ws.NameAmong(all) + "\n" + listHint(ws, all)
		return e
	}
	e.Hint = restoreFilesHint(ws, all) + "\n" + continueHint(ws) + "\n" + listHint(ws, all)
	return e
}

func (s *Registry) keptText(all []retake.WorkspaceState, ws retake.Workspace) string {
	for _, w := range all {
		if w.ID == ws.ID {
			return fmt.Sprintf("%s Its %s kept.", Unchanged, checkpointCountText(w.Count))
		}
	}
	return Unchanged + " Its checkpoints are kept."
}

func checkpointCountText(n int64) string {
	if n == 1 {
		return "checkpoint is"
	}
	return termtext.Count(n) + " checkpoints are"
}

func restoreFilesHint(ws retake.Workspace, all []retake.WorkspaceState) string {
	return "bring its files back: retake restore latest --workspace " + ws.NameAmong(all)
}

func continueHint(ws retake.Workspace) string {
	return "continue its history with the files there: retake init --continue " + termtext.ShellWord(ws.Root)
}

func listHint(ws retake.Workspace, all []retake.WorkspaceState) string {
	return "list its checkpoints: retake log --workspace " + ws.NameAmong(all)
}

// LostWorkspaceError refuses to start a second history where a workspace was lost.
func LostWorkspaceError(w retake.WorkspaceState, all []retake.WorkspaceState) error {
	return &retake.Error{
		Kind: retake.Exists, What: fmt.Sprintf("the workspace %s was here, and its directory was deleted or replaced", w.Name),
		Safe: fmt.Sprintf("%s Its %s kept.", Unchanged, checkpointCountText(w.Count)),
		Hint: restoreFilesHint(w.Workspace, all) + "\n" + continueHint(w.Workspace) + "\nstart a new history: retake init --new " + termtext.ShellWord(w.Root),
	}
}

// ErrOtherInstallation means that a directory carries a mark that this catalog does not know: of
// another user, of a container, or of another RETAKE_HOME.
var ErrOtherInstallation = errors.New("the mark is of another installation")

func otherInstallationError(path string) error {
	return &retake.Error{
		Kind: retake.NotFound, What: fmt.Sprintf("another installation of Retake protects %s, and not this one", path),
		Safe: Unchanged + " If there is no other, its history was deleted: only a copy elsewhere has it.",
		Hint: "protect it here instead: retake init " + termtext.ShellWord(path) + "\nlist workspaces: retake workspaces", Err: ErrOtherInstallation,
	}
}

// LostStoreError says what was lost of the store, and how to begin anew. What is left is kept: it may
// be of use if the rest is found.
func LostStoreError(what, count, data string) *retake.Error {
	dir := termtext.ShellWord(data)
	return &retake.Error{
		Kind: retake.Damaged, What: what, Safe: Unchanged + count + " Put it back from a backup if there is one.",
		Hint: "begin anew, and keep what is left: retake daemon stop && mv " + dir + " " + termtext.ShellWord(data+".lost"),
	}
}

func lostCountText(n int64) string {
	if n == 1 {
		return "1 checkpoint was"
	}
	return termtext.Count(n) + " checkpoints were"
}

// MarkOwner returns the name of the workspace whose marker a directory carries, or "" if
// there is none or it has ended.
func (s *Registry) MarkOwner(ctx context.Context, root fsx.Dir) string {
	id, err := marker.Read(root)
	if err != nil || id == "" {
		return ""
	}
	ws, err := s.LoadWorkspace(ctx, id)
	switch {
	case err != nil:
		return string(id)
	case ws.Ended != nil:
		return ""
	}
	return ws.Name
}

// What an error says about the safety of the user's data.
const (
	Unchanged = "Nothing was changed."
	NotSaved  = "Nothing was saved; earlier checkpoints are intact."
)

// WrapSaveError is WrapError for a save: it says when the disk is full.
func WrapSaveError(err error) error {
	if errors.Is(err, fsx.ErrNoSpace) && !errors.Is(err, store.ErrInDoubt) {
		return WrapError("not saved: the disk is full", NotSaved, err)
	}
	if errors.Is(err, syscall.EROFS) {
		return WrapError("not saved: the disk of the store is read-only", NotSaved, err)
	}
	return WrapError("not saved", NotSaved, err)
}

// WrapError gives an error a kind, a description and a statement of what is safe. An error
// that already has a kind is returned as it is.
func WrapError(what, safe string, err error) error {
	var e *retake.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	out := &retake.Error{Kind: retake.Internal, What: what, Safe: safe, Err: err}
	switch {
	case errors.Is(err, context.Canceled):
		out.Kind = retake.Canceled
	case errors.Is(err, store.ErrInDoubt):
		out.Safe = "It is not certain that this checkpoint was kept; earlier ones are intact."
		out.Hint = "see whether it is there: retake rebuild && retake log"
	case errors.Is(err, store.ErrBusy):
		out.Kind, out.Hint = retake.Busy, "another save or a sweep is running; try again"
	case errors.Is(err, fsx.ErrNoSpace):
		out.Kind, out.Hint = retake.Limit, "free up space: retake space --free"
	case errors.Is(err, syscall.EROFS):
		out.Kind, out.Err, out.Hint = retake.Away, syscall.EROFS, "look at earlier checkpoints meanwhile: retake log"
	case errors.Is(err, store.ErrDamaged):
		out.Kind, out.Hint = retake.Damaged, "find out what can be repaired: retake doctor --repair"
		if safe == NotSaved {
			out.Safe = "Nothing was saved, and nothing was deleted."
		}
	case errors.Is(err, store.ErrNotFound), errors.Is(err, catalog.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		out.Kind = retake.NotFound
	case errors.Is(err, catalog.ErrExists):
		out.Kind = retake.Exists
	case errors.Is(err, fs.ErrPermission):
		out.Kind = retake.Denied
	}
	return out
}
