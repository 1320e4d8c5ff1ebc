package xray_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/explain/xray"
)

// bombs are small files that stand for a lot, or go deep. Each must end with its reason.
func bombs() map[string]struct{ reader, text, why string } {
	deep := 100_000
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 20 {
		fmt.Fprintf(&laughs, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i, i, i, i, i, i)
	}
	hollow := strings.ReplaceAll(laughs.String(), "[x, x, x, x, x, x, x, x, x]", "[{}, {}, {}, {}, {}, {}, {}, {}, {}]")
	var keys strings.Builder
	for i := range 2001 {
		fmt.Fprintf(&keys, "k%d = 1\n", i)
	}
	return map[string]struct{ reader, text, why string }{
		"yaml laughs":        {"yaml@2", laughs.String(), "more than 2,000 keys"},
		"yaml empty laughs":  {"yaml@2", hollow, "more than 2,000 keys"},
		"yaml of itself":     {"yaml@2", "a: &a\n  b: *a\n", "nested too deep"},
		"yaml merges itself": {"yaml@2", "a: &a\n  <<: *a\n  b: 1\n", "more than 2,000 keys"},
		"yaml brackets":      {"yaml@2", strings.Repeat("[", deep), "nested too deep"},
		"yaml dashes":        {"yaml@2", strings.Repeat("- ", deep) + "x", "is not YAML"},
		"yaml template":      {"yaml@2", "a: {{ .Values.x }}\nb: {{- if }}\n", "is not YAML"},
		"json brackets":      {"json@2", strings.Repeat("[", deep) + strings.Repeat("]", deep), "nested too deep"},
		"json objects":       {"json@2", strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep), "nested too deep"},
		"json open":          {"json@2", strings.Repeat(`{"a":`, 50), "is not JSON"},
		"json keys":          {"json@2", "[" + strings.Repeat("1,", 2000) + "1]", "more than 2,000 keys"},
		"json twice":         {"json@2", "{}{}", "is not JSON"},
		"json comment":       {"json@2", "/* never ends", "is not JSON"},
		"toml arrays":        {"toml@2", "a = " + strings.Repeat("[", deep) + strings.Repeat("]", deep), "nested too deep"},
		"toml tables":        {"toml@2", "a = " + strings.Repeat("{a=", deep), "nested too deep"},
		"toml dots":          {"toml@2", "[" + strings.Repeat("a.", 400_000) + "a]\nb = 1\n", "nested too deep"},
		"toml keys":          {"toml@2", keys.String(), "more than 2,000 keys"},
		"toml text":          {"toml@2", "a = \"", "is not TOML"},
		"cargo arrays":       {"cargo-lock@1", "a = " + strings.Repeat("[", deep), "nested too deep"},
		"npm lock depth":     {"npm-lock@1", strings.Repeat(`{"dependencies":{"a":`, deep), "is not a lock file of npm"},
		"npm package":        {"npm-installed@1", "[]", "is not JSON"},
		"npm package types":  {"npm-installed@1", `{"name":{},"version":[1]}`, ""},
		"pom depth":          {"maven-pom@1", strings.Repeat("<a>", deep), "is not a pom.xml"},
		"pom entities":       {"maven-pom@1", `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><project><version>&b;</version></project>`, "is not a pom.xml"},
		"go.mod noise":       {"go-mod@1", "module \"\nrequire (((", "is not a go.mod"},
		"env quote":          {"env@1", "A=\"" + strings.Repeat("x\n", deep), ""},
		"huge number":        {"json@2", `{"a":` + strings.Repeat("9", deep) + `}`, ""},
		"huge yaml number":   {"yaml@2", "a: " + strings.Repeat("9", deep) + "\nb: .inf\nc: 1e999999999\n", ""},
		"huge toml number":   {"toml@2", "a = " + strings.Repeat("9", deep) + "\n", "is not TOML"},
		"no such reader":     {"none@1", "", "there is no such reader"},
		"by entry alone":     {"mode@1", "x", "there is no such reader"},
		"too large":          {"json@2", strings.Repeat(" ", 1<<20+1), "too large (2 MB)"},
	}
}

func TestBombsEndWithTheirReason(t *testing.T) {
	t.Parallel()
	for name, b := range bombs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := xray.ReadBytes(b.reader, []byte(b.text), nil)
			if r.Why != b.why {
				t.Errorf("%q, want %q (%d traits)", r.Why, b.why, len(r.Traits))
			}
			for _, trait := range r.Traits {
				if len(trait.Name) > 1<<10 || len(trait.Value) > 1<<10 {
					t.Errorf("a trait is long: %d, %d", len(trait.Name), len(trait.Value))
				}
			}
		})
	}
}

// try gives bytes to a reader: it must end, bounded, and never break.
func try(t *testing.T, name string, data, log []byte) {
	t.Helper()
	r := xray.ReadBytes(name, bytes.Clone(data), log)
	if r.Why == "the reader broke off" {
		t.Errorf("%s: %s", name, r.Why)
	}
	for _, trait := range r.Traits {
		if len(trait.Name) > 1<<10 || len(trait.Value) > 2<<10 {
			t.Errorf("%s: a trait is long", name)
		}
	}
}

func FuzzReaders(f *testing.F) {
	names := xray.Names()
	of := map[string]uint8{}
	for i, name := range names {
		of[name] = uint8(i)
		f.Add(uint8(i), []byte(name))
	}
	for _, s := range samples {
		for _, name := range xray.ReadersFor(s.path, file(1)) {
			f.Add(of[name], []byte(s.text))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) { try(t, names[int(which)%len(names)], data, nil) })
}

func FuzzSettings(f *testing.F) {
	for _, b := range bombs() {
		if len(b.text) < 4<<10 {
			f.Add([]byte(b.text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"json@2", "yaml@2", "toml@2", "npm-project@2", "python-project@2", "cargo-project@2", "env@1"} {
			try(t, name, data, nil)
		}
	})
}

func FuzzSQLite(f *testing.F) {
	data, log := database(f, "PRAGMA page_size=512", "PRAGMA journal_mode=WAL", "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)", "CREATE INDEX i ON t(x)", "INSERT INTO t(x) VALUES ('a'), ('b')")
	f.Add(data, log)
	rpm, _ := database(f, "PRAGMA page_size=512", "CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB)",
		fmt.Sprintf("INSERT INTO Packages(blob) VALUES (x'%x')", rpmHead(map[uint32]string{1000: "bash", 1001: "5", 1002: "1"})))
	f.Add(rpm, []byte{})
	f.Fuzz(func(t *testing.T, data, log []byte) {
		try(t, "sqlite@1", data, log)
		try(t, "rpm@1", data, nil)
		for _, got := range []xray.RowsResult{xray.CompareBytes(data, rpm, xray.RowsRequest{Table: "t", Limit: 9}), xray.CompareBytes(rpm, data, xray.RowsRequest{})} {
			if got.Why == "the reader broke off" {
				t.Error(got.Why)
			}
		}
	})
}

// FuzzServe says anything to a child: it must answer or end, and never break.
func FuzzServe(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01k\x00\x00\x00\x05env@1\x00\x00\x00\x03A=1\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01x\xff\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x06rows@1\x00\x00\x00\x16{\"There\":[true,false]}\x00\x00\x00\x03abc\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = xray.Serve(bytes.NewReader(data), io.Discard) })
}
