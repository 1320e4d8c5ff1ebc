package tui_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/tui"
)

func fits(t *testing.T, d *tui.Desk, width, height int) {
	t.Helper()
	lines := strings.Split(d.Raw(), "\n")
	if len(lines) != height {
		t.Fatalf("%d lines on a screen of %d\n%s", len(lines), height, d.Screen())
	}
	for _, line := range lines {
		if n := termtext.Width(term.StripANSI(line)); n > width {
			t.Fatalf("%d columns on a screen of %d: %q", n, width, line)
		}
	}
}

// A terminal in which things would lie on each other is told so, and works again when it
// grows.
func TestASmallTerminalIsToldSo(t *testing.T) {
	t.Parallel()
	d := newStage(t).desk(80, 24)
	before := d.Screen()
	for _, size := range [][2]int{{59, 24}, {80, 14}, {10, 3}, {1, 1}} {
		d.Resize(size[0], size[1])
		d.Settle()
		if got := d.Screen(); !strings.HasPrefix(got, "T") {
			t.Fatalf("at %v\n%s", size, got)
		}
		d.Press("r", "enter", "y", "enter") // no key does anything
	}
	d.Resize(80, 24)
	d.Settle()
	if got := d.Screen(); got != before {
		t.Fatalf("afterwards\n%s\nbefore\n%s", got, before)
	}
	d.Resize(40, 10)
	d.Settle()
	if got := strings.Join(strings.Fields(d.Screen()), " "); got != "Too small: 40 × 10. It needs 60 × 15. q leaves." {
		t.Fatalf("%q", got)
	}
	if d.Press("q"); !d.Left {
		t.Fatal("q does not leave")
	}
}
