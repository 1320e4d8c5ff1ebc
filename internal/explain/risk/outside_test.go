package risk_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/retake-dev/retake/internal/explain/risk"
)

// A call that only writes over files outside of the workspace counts once it is known what is outside.
func TestOnlyOutside(t *testing.T) {
	t.Parallel()
	files := []string{"b", "d/", "d/a", "/o/b", "/o/d/", "/o/d/a", "~/b", "../b", "/o/t/", "/o/t/a/", "/o/x", "x"}
	exists := func(p string) bool { return slices.Contains(files, p) }
	inside := func(p string) bool {
		return p == "/w" || strings.HasPrefix(p, "/w/") || !path.IsAbs(p) && p[0] != '~' && p != ".." && !strings.HasPrefix(p, "../")
	}
	for command, want := range map[string]string{
		"cp a b":                             "",
		"cp a d":                             "",
		"cp a /o/b":                          "copies over /o/b: /o/b",
		"cp a /o/new":                        "",
		"cp a /o/d":                          "copies over /o/d: /o/d/a",
		"cp z /o/d":                          "",
		"cp z /o/d/":                         "",
		"cp a z /o/d":                        "copies over /o/d/a: /o/d/a",
		"cp -r a /o/t":                       "copies over /o/t/a: /o/t/a",
		"cp -r z /o/t":                       "",
		"cp -r z/. /o/t":                     "copies over /o/t: /o/t",
		"cp *.txt /o/d":                      "copies over /o/d/*.txt: /o/d/*.txt",
		"cp *.txt d":                         "",
		"cp a $DIR":                          "copies over $DIR: ?",
		"cp a $DIR /o/d":                     "copies over /o/d/a, /o/d: /o/d/a ; /o/d",
		"cp a ~/b":                           "copies over ~/b: ~/b",
		"cd /o && cp a b":                    "copies over b: /o/b",
		"cd $X && cp a b":                    "copies over b: ?",
		"mv a ../b":                          "moves over ../b: ../b",
		"install a /o/b":                     "installs over /o/b: /o/b",
		"sed -i s/a/b/ b":                    "",
		"sed -i s/a/b/ b /o/b":               "edits /o/b: /o/b ; /o/b",
		"curl -o b https://x.example.com":    "",
		"curl -o ~/b https://x.example.com":  "downloads over ~/b: ~/b",
		"wget -O /o/b https://x.example.com": "downloads over /o/b: /o/b",
		"rsync -a s/ /o/t":                   "syncs over /o/t: /o/t",
		"rsync -a s/ /w/t":                   "",
		"cp a /o/b; cp a /o/x":               "copies over /o/b, /o/x: /o/b ; /o/x",
		"cp a /o/b; rm y":                    "deletes y; copies over /o/b: y ; /o/b",
		"echo a > b; cp a new":               "writes over b: b",
		"echo a > /o/new":                    "",
	} {
		j := shell(command)
		before := j.Destructive
		if outside := strings.ContainsAny(command, ">") || strings.Contains(command, "rm "); before != outside {
			t.Errorf("%s: destructive before anything is known: %v", command, before)
		}
		if got := j.WithoutMissing(exists, nil); got.Destructive && !before || got.AllReasons() != "" && !got.Destructive {
			t.Errorf("%s: without knowing what is inside: %+v", command, got)
		}
		got := j.WithoutMissing(exists, inside)
		text := ""
		if got.Destructive {
			text = got.AllReasons() + ": " + strings.NewReplacer("F:", "", "G", "").Replace(formatTargets(got))
		}
		if text != want || got.Destructive != (got.Why != "") || got.Destructive != (got.Rule != "") {
			t.Errorf("%s:\n got %s\nwant %s", command, text, want)
		}
		if all := j.WithoutMissing(func(string) bool { return true }, func(string) bool { return true }); all.Destructive != before && !strings.Contains(command, "$") {
			t.Errorf("%s: inside it is destructive: %+v", command, all)
		}
	}
}

// The functions are not asked for patterns.
func TestWithoutMissingAsksForPaths(t *testing.T) {
	t.Parallel()
	var asked []string
	exists := func(p string) bool { t.Errorf("exists is asked for %q", p); return true }
	inside := func(p string) bool { asked = append(asked, p); return false }
	got := shell(`cp *.txt /o/d; cp *.md 'a[1]/'; cp *.c ~/"x*"/y/; cp * ./`).WithoutMissing(exists, inside)
	if want := []string{"/o/d", "a[1]", "~/x*/y", "."}; !slices.Equal(asked, want) || !got.Destructive {
		t.Errorf("%q, want %q", asked, want)
	}
}

// checkTargets checks what must hold for the targets of every call.
func checkTargets(t *testing.T, j risk.Judgement) {
	t.Helper()
	list, more := j.Targets()
	if len(list) > 64 {
		t.Errorf("%d targets", len(list))
	}
	for _, x := range list {
		if len(x.Name) > 80 || !utf8.ValidString(x.Name) || len(x.Paths) > 16 || x.Glob && len(x.Paths) == 0 || len(x.Paths) == 0 && !more {
			t.Errorf("%+v, more %v", x, more)
		}
		for _, p := range x.Paths {
			if p == "" || strings.ContainsRune(p, 0) || !utf8.ValidString(p) || p[0] == '~' && p != "~" && p[1] != '/' {
				t.Errorf("the path %q", p)
			}
			for e := range strings.SplitSeq(p, "/") {
				if _, err := path.Match(e, "x"); x.Glob && err != nil {
					t.Errorf("the pattern %q: %v", p, err)
				}
			}
		}
	}
	outside, unknown := false, false
	for _, d := range j.Dangers {
		outside = outside || d.OnlyOutside
		unknown = unknown || slices.ContainsFunc(d.Targets, func(t risk.Target) bool { return len(t.Paths) == 0 })
		if len(d.Targets) > 64 {
			t.Errorf("%d targets of %s", len(d.Targets), d.Rule)
		}
	}
	if outside != j.MayDestroyOutside {
		t.Errorf("may destroy outside: %v", j.MayDestroyOutside)
	}
	all := func(string) bool { return true }
	if got := j.WithoutMissing(all, all); unknown {
		return // nobody knows that it is inside
	} else if got.Destructive != j.Destructive || got.AllReasons() != j.AllReasons() {
		t.Errorf("inside: %+v, want %+v", got, j)
	}
}
