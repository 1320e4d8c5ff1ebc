package mcp_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/agents/mcp"
)

// The pages of a file are the file, whatever its lines are.
func TestPagesOfAFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, "%d\t%s\n", i, strings.Repeat("ü", i%40))
	}
	for name, text := range map[string]string{"lines": lines.String(), "one": strings.Repeat("€", 30_000), "empty": "", "end": "no newline"} {
		d.write(name, text)
		got, in := "", args{"ref": "now", "path": name, "limit": 5000}
		for n := 0; ; n++ {
			a := d.ask("show_file", in)
			if a.failed || n > 100 {
				t.Fatalf("%s: %s", name, a.text)
			}
			got += at[string](t, a.data, "text")
			if a.data["next"] == nil {
				break
			}
			in["offset"] = a.data["next"]
		}
		if got != text {
			t.Errorf("%s: %d bytes of %d", name, len(got), len(text))
		}
	}
	if a := d.ask("show_file", args{"ref": "now", "path": "lines", "offset": 1 << 50}); a.failed || at[float64](t, a.data, "bytes") != 0 {
		t.Errorf("behind the end: %s", a.text)
	}
}

func TestWhatIsNoText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = byte(rand.N(256))
	}
	d.write("noise", string(noise))
	d.write("latin", strings.Repeat("caf\xe9 ", 8000))
	must(t, os.Symlink("noise", d.at("link")))
	d.good("checkpoint", args{"intent": "noise"})
	if a := d.ask("show_file", args{"ref": "2", "path": "noise"}); !at[bool](t, a.data, "binary") || a.bytes > 2000 {
		t.Errorf("noise: %d bytes: %s", a.bytes, a.text)
	}
	a := d.ask("show_file", args{"ref": "2", "path": "latin", "limit": 32 << 10})
	if a.failed || a.bytes > 96<<10 || at[bool](t, a.data, "exact") || !strings.HasPrefix(at[string](t, a.data, "text"), `caf\xe9 `) {
		t.Errorf("latin: %d bytes", a.bytes)
	}
	if a := d.ask("show_file", args{"ref": "2", "path": "link"}); at[string](t, a.data, "kind") != "symlink" || at[string](t, a.data, "text") != "noise" {
		t.Errorf("link: %s", a.text)
	}
	for path, why := range map[string]string{"noise": "no text", "latin": ""} {
		df := d.ask("diff", args{"to": "2", "paths": []string{path}})
		if got, _ := df.data["why"].(string); got != why || df.bytes > 100<<10 {
			t.Errorf("%s: %q, %d bytes", path, got, df.bytes)
		}
	}
	d.write("big", strings.Repeat("line\n", 1<<18))
	if df := d.good("diff", args{"paths": []string{"big"}}); !strings.Contains(at[string](t, df, "why"), "up to") {
		t.Errorf("big: %v", df)
	}
}

// A comparison holds both texts, and its hunks are bounded.
func TestLawComparison(t *testing.T) {
	t.Parallel()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n", "f\n", "\n", "a"}), 0, 30), func(l []string) string { return strings.Join(l, "") })
	rapid.Check(t, func(r *rapid.T) {
		a, b := text.Draw(r, "a"), text.Draw(r, "b")
		var before, after strings.Builder
		for _, l := range mcp.Compare(a, b) {
			if l[0] != '+' {
				before.WriteString(l[1:])
			}
			if l[0] != '-' {
				after.WriteString(l[1:])
			}
		}
		if before.String() != a || after.String() != b {
			r.Fatalf("%q and %q became %q and %q", a, b, before.String(), after.String())
		}
		most := rapid.IntRange(0, 200).Draw(r, "most")
		whole, none := mcp.Hunks(a, b, 1<<20)
		part, left := mcp.Hunks(a, b, most)
		if none != 0 || (a == b) != (whole == "") || len(part) > max(most, 0)+40 || changedLines(whole)-changedLines(part) != left {
			r.Fatalf("%d left of %q, %q", left, whole, part)
		}
	})
}

// changedLines counts those that came and went.
func changedLines(hunks string) (n int) {
	for line := range strings.Lines(hunks) {
		if line[0] == '+' || line[0] == '-' {
			n++
		}
	}
	return n
}

// nested is a text in which each line that stands once hides the next one.
func nested(side string) string {
	const deep = 40_000
	lines := []string{side}
	for k := deep; k > 0; k-- {
		lines = append(lines, fmt.Sprint(k), fmt.Sprint(k+1), fmt.Sprint(side, k))
	}
	return strings.Join(lines, "\n")
}

// Texts that are made to take long end soon.
func TestComparisonEndsSoon(t *testing.T) {
	t.Parallel()
	done := make(chan int, 1)
	go func() { done <- len(mcp.Compare(nested("a"), nested("b"))) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it takes too long")
	}
}
