package install_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/agents/install"
)

func pretty(text string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(compact(text)), "", "\t"); err != nil {
		return err.Error()
	}
	return b.String() + "\n"
}

func compact(text string) string {
	v, err := hujson.Minimize([]byte(text))
	if err != nil {
		return err.Error()
	}
	return string(v)
}

// writer draws documents with every kind of white space and comment between.
type writer struct {
	*rapid.T
	b        strings.Builder
	spaces   []string
	trailing bool
	names    []string
	entry    string
}

func (w *writer) gap() { w.b.WriteString(rapid.SampledFrom(w.spaces).Draw(w.T, "gap")) }

func (w *writer) list(open, end string, n int, item func(i int)) {
	w.b.WriteString(open)
	for i := range n {
		w.gap()
		item(i)
		w.gap()
		if i < n-1 || w.trailing {
			w.b.WriteString(",")
		}
	}
	w.gap()
	w.b.WriteString(end)
}

func (w *writer) key(name string) {
	v, _ := json.Marshal(name)
	w.b.Write(v)
	w.gap()
	w.b.WriteString(":")
	w.gap()
}

func (w *writer) value(depth int) {
	kind := rapid.IntRange(0, 7).Draw(w.T, "kind")
	switch {
	case kind == 0 && depth > 0:
		names := rapid.SliceOfNDistinct(rapid.StringN(0, 6, 12), 0, 3, rapid.ID).Draw(w.T, "keys")
		w.list("{", "}", len(names), func(i int) { w.key(names[i]); w.value(depth - 1) })
	case kind == 1 && depth > 0:
		w.list("[", "]", rapid.IntRange(0, 3).Draw(w.T, "items"), func(int) { w.value(depth - 1) })
	case kind < 4:
		v, _ := json.Marshal(rapid.String().Draw(w.T, "text"))
		w.b.Write(v)
	default:
		w.b.WriteString(rapid.SampledFrom([]string{"null", "true", "false", "0", "-1.50", "1e9", `"//"`, `"/*"`, `"\u0041\""`}).Draw(w.T, "literal"))
	}
}

func (w *writer) hooks() {
	n := rapid.IntRange(0, 3).Draw(w.T, "events")
	w.list("{", "}", n, func(i int) {
		w.key(w.names[i])
		w.list("[", "]", rapid.IntRange(0, 2).Draw(w.T, "entries"), func(int) {
			if rapid.Bool().Draw(w.T, "theirs") {
				w.b.WriteString(w.entry)
			} else {
				w.value(2)
			}
		})
	})
}

func (w *writer) document() string {
	plain := []string{"", "", " ", "\n", "\n  ", "\n\t", "\r\n  ", "\n\n", "  \n"}
	w.spaces = rapid.SampledFrom([][]string{{""}, {" "}, {"\n  "}, {"\r\n\t"}, plain, append(plain, " // c\n", "/* c */", " /* \n */ ", "// \"{\r\n")}).Draw(w.T, "spaces")
	w.trailing = rapid.Bool().Draw(w.T, "trailing")
	if rapid.Bool().Draw(w.T, "mark") {
		w.b.WriteString(byteOrderMark)
	}
	w.gap()
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "hooks", "version", "é\n", "", "model"}), 0, 5, rapid.ID).Draw(w.T, "root")
	w.list("{", "}", len(names), func(i int) {
		w.key(names[i])
		switch names[i] {
		case "hooks":
			w.hooks()
		case "version":
			w.b.WriteString("1")
		default:
			w.value(3)
		}
	})
	w.gap()
	return w.b.String()
}

// For every document: install and remove gives it back, twice is once, and
// nothing of it is lost.
func TestLawOfComingBack(t *testing.T) {
	t.Parallel()
	for _, name := range inJSON {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, names, p := named(t, name), events(t, name), house(t)
			entry := groupEntry
			if flat(name) {
				entry = flatEntry
			}
			rapid.Check(t, func(r *rapid.T) {
				w := &writer{T: r, names: names, entry: entry}
				roundTripAt(r, a, p, w.document())
			})
		})
	}
}

// FuzzComingBack holds the same for bytes that nobody thought of: they are refused
// and stay, or come back.
func FuzzComingBack(f *testing.F) {
	for _, s := range shapes {
		f.Add([]byte(s.of([]string{"Stop", "stop"}, false)))
		f.Add([]byte(s.of([]string{"stop", "Stop"}, true)))
	}
	p := house(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range []string{"claude-code", "cursor"} {
			a := named(t, name)
			file := a.Status(install.User, p).File
			settle(t, file, string(text))
			st := a.Status(install.User, p)
			c, err := a.PlanInstall(install.User, p, install.Options{})
			if err != nil || st.Hooks > 0 {
				continue // refused, or it holds what only we write
			}
			if st.Condition != install.Absent {
				t.Fatalf("%+v", st)
			}
			if err := os.WriteFile(file, c.After, 0o644); err != nil {
				t.Fatal(err)
			}
			if st := a.Status(install.User, p); st.Condition != install.Current || st.Hooks != c.Added {
				t.Fatalf("%+v\n%s", st, c.After)
			}
			back, err := a.PlanRemove(install.User, p)
			if err != nil || back.After == nil || !bytes.Equal(back.After, text) {
				t.Fatalf("%v: %q came back as %q", err, text, back.After)
			}
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
