package tui_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/ui/tui"
)

var update = flag.Bool("update", false, "write the screens again")

// screens are the main screens and the keys that lead to them.
var screens = map[string][]string{
	"timeline":   {"j", "j", "j", "j", "j", "j", "j", "j"},
	"left":       {"h", "G", "k", "k", "k", "k", "k", "k", "k", "k"},
	"good":       {"v"},
	"checkpoint": {"j", "j", "j", "j", "j", "j", "j", "j", "enter"},
	"files":      {"j", "j", "j", "j", "j", "j", "j", "j", "enter", "2"},
	"said":       {"j", "j", "j", "j", "j", "j", "j", "j", "enter", "3"},
	"verified":   {"j", "j", "j", "j", "j", "j", "j", "j", "enter", "4"},
	"diff":       {"j", "d"},
	"plan":       {"r"},
	"list":       {"r", "l"},
	"obstacle":   {"r", "enter"},
	"question":   {"r", "enter", "y", "enter", "y", "enter", "y", "enter"},
	"result":     {"r", "enter", "y", "enter", "y", "enter", "y", "enter", "y", "enter"},
	"fork":       {"f"},
	"forked":     {"f", "enter"},
	"find":       {"/", "a", "u", "t", "h"},
	"found":      {"/", "a", "u", "t", "h", "enter"},
	"keys":       {"?"},
	"undo":       {"u"},
	"now":        {"g"},
	"fork-line":  {"j", "j"},
}

var sizes = [][2]int{{80, 24}, {200, 50}}

// The screens are kept as text, to be read by people.
func TestScreens(t *testing.T) {
	t.Parallel()
	for name, keys := range screens {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s.%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				d := newStage(t).desk(size[0], size[1])
				d.Press(keys...)
				golden(t, fmt.Sprintf("%s.%dx%d.txt", name, size[0], size[1]), d.Screen())
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Fatalf("%s is another screen; run with -update if it is meant\ngot\n%s\nwant\n%s", name, got, want)
	}
}

// Colors, and signs that every terminal has, change nothing about where things stand.
func TestColorsAndASCIIKeepTheColumns(t *testing.T) {
	t.Parallel()
	for name, keys := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show := func(color, ascii bool) string {
				s := newStage(t)
				o := s.options()
				o.Color, o.ASCII = color, ascii
				d := tui.NewDesk(t.Context(), o, 80, 24)
				d.Settle()
				d.Press(keys...)
				return d.Screen()
			}
			plain := show(false, false)
			if colored := show(true, false); colored != plain {
				t.Errorf("with colors\n%s\nwithout\n%s", colored, plain)
			}
			for i, r := range show(false, true) {
				if r > '~' && !foreign(show(false, true)[i:]) {
					t.Fatalf("%q in ASCII\n%s", r, show(false, true))
				}
			}
		})
	}
}

// foreign reports whether text begins with a sign that is of the workspace and not ours.
func foreign(s string) bool {
	for _, sign := range []string{"“", "”", "✔", "✘"} { // of an intent, and of what a run printed
		if strings.HasPrefix(s, sign) {
			return true
		}
	}
	return false
}

// Every screen fits its size, whatever the size is.
func TestScreensFit(t *testing.T) {
	t.Parallel()
	for name, keys := range screens {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {119, 30}, {121, 30}, {200, 50}} {
			t.Run(fmt.Sprintf("%s.%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				d := newStage(t).desk(size[0], size[1])
				d.Press(keys...)
				fits(t, d, size[0], size[1])
				d.Resize(60, 15)
				d.Settle()
				fits(t, d, 60, 15)
			})
		}
	}
}
