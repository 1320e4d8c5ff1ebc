package script_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// json PATH VALUE looks into the JSON of the last stdout: fields and indexes by
// dots, len for the number of elements. A value that is not text is compared as
// JSON; "absent" wants no such field.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("use: json PATH VALUE")
	}
	var root any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	ts.Check(dec.Decode(&root))
	if dec.More() {
		ts.Fatalf("stdout holds more than one JSON value")
	}
	got := "absent"
	if v, ok := dig(root, strings.Split(args[0], ".")); ok {
		got = asText(ts, v)
	}
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

func asText(ts *testscript.TestScript, v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	ts.Check(err)
	return string(b)
}

func dig(v any, path []string) (any, bool) {
	for _, p := range path {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[p]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			if p == "len" {
				return json.Number(strconv.Itoa(len(x))), true
			}
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// hostile DIR fills a directory with names that a terminal would obey, and one
// that is not UTF-8.
func makeHostile(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	for _, name := range []string{"new\nline", "esc\x1b[2J", "bad\xff", "turn\u202eme", `back\nslash`} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
	}
}

// sizeToDamage keeps to files whose middle is sure to be stored bytes.
const sizeToDamage = 100_000

// damage DIR PREFIX turns a byte in the middle of every large file below DIR
// whose name begins with PREFIX, and wants at least one.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	n := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), args[1]) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) < sizeToDamage {
			return err
		}
		b[len(b)/2] ^= 0xff
		n++
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o600)
	}))
	if n == 0 {
		ts.Fatalf("no large file begins with %s", args[1])
	}
}
