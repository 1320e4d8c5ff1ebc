package picture

import (
	"testing"

	"github.com/retake-dev/retake/internal/screen"
)

// What is too long for a row keeps its values, and loses what leads to them.
func TestAPointKeepsItsValues(t *testing.T) {
	const text = "deploy/targets.yaml targets.production.host web1.example.com → oslo.example.com, 1 more key"
	for room, want := range map[int]string{
		100: text,
		85:  "targets.yaml targets.production.host web1.example.com → oslo.example.com, 1 more key",
		65:  "targets.yaml …host web1.example.com → oslo.example.com, 1 more key",
		20:  "targets.yaml …host web1.example.com → oslo.example.com, 1 more key",
	} {
		if got := (Look{Glyphs: screen.Unicode}).squeezed(text, room); got != want {
			t.Errorf("in %d columns: %q", room, got)
		}
	}
	for _, other := range []string{
		"renamed src/a/very/long/name/of/a/file.go → b.go", "my dir/config.json a.b.c 1 → 2",
		"etc/passwd 0644 → 0640", "deploy/cluster.yaml +12 keys", "", "a b c →",
	} {
		if got := (Look{Glyphs: screen.Unicode}).squeezed(other, 10); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}
