package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mistake in a file of one system is found for that system, and for no other.
func TestFindsMistakesOfASystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.25\n",
		"a.go":         "package m\n\nimport \"os\"\n\nvar A = os.PathSeparator\n",
		"a_darwin.go":  "package m\n\nfunc f() int { return \"no number\" }\n",
		"a_windows.go": "package m\n\nimport \"syscall\"\n\nvar h syscall.Handle\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{"darwin": "a_darwin.go", "windows": "", "linux": ""} {
		n, found, err := check(dir, system, []string{"./..."})
		if err != nil || n != 1 {
			t.Fatalf("%s: %d packages, %v", system, n, err)
		}
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0].Error(), want)) {
			t.Errorf("%s: %v", system, found)
		}
	}
}
