package risk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// What a call does in the files that it runs; the key of a text is where it is.
func TestFilesThatACallRuns(t *testing.T) {
	t.Parallel()
	const clean = "#!/bin/sh\nrm -rf build\n"
	for _, c := range []struct {
		command string
		files   map[string]string
		want    string // targets
		effects string
	}{
		{"./clean.sh", map[string]string{"clean.sh": clean}, "build", ""},
		{"sh clean.sh", map[string]string{"clean.sh": "rm -rf $1 ../x\n"}, "../x", ""},
		{"bash -x clean.sh ~/a '$b'", map[string]string{"clean.sh": `rm -rf "$1" "$2"`}, "~/a ; $b", ""},
		{"sh all.sh a b", map[string]string{"all.sh": `rm -rf "$@"`}, "a ; b", ""},
		{"~/tools/here.sh", map[string]string{"~/tools/here.sh": `rm -rf "$(dirname "$0")/x"`}, "~/tools/x", ""},
		{"bash ../docs/go.sh", map[string]string{"../docs/go.sh": `rm -rf "$(dirname "$0")/tax"`}, "../docs/tax", ""},
		{"cd ../other && ./clean.sh", map[string]string{"../other/clean.sh": clean}, "../other/build | build", ""},
		{". ./go.sh; rm x", map[string]string{"go.sh": "cd ../other\n"}, "../other/x | x", ""},
		{"./one.sh", map[string]string{"one.sh": "./two.sh\n", "two.sh": "rm a\n"}, "a", ""},
		{"./self.sh", map[string]string{"self.sh": "rm a; ./self.sh\n"}, "a", ""},
		{"./tidy", map[string]string{"tidy": "#!/usr/bin/env python3\nimport os\nos.remove('/srv/a')\n"}, "/srv/a", ""},
		{"python3 tidy.py", map[string]string{"tidy.py": "import shutil\nshutil.rmtree('../x')\n"}, "../x", ""},
		{"node tidy.js --all", map[string]string{"tidy.js": "require('fs').rmSync('../x')"}, "../x", ""},
		{"sqlite3 ../app.db < drop.sql", map[string]string{"drop.sql": "drop table users;"}, "F:../app.db ; F:../app.db-wal", ""},
		{"bash < go.sh", map[string]string{"go.sh": "rm -rf ../x"}, "../x", ""},
		{"wipe-all", map[string]string{"~/bin/wipe-all": "rm -rf ~/x"}, "~/x", ""},
		{"make tidy", map[string]string{"Makefile": "OUT := ../out\nall:\n\trm no\ntidy: more\n\t@rm -rf $(OUT) $(HOME)/y $$x\nmore:\n\trm -f a\n"}, "../out ; ~/y ; ? ; a", ""},
		{"make -C ../lib", map[string]string{"../lib/Makefile": ".PHONY: gone\ngone:\n\trm -rf x\n"}, "../lib/x", ""},
		{"make OUT=/srv/z tidy", map[string]string{"makefile": "OUT = ../out\ntidy:\n\trm -rf ${OUT}\n"}, "/srv/z", ""},
		{"make -n tidy", map[string]string{"Makefile": "tidy:\n\trm -rf x\n"}, "", ""},
		{"npm run tidy", map[string]string{"package.json": `{"scripts":{"pretidy":"rm -f a","tidy":"rm -rf ../b"}}`}, "a ; ../b", ""},
		{"npm test", map[string]string{"package.json": `{"scripts":{"test":"rm -rf cov"}}`}, "cov", ""},
		{"npm install", map[string]string{"package.json": `{"scripts":{"install":"rm -rf cov"}}`}, "", ""},
		{"docker run x ./go.sh", map[string]string{"go.sh": clean}, "", ""},
		{"./send.sh", map[string]string{"send.sh": "set -e\ngit push origin main\n"}, "", "push"},
		{"./send.sh", map[string]string{"send.sh": "case $1 in push) git push origin main;; esac\n"}, "", ""},
		{"./send.sh", map[string]string{"send.sh": "if true; then git push; fi\nrm a"}, "a", ""},
		{"python3 send.py", map[string]string{"send.py": "requests.post('https://api.example.com/x')"}, "", ""},
		{"./program", map[string]string{"program": "\x7fELF\x00rm -rf x\n"}, "", ""},
	} {
		j := risk.Judge(retake.Call{Kind: retake.CallShell, Command: c.command, Files: c.files})
		if got := formatTargets(j); got != c.want && got != strings.ReplaceAll(c.want, "'", "") {
			t.Errorf("%s with %q:\n got %s\nwant %s", c.command, c.files, got, c.want)
		}
		var kinds []string
		for _, e := range j.Effects {
			kinds = append(kinds, e.Kind)
		}
		if got := strings.Join(kinds, " "); got != c.effects {
			t.Errorf("%s with %q: effects %q, want %q", c.command, c.files, got, c.effects)
		}
	}
}

// Files are asked for where they may be, and only those that were not read.
func TestFilesThatAreAskedFor(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"./clean.sh":                 "clean.sh",
		"cd ../a && sh clean.sh":     "../a/clean.sh clean.sh",
		"bash ~/bin/x":               "~/bin/x",
		"python3 a.py b.py":          "a.py",
		"make":                       "GNUmakefile makefile Makefile",
		"npm run x":                  "package.json",
		"mytool --now":               "~/bin/mytool ~/.local/bin/mytool",
		"/usr/bin/env true; rm -f x": "~/bin/true ~/.local/bin/true",
		"ssh host ./clean.sh":        "",
		"docker exec x sh clean.sh":  "",
		"sh \"$x\"":                  "",
		"echo rm >/tmp/a; sh /tmp/a": "",
	} {
		j := risk.Judge(retake.Call{Kind: retake.CallShell, Command: command})
		runs := slices.DeleteFunc(slices.Clone(j.Runs), func(p string) bool { return want != "" && strings.HasPrefix(p, "~/") && !strings.Contains(want, p) })
		if got := strings.Join(runs, " "); got != want && (want != "" || strings.Contains(got, "clean.sh") || strings.Contains(got, "/tmp/a")) {
			t.Errorf("%s asks for %q, want %q", command, got, want)
		}
	}
	j := risk.Judge(retake.Call{Kind: retake.CallShell, Command: "./a.sh", Files: map[string]string{"a.sh": "./b.sh"}})
	if !slices.Equal(j.Runs, []string{"b.sh"}) {
		t.Errorf("asks for %q", j.Runs)
	}
}
