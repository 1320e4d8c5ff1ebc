package fsx_test

import (
	"io"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// testFS is a file system and an empty directory on it, with the means to make
// there what the interface itself cannot make.
type testFS struct {
	fs      fsx.FS
	root    string
	symlink func(target, name string) error
	mkfifo  func(name string) error
	mksock  func(name string) error
	link    func(name, newName string) error
	sparse  func(name string, data []byte, holes []fsx.Hole) error
	xattr   func(name, attr string, value []byte) error // nil: cannot tell
	holes   bool
}

func (p testFS) open(t *testing.T) fsx.Dir {
	t.Helper()
	d, err := p.fs.OpenRoot(p.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func memoryTestFS(t *testing.T) testFS {
	t.Helper()
	m := fsxtest.NewMemory()
	const root = "/w"
	must(t, m.MkdirAll(root, 0o755, fsxtest.Synced))
	at := func(name string) string { return root + "/" + name }
	return testFS{
		fs: m, root: root, holes: true,
		symlink: func(target, name string) error { return m.Symlink(target, at(name)) },
		mkfifo:  func(name string) error { return m.Mkfifo(at(name), 0o600) },
		mksock:  func(name string) error { return m.Mksock(at(name), 0o600) },
		link:    func(name, newName string) error { return m.Link(at(name), at(newName)) },
		xattr: func(name, attr string, value []byte) error {
			return m.SetXattr(at(name), attr, value)
		},
		sparse: func(name string, data []byte, holes []fsx.Hole) error {
			return m.WriteSparse(at(name), data, holes, 0o600)
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, d fsx.Dir, name, data string) {
	t.Helper()
	f, err := d.Create(name, 0o600)
	must(t, err)
	n, err := f.Write([]byte(data))
	must(t, err)
	if n != len(data) {
		t.Fatalf("wrote %d bytes of %d", n, len(data))
	}
	must(t, f.Close())
}

func readFile(t *testing.T, d fsx.Dir, name string) string {
	t.Helper()
	f, err := d.OpenFile(name)
	must(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	must(t, err)
	return string(data)
}
