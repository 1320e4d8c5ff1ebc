package client_test

import (
	"context"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

// publicAPI is every method that programs may call. It changes only by additions.
type publicAPI interface {
	retake.Service
	retake.Office
	About(ctx context.Context) (retake.About, error)
	Archive(ctx context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, error)
	OpenPart(ctx context.Context, q client.PartQuery) (io.ReadCloser, retake.Entry, error)
	Restore(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error)
	Spoken(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Spoken, error)
	Follow(ctx context.Context, after int64, f func(retake.Event) error) error
	MakeSnapshot(ctx context.Context, ws retake.WorkspaceID, label string) (client.Snapshot, error)
	Snapshots(ctx context.Context, ws retake.WorkspaceID, cursor string, limit int) ([]client.Snapshot, string, error)
	Snapshot(ctx context.Context, id retake.CheckpointID) (client.Snapshot, error)
	DropSnapshot(ctx context.Context, id retake.CheckpointID, why string) (retake.Deletion, error)
	RestoreSnapshot(ctx context.Context, id retake.CheckpointID, paths, accept []string) (client.Restored, error)
}

var _ publicAPI = (*client.Client)(nil)

// Every public method is in publicAPI, and go doc shows it as a method of Client although some
// belong to embedded types.
func TestPublicAPI(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(set, files, "client")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, typ := range pkg.Types {
		for _, m := range typ.Methods {
			shown[typ.Name+"."+m.Name] = true
		}
	}
	listed := reflect.TypeFor[publicAPI]()
	for m := range reflect.TypeFor[*client.Client]().Methods() {
		if _, ok := listed.MethodByName(m.Name); !ok {
			t.Errorf("%s is not in publicAPI", m.Name)
		}
		if !shown["Client."+m.Name] {
			t.Errorf("go doc does not show %s", m.Name)
		}
	}
}
