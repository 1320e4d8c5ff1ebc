package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The module of the control: one target fails for an input that is not among its seeds, one for a
// seed, and one never.
var controlFiles = map[string]string{
	"go.mod": "module control\n\ngo 1.24\n",
	"sub/control_test.go": `package sub

import "testing"

func FuzzFindsIt(f *testing.F) {
	f.Add([]byte("ab"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != 2 {
			t.Fatal("found")
		}
	})
}

func FuzzSeedFails(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) { t.Fatal("found") })
}

func FuzzPasses(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}
`,
}

// runControl runs targets of which it is known whether they fail. It never touches the repository.
func runControl(ctx context.Context, _ string, _ options) error {
	root, err := os.MkdirTemp("", "retake-fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root) //nolint:errcheck // only left over
	for name, text := range controlFiles {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	all, err := findTargets(root, "")
	if err != nil {
		return err
	}
	if len(all) != 3 {
		return fmt.Errorf("control: %d targets are found, want 3", len(all))
	}
	for _, t := range all {
		r := runTarget(ctx, root, t, 2*time.Second, "")
		if want := t.name != "FuzzPasses"; r.Failed != want {
			return fmt.Errorf("control: %s failed is %v, want %v\n%s", t.name, r.Failed, want, r.Output)
		}
		if t.name == "FuzzPasses" && r.Executions == 0 {
			return fmt.Errorf("control: no executions are counted")
		}
	}
	fmt.Println("control: both targets that fail are noticed, and the one that passes is not")
	return nil
}
