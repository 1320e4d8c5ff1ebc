package session_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/agents/session"
)

var update = flag.Bool("update", false, "write the diagram into the docs")

// The picture in the docs is made of the table that decides.
func TestDiagramIsTheTable(t *testing.T) {
	t.Parallel()
	const path, from, to = "../../../docs/start/agents.md", "<!-- diagram -->\n", "<!-- end -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(b), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the diagram", path)
	}
	want := head + from + "```mermaid\n" + session.Diagram() + "```\n" + to + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(b) != want {
		t.Errorf("%s shows another diagram: go test ./internal/agents/session -run Diagram -update", path)
	}
}
