//go:build linux

package cage

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

// hostileFile is one case: a file that is put into a workspace, or a whole tree.
type hostileFile struct {
	name   string
	path   string
	bytes  func() ([]byte, error)
	before func() ([]byte, error) // what it held a checkpoint before; nil: it was not there
	tree   func(dir string) error // instead of bytes
	full   bool                   // only in the full tier
	mutant bool                   // one of very many
	silent bool                   // it may mean nothing to anybody
	small  bool                   // its save is compared with others; told by the bed
}

func (h hostileFile) make() ([]byte, error) {
	if h.tree != nil {
		return nil, nil
	}
	return h.bytes()
}

const (
	cageDeep = 100_000 // levels
	mb       = 1 << 20

	quickCage = 4 // one of so many in the quick tier
)

// hostileFiles are all that were thought of, and then valid ones that were spoiled at
// random until there are enough.
func hostileFiles(r *harness.Run) []hostileFile {
	var all []hostileFile
	for _, some := range [][]hostileFile{hostileYAML(), hostileJSON(), hostileTOML(), hostileLocks(), hostileSystem(), hostileOthers(), hostileDatabases(r)} {
		for _, h := range some {
			if !h.full || r.Tier == "c" {
				all = append(all, h)
			}
		}
	}
	if r.Tier != "c" { // a few of each kind
		few := all[:0]
		for i, h := range all {
			if i%quickCage == 0 {
				few = append(few, h)
			}
		}
		all = few
	}
	return append(all, mutants(r, max(4, r.Figure(20, 2000)-len(all)))...)
}

// text1 is a case of one text.
func text1(s string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(s), nil }
}

// filled repeats a text with a number in it until there are enough bytes.
func filled(most int, head, format, tail string) func() ([]byte, error) {
	return func() ([]byte, error) {
		var b bytes.Buffer
		b.WriteString(head)
		for i := 0; b.Len() < most; i++ {
			if strings.Contains(format, "%") {
				fmt.Fprintf(&b, format, i)
			} else {
				b.WriteString(format)
			}
		}
		b.WriteString(tail)
		return b.Bytes(), nil
	}
}

func layers(open, inner, end string, levels int) func() ([]byte, error) {
	return text1(strings.Repeat(open, levels) + inner + strings.Repeat(end, levels))
}

// aliasBomb is little text that stands for wide to the power of levels.
func aliasBomb(levels, wide int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [lol, lol, lol]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), wide), ", "))
	}
	return b.String()
}

func hostileYAML() []hostileFile {
	const most = mb - 4096
	return []hostileFile{
		{name: "yaml, a bomb of references", path: "config.yaml", bytes: text1(aliasBomb(12, 9))},
		{full: true, name: "yaml, a bomb of merges", path: "config.yaml", bytes: text1("a: &a {x: 1}\n" + strings.ReplaceAll(strings.ReplaceAll(aliasBomb(12, 9), "[lol, lol, lol]", "{k: *a}"), "a", "m"))},
		{name: "yaml, refers to itself", path: "config.yaml", bytes: text1("a: &a\n  b: *a\nc: &c [*c, *c]\n")},
		{name: "yaml, one text a thousand times", path: "config.yaml", bytes: filled(most, "long: &l '"+strings.Repeat("x", 1000)+"'\nall:\n", "  - *l\n", "")},
		{name: "yaml, nested by brackets", path: "config.yaml", bytes: layers("[", "", "]", cageDeep)},
		{full: true, name: "yaml, nested by braces", path: "config.yaml", bytes: layers("{a: ", "1", "}", cageDeep)},
		{name: "yaml, nested by dashes", path: "config.yaml", bytes: text1(strings.Repeat("- ", cageDeep) + "1\n")},
		{name: "yaml, nested by questions", path: "config.yaml", bytes: text1(strings.Repeat("? ", cageDeep) + "1\n")},
		{full: true, name: "yaml, open brackets", path: "config.yaml", bytes: text1(strings.Repeat("[", most))},
		{full: true, name: "yaml, many documents", path: "config.yaml", bytes: filled(most, "", "---\na: %d\n", "")},
		{name: "yaml, many keys", path: "config.yaml", bytes: filled(most, "", "key%d: 1\n", "")},
		{name: "yaml, huge numbers", path: "config.yaml", bytes: text1("a: !!float 1e99999999999\nb: 0x" + strings.Repeat("f", 100_000) + "\nc: !!int '" + strings.Repeat("9", 500_000) + "'\n")},
		{full: true, name: "yaml, tags", path: "config.yaml", bytes: filled(most, "", "k%d: !!binary '////'\n", "z: !!timestamp 99999-99-99\n")},
		{name: "yaml, a quote that never ends", path: "config.yaml", bytes: filled(most, "a: \"", "x\\n", "")},
		{name: "yaml, broken UTF-8", path: "config.yaml", bytes: filled(most, "", "k%d: \xff\xfe\xc3\x28\n", "")},
		{full: true, name: "yaml, comments", path: "config.yaml", bytes: filled(most, "a: 1\n", "# %d\n", "b: 2\n"), silent: true},
		{full: true, name: "yaml, anchors", path: "config.yaml", bytes: filled(most, "", "- &x%d [", "")},
	}
}

func hostileJSON() []hostileFile {
	const most = mb - 4096
	return []hostileFile{
		{name: "json, nested lists", path: "config.json", bytes: layers("[", "1", "]", cageDeep)},
		{name: "json, nested objects", path: "config.json", bytes: layers(`{"a":`, "1", "}", cageDeep)},
		{full: true, name: "json, open lists", path: "config.json", bytes: text1(strings.Repeat("[", most))},
		{name: "json, one line of 50 MB", path: "data.json", bytes: filled(50*mb, `{"a":[`, `{"k":%d},`, `0]}`)},
		{name: "json, one line of nearly 1 MB", path: "config.json", bytes: filled(most, `{"a":[`, `%d,`, `0]}`)},
		{name: "json, huge numbers", path: "config.json", bytes: text1(`{"a":1e999999999,"b":-1e-999999999,"c":` + strings.Repeat("9", 900_000) + `}`)},
		{name: "json, broken UTF-8", path: "config.json", bytes: filled(most, `{"a":"`, "\xff\xfe\xed\xa0\x80", `"}`)},
		{full: true, name: "json, escapes", path: "config.json", bytes: filled(most, `{"a":"`, `\ud800\u0000\u001b`, `"}`)},
		{full: true, name: "json, one key for ever", path: "config.json", bytes: filled(most, `{"a":0`, `,"a":%d`, `}`)},
		{name: "json, comments in comments", path: "config.jsonc", bytes: filled(most, "{", "/*/*//", "")},
		{full: true, name: "json, bytes of nothing", path: "config.json", bytes: func() ([]byte, error) { return make([]byte, most), nil }},
		{full: true, name: "json, a name of 900 kB", path: "config.json", bytes: text1(`{"` + strings.Repeat("n", 900_000) + `":1}`)},
		{full: true, name: "package.json, nested", path: "package.json", bytes: layers(`{"dependencies":`, `{"a":"1"}`, "}", cageDeep)},
		{name: "package.json, very many wishes", path: "package.json", bytes: filled(most, `{"dependencies":{"z":"1"`, `,"p%d":"^1"`, `}}`), silent: true},
		{name: "json, spoiled after it was good", path: "config.json", before: text1(`{"a":1}`), bytes: layers("[", "1", "]", cageDeep)},
	}
}

func hostileTOML() []hostileFile {
	const most = mb - 4096
	return []hostileFile{
		{name: "toml, nested lists", path: "config.toml", bytes: text1("a = " + strings.Repeat("[", cageDeep) + strings.Repeat("]", cageDeep) + "\n")},
		{name: "toml, nested tables", path: "config.toml", bytes: text1("a = " + strings.Repeat("{a=", cageDeep) + "1" + strings.Repeat("}", cageDeep) + "\n")},
		{name: "toml, a key of very many parts", path: "config.toml", bytes: text1(strings.Repeat("a.", cageDeep) + "a = 1\n")},
		{full: true, name: "toml, a table of very many parts", path: "config.toml", bytes: text1("[" + strings.Repeat("a.", cageDeep) + "a]\nb=1\n")},
		{name: "toml, very many tables", path: "config.toml", bytes: filled(most, "", "[[a.b]]\nc=%d\n", "")},
		{name: "toml, huge numbers", path: "config.toml", bytes: text1("a = " + strings.Repeat("9", 500_000) + "\nb = 1e999999999\nc = 9999-99-99T99:99:99Z\n")},
		{full: true, name: "toml, a quote that never ends", path: "config.toml", bytes: filled(most, `a = """`, "\\\n", "")},
		{full: true, name: "toml, broken UTF-8", path: "config.toml", bytes: filled(most, "", "k%d = \"\xff\xfe\"\n", "")},
	}
}

func hostileLocks() []hostileFile {
	const most = 16*mb - 4096
	return []hostileFile{
		{name: "package-lock.json, a million packages", path: "package-lock.json", bytes: filled(45*mb, `{"lockfileVersion":3,"packages":{"":{}`, `,"node_modules/p%d":{"version":"1.0.0"}`, `}}`)},
		{name: "package-lock.json, nearly 16 MB", path: "package-lock.json", bytes: filled(most, `{"lockfileVersion":3,"packages":{"":{}`, `,"node_modules/p%d":{"version":"1.0.0"}`, `}}`)},
		{name: "package-lock.json, packages in packages", path: "package-lock.json", bytes: layers(`{"dependencies":{"a":{"version":"1","dependencies":`, "{}", "}}}", cageDeep)},
		{full: true, name: "npm-shrinkwrap.json, garbage", path: "npm-shrinkwrap.json", bytes: filled(mb, "", "\x00\xff{", "")},
		{name: "yarn.lock, nearly 16 MB", path: "yarn.lock", bytes: filled(most, "", "p%d@^1:\n  version \"1.0.0\"\n\n", "")},
		{full: true, name: "yarn.lock, one line", path: "yarn.lock", bytes: filled(most, "", "@", ""), silent: true},
		{full: true, name: "pnpm-lock.yaml, nearly 16 MB", path: "pnpm-lock.yaml", bytes: filled(most, "lockfileVersion: '9.0'\npackages:\n", "  p%d@1.0.0:\n    os: [x]\n", "")},
		{full: true, name: "bun.lock, nested", path: "bun.lock", bytes: layers(`{"packages":`, "{}", "}", cageDeep)},
		{name: "Cargo.lock, garbage", path: "Cargo.lock", bytes: filled(mb, "[[package]]\n", "\xff=\x00[[", "")},
		{name: "Cargo.lock, nearly 16 MB", path: "Cargo.lock", bytes: filled(most, "", "[[package]]\nname = \"p%d\"\nversion = \"1\"\nsource = \"r\"\n", "")},
		{name: "poetry.lock, nested", path: "poetry.lock", bytes: text1("[[package]]\nname=\"a\"\nversion=\"1\"\nsource = " + strings.Repeat("[", cageDeep) + "\n")},
		{full: true, name: "Pipfile.lock, nested", path: "Pipfile.lock", bytes: layers(`{"default":`, "{}", "}", cageDeep)},
		{name: "composer.lock, nearly 16 MB", path: "composer.lock", bytes: filled(most, `{"packages":[`, `{"name":"a/p%d","version":"1"},`, `{"name":"z","version":"1"}]}`)},
		{full: true, name: "Gemfile.lock, nearly 16 MB", path: "Gemfile.lock", bytes: filled(most, "GEM\n  specs:\n", "    g%d (1.0)\n", "")},
		{name: "go.mod, very many", path: "go.mod", bytes: filled(mb-4096, "module x\n\nrequire (\n", "\texample.com/m%d v1.0.0\n", ")\n")},
		{full: true, name: "go.mod, open brackets", path: "go.mod", bytes: filled(mb-4096, "module x\n", "require (\n", "")},
		{name: "pom.xml, entities", path: "pom.xml", bytes: text1(`<?xml version="1.0"?><!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><project><version>&c;</version></project>`)},
		{full: true, name: "pom.xml, nested", path: "pom.xml", bytes: layers("<a>", "x", "</a>", cageDeep), silent: true},
		{full: true, name: "requirements.txt, one line", path: "requirements.txt", bytes: filled(mb-4096, "a", "[", ""), silent: true},
	}
}

func hostileSystem() []hostileFile {
	return []hostileFile{
		{name: "dpkg, a status of 60 MB", path: "var/lib/dpkg/status", bytes: filled(60*mb, "", "Package: p%d\nStatus: install ok installed\nVersion: 1\n\n", "")},
		{full: true, name: "dpkg, one line of 60 MB", path: "var/lib/dpkg/status", bytes: filled(60*mb, "Package: a\nVersion: 1\nDescription: ", "long words ", "\n\n")},
		{name: "apk, 60 MB", path: "lib/apk/db/installed", bytes: filled(60*mb, "", "P:p%d\nV:1\n\n", "")},
		{name: "rpm, an old form", path: "var/lib/rpm/Packages", bytes: filled(mb, "", "\x00\x06\x15\x61", "")},
		{name: ".env, very many keys", path: ".env", bytes: filled(mb-4096, "", "K%d=v\n", "")},
		{name: ".env, quotes that never end", path: ".env", bytes: filled(mb-4096, "", "K%d='`\"\n", "")},
		{name: "a unit of endless lines", path: "deploy/app.service", bytes: filled(mb-4096, "[Service]\nExecStart=", "\\\n", "")},
		{name: "a crontab of one line", path: "etc/cron.d/job", bytes: filled(mb-4096, "* * * * * root ", "true; ", "\n")},
		{full: true, name: "METADATA without end", path: ".venv/lib/python3.11/site-packages/a-1.dist-info/METADATA", bytes: filled(mb-4096, "", "Name: a%d\nVersion: 1\n", "")},
		{name: "likely secrets", path: "notes.txt", bytes: filled(mb-4096, "", "password=hunter2hunter%d AKIAIOSFODNN7EXAMPLE eyJhbGciOi -----BEGIN RSA PRIVATE KEY----- ", ""), silent: true},
		{full: true, name: "text that patterns stumble over", path: "notes.txt", bytes: filled(mb-4096, "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=", ""), silent: true},
	}
}

// hostileOthers are for those who tell a story without any reader.
func hostileOthers() []hostileFile {
	return []hostileFile{
		{name: "git, a head that leads out", path: ".git/HEAD", bytes: text1("ref: ../../../../../../etc/passwd\n"), silent: true},
		{name: "git, packed refs of 60 MB", path: ".git/packed-refs", bytes: filled(60*mb, "", "0123456789abcdef0123456789abcdef01234567 refs/heads/b%d\n", ""), silent: true},
		{name: "source, every line is another one", path: "src/a.go", before: filled(mb-4096, "", "a%d\n", ""), bytes: filled(mb-4096, "", "%d b\n", ""), silent: true},
		{full: true, name: "source, lines out of order", path: "src/a.go", before: filled(mb-4096, "", "a\nb\n", ""), bytes: filled(mb-4096, "", "b\na\nc\n", ""), silent: true},
		{name: "source, one line of 60 MB", path: "src/a.js", bytes: filled(60*mb, "", "x=%d;", ""), silent: true},
		{name: "an archive that grows by a thousand", path: "a.zip", bytes: zipBomb, silent: true},
		{full: true, name: "a package that grows by a thousand", path: "a-1-py3-none-any.whl", bytes: zipBomb, silent: true},
		{full: true, name: "gzip that grows by a thousand", path: "a.tar.gz", bytes: gzipBomb, silent: true},
		{name: "two thousand files with nothing to tell", tree: crowdOf(2000), silent: true},
	}
}

const bombSize = 256 * mb

func zipBomb() ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a-1.dist-info/METADATA")
	if err == nil {
		_, err = io.CopyN(w, zeroes{}, bombSize)
	}
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

func gzipBomb() ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.CopyN(z, zeroes{}, bombSize)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// crowdOf makes many small settings in one checkpoint: each of them is read.
func crowdOf(n int) func(string) error {
	return func(dir string) error {
		for i := range n {
			path := filepath.Join(dir, fmt.Sprintf("d%d", i%50), fmt.Sprintf("c%d.json", i))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, fmt.Appendf(nil, `{"n":%d}`, i), 0o644)); err != nil {
				return err
			}
		}
		return nil
	}
}
