package service_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func (c *partialCatalog) Bare(ctx context.Context, ws retake.WorkspaceID, v, limit int) ([]retake.Checkpoint, error) {
	defer c.meanwhile()
	return c.Catalog.Bare(ctx, ws, v, limit)
}

func (c *partialCatalog) ByHead(ctx context.Context, ws retake.WorkspaceID, sha string) (retake.Checkpoint, error) {
	defer c.meanwhile()
	return c.Catalog.ByHead(ctx, ws, sha)
}

func (c *partialCatalog) meanwhile() {
	if then := c.r.asked; then != nil {
		c.r.asked = nil
		then(c.Catalog)
	}
}

// A checkpoint that is told while its commit is looked for is found all the same: the told ones
// and the untold ones are two questions, and it must not fall between them.
func TestCommitOfACheckpointToldMeanwhile(t *testing.T) {
	r := newRetentionFixture(t, false)
	r.must(os.MkdirAll(filepath.Join(r.root, ".git"), 0o755))
	r.must(os.WriteFile(filepath.Join(r.root, ".git", "HEAD"), []byte(oneSHA+"\n"), 0o644))
	res, err := r.s.Save(t.Context(), retake.SaveRequest{Workspace: r.ws})
	r.must(err)
	told := false
	r.asked = func(c catalog.Catalog) {
		told = true
		r.must(c.PutNotes(t.Context(), catalog.Notes{Workspace: r.ws, Checkpoint: res.Checkpoint.ID, Gist: retake.Gist{V: 1, Head: oneSHA}}))
	}
	cp, err := r.s.Find(t.Context(), r.ws, "git:"+oneSHA[:8])
	if err != nil || cp.ID != res.Checkpoint.ID || !told {
		t.Errorf("it is %d (%v, told meanwhile: %v), want %d", cp.Number, err, told, res.Checkpoint.Number)
	}
}
