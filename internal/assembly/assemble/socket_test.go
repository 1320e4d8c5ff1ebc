package assemble_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/service/servicetest"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// The same suite with a socket in between: who asks cannot tell.
func TestMemoryOverSocket(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, servicetest.Harness{Copy: copyDir, Again: true, Open: overSocket(memories())})
}

func TestSoloOverSocket(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, servicetest.Harness{Copy: copyDir, Again: true, Open: overSocket(openSolo), Reading: overSocket(soloReading)})
}

// wired is a client whose Close also ends the other side.
type wired struct {
	*client.Client
	end func() error
}

func (w wired) Close() error { return errors.Join(w.Client.Close(), w.end()) }

func overSocket(open func(*testing.T, string) retake.Service) func(*testing.T, string) retake.Service {
	return func(t *testing.T, home string) retake.Service {
		t.Helper()
		inner := open(t, home)
		dir, err := os.MkdirTemp("", "rt") // the path of a socket has 108 bytes at most
		must(t, err)
		socket := filepath.Join(dir, "s")
		l, err := net.Listen("unix", socket)
		must(t, err)
		server := &http.Server{Handler: httpapi.New(inner, httpapi.Options{DetachWork: true})}
		served := make(chan error, 1)
		go func() { served <- server.Serve(l) }()
		return wired{client.New(client.Options{Socket: socket, Version: "test"}), func() error {
			err := server.Shutdown(context.Background())
			if serr := <-served; !errors.Is(serr, http.ErrServerClosed) {
				err = errors.Join(err, serr)
			}
			return errors.Join(err, inner.Close(), os.RemoveAll(dir))
		}}
	}
}

const strange = "n\xff\xfe\n\x1b[31m+&=%2F?#"

// What the service says in one process and what it says over a socket are equal,
// byte by byte, for names that are no text.
func TestSocketKeepsBytes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inner := openSolo(t, home)
	s := overSocket(func(*testing.T, string) retake.Service { return inner })(t, home)
	defer s.Close()
	ctx := t.Context()
	root := filepath.Join(t.TempDir(), "root"+strange)
	must(t, os.MkdirAll(filepath.Join(root, strange), 0o755))
	must(t, os.WriteFile(filepath.Join(root, strange, strange), []byte("text"), 0o644))
	_, err := s.Estimate(ctx, root)
	must(t, err)
	res, err := s.Init(ctx, retake.InitRequest{Dir: root})
	must(t, err)
	if res.Workspace.Root != root || res.Workspace.Name != filepath.Base(root) {
		t.Errorf("init tells of %q, named %q", res.Workspace.Root, res.Workspace.Name)
	}
	ws := res.Workspace.ID
	must(t, os.WriteFile(filepath.Join(root, strange, strange), []byte("other"), 0o644))
	must(t, os.Symlink("\xf0", filepath.Join(root, strange+"2")))
	_, err = s.Save(ctx, retake.SaveRequest{Workspace: ws})
	must(t, err)
	r, e, err := s.Open(ctx, ws, "1", strange+"/"+strange)
	must(t, err)
	text, err := io.ReadAll(r)
	must(t, errors.Join(err, r.Close()))
	if string(text) != "text" || e.Name != strange {
		t.Errorf("%q holds %q", e.Name, text)
	}
	for name, f := range map[string]func(retake.Service) (any, error){
		"estimate": func(s retake.Service) (any, error) {
			e, err := s.Estimate(ctx, root)
			e.Free = 0 // others write to the same disk meanwhile
			return e, err
		},
		"locate":     func(s retake.Service) (any, error) { return s.Locate(ctx, filepath.Join(root, strange)) },
		"workspaces": func(s retake.Service) (any, error) { return s.Workspaces(ctx) },
		"list":       func(s retake.Service) (any, error) { return s.List(ctx, ws, "2", strange) },
		"diff":       func(s retake.Service) (any, error) { return s.Diff(ctx, retake.DiffQuery{Workspace: ws, To: "2"}) },
		"diff part": func(s retake.Service) (any, error) {
			return s.Diff(ctx, retake.DiffQuery{Workspace: ws, To: "2", Limit: 1})
		},
		"diff no part": func(s retake.Service) (any, error) {
			return s.Diff(ctx, retake.DiffQuery{Workspace: ws, To: "2", After: "?"})
		},
		"diff of a path": func(s retake.Service) (any, error) {
			return s.Diff(ctx, retake.DiffQuery{Workspace: ws, To: "2", Paths: []string{"", strange}})
		},
		"log":                func(s retake.Service) (any, error) { return s.Log(ctx, retake.LogQuery{Workspace: ws}) },
		"no such file":       func(s retake.Service) (any, error) { return s.List(ctx, ws, "2", strange+"3") },
		"no such dir":        func(s retake.Service) (any, error) { return s.Locate(ctx, root+"/none") },
		"no such checkpoint": func(s retake.Service) (any, error) { return s.Find(ctx, ws, strange) },
		"no ref":             func(s retake.Service) (any, error) { return s.Find(ctx, ws, "") },
		"taken":              func(s retake.Service) (any, error) { return s.Init(ctx, retake.InitRequest{Dir: root}) },
		"bad pin":            func(s retake.Service) (any, error) { return s.Pin(ctx, ws, "1", "-/\xff") },
		"no dots":            func(s retake.Service) (any, error) { return nil, s.Unpin(ctx, ws, "..") },
		"no pin":             func(s retake.Service) (any, error) { return nil, s.Unpin(ctx, ws, "a/"+strange) },
		"no workspace":       func(s retake.Service) (any, error) { return s.Status(ctx, "..") },
		"no object":          func(s retake.Service) (any, error) { return s.Bytes(ctx, "k/../"+strange) },
	} {
		want, wantErr := f(inner)
		got, gotErr := f(s)
		if d := cmp.Diff(want, got); d != "" && wantErr == nil {
			t.Errorf("%s (-process +socket):\n%s", name, d)
		}
		if d := cmp.Diff(spoken(wantErr), spoken(gotErr)); d != "" {
			t.Errorf("error of %s (-process +socket):\n%s", name, d)
		}
	}
}

// spoken is what a face can say about an error.
func spoken(err error) map[string]string {
	if err == nil {
		return nil
	}
	e := retake.AsError(err)
	out := map[string]string{"kind": string(e.Kind), "what": e.What, "safe": e.Safe, "hint": e.Hint, "all": e.Error()}
	if e.Err != nil {
		out["cause"] = e.Err.Error()
	}
	return out
}

// Progress of an init and of a scrub arrives, and never goes back.
func TestSocketTellsProgress(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range 600 {
		must(t, os.WriteFile(filepath.Join(root, strconv.Itoa(i)), []byte(strconv.Itoa(i)), 0o644))
	}
	s := overSocket(openSolo)(t, t.TempDir())
	defer s.Close()
	var files []int64 // the client tells one after the other
	tell := func(p retake.Progress) { files = append(files, p.Files) }
	_, err := s.Init(t.Context(), retake.InitRequest{Dir: root, Progress: tell})
	must(t, err)
	if len(files) == 0 || files[0] == 0 || !slices.IsSorted(files) {
		t.Errorf("progress of an init: %v", files)
	}
	files = nil
	_, err = s.Scrub(t.Context(), retake.ScrubQuery{Share: 1, Progress: tell})
	must(t, err)
	if len(files) == 0 || !slices.IsSorted(files) {
		t.Errorf("progress of a scrub: %v", files)
	}
}
