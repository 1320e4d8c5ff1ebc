//go:build linux

package g27

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// play is one call of an agent.
type play struct {
	class    string
	text     string // the command
	dir      string // where it runs; "": the workspace
	posix    bool   // sh runs it, not bash
	harmless bool   // it destroys nothing, and nothing is saved for it
	needs    string // a program that it runs

	tool  string // a tool that is no shell: the text is what it does
	input map[string]any
}

func (p *play) where() string {
	if p.dir == "" {
		return projDir
	}
	return p.dir
}

func (p *play) shell() string {
	if p.posix {
		return "sh"
	}
	return "bash"
}

// deed is what really happens after the hook.
func (p *play) deed() string { return p.text }

func (p *play) String() string {
	text := p.text
	if p.tool != "" {
		text = fmt.Sprintf("%s %v, which does: %s", p.tool, p.input, p.text)
	}
	if p.dir != "" {
		text += "  (in " + p.dir + ")"
	}
	return text
}

// missing returns a program that a play needs and that is not installed, or "".
func (p *play) missing() string {
	if p.needs == "" || p.needs == "sudo" {
		return ""
	}
	if _, err := exec.LookPath(p.needs); err != nil {
		return p.needs
	}
	return ""
}

// place is where files are that commands destroy.
type place struct {
	name        string
	file, other string // files
	rest        string // a file that no turn edits: the checkpoint from before the turn has it, as it has before an edit
	dir         string // a directory
	link        string // a symbolic link to the directory of file
}

var places = []place{
	{"docs", "/srv/home/Documents/report.txt", "/srv/home/Documents/notes.md", "/srv/home/Documents/plan.txt", "/srv/home/Documents/tax", "/srv/home/links/docs"},
	{"workspace", "/srv/home/proj/src/app.py", "/srv/home/proj/notes.txt", "/srv/home/proj/docs/a.md", "/srv/home/proj/src", "/srv/home/links/ws/src"},
	{"other", "/srv/home/other/edit.txt", "/srv/home/other/draft.txt", "/srv/home/other/two.txt", "/srv/home/other/lib", "/srv/home/links/other"},
	{"data", "/srv/home/data/values.csv", "/srv/home/data/old.csv", "/srv/home/data/old.csv", "/srv/home/data/raw", "/srv/home/links/data"},
	{"tmp", "/tmp/stuff/a.txt", "/tmp/stuff/b.txt", "/tmp/stuff/b.txt", "/tmp/stuff/dir", "/srv/home/links/tmp"},
	{"home", "/srv/home/todo.txt", "/srv/home/.profile", "/srv/home/.profile", "/srv/home/.config", "/srv/home/links/home"},
}

// spelling writes a path in one of the ways that a shell reads. Before is what has to be run first.
type spelling struct {
	name  string
	write func(path, dir string) (before, word string)
	list  bool // it may be several words: a redirect cannot take it
}

// inHome writes a path below the home directory with something else for it.
func inHome(home, path string) string {
	if rest, ok := strings.CutPrefix(path, homeDir); ok {
		return home + rest
	}
	return path
}

// relative returns a path as seen from a directory.
func relative(path, dir string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return rel
}

// before is the directory of a path, base its name.
func before(path string) string { return filepath.Dir(path) }
func base(path string) string   { return filepath.Base(path) }

func word(write func(path, dir string) string) func(path, dir string) (string, string) {
	return func(path, dir string) (string, string) { return "", write(path, dir) }
}

var spellings = []spelling{
	{"absolute", word(func(p, _ string) string { return p }), false},
	{"single quotes", word(func(p, _ string) string { return "'" + p + "'" }), false},
	{"double quotes", word(func(p, _ string) string { return `"` + p + `"` }), false},
	{"ansi quotes", word(func(p, _ string) string { return "$'" + p + "'" }), false},
	{"tilde", word(func(p, _ string) string { return inHome("~", p) }), false},
	{"$HOME", word(func(p, _ string) string { return inHome("$HOME", p) }), false},
	{`"${HOME}"`, word(func(p, _ string) string { return `"` + inHome("${HOME}", p) + `"` }), false},
	{`"$HOME"/…`, word(func(p, _ string) string { return inHome(`"$HOME"`, p) }), false},
	{"relative", word(relative), false},
	{"relative with ./", word(func(p, dir string) string { return "./" + relative(p, dir) }), false},
	{"dots and slashes", word(func(p, _ string) string { return before(p) + "/.//../" + base(before(p)) + "/./" + base(p) }), false},
	{"$PWD", word(func(p, dir string) string { return `"$PWD/` + relative(p, dir) + `"` }), false},
	{"${PWD%/*}", word(func(p, dir string) string { return `"${PWD%/*}/` + relative(p, before(dir)) + `"` }), false},
	{"~+", word(func(p, dir string) string { return "~+/" + relative(p, dir) }), false},
	{"a variable", func(p, _ string) (string, string) { return "D=" + before(p) + "; ", `"$D/` + base(p) + `"` }, false},
	{"a variable with a tilde", func(p, _ string) (string, string) { return "D=" + inHome("~", before(p)) + "\n", "$D/" + base(p) }, false},
	{"variables of variables", func(p, _ string) (string, string) {
		return `A="$HOME" B=` + base(p) + "; C=" + inHome("$A", before(p)) + "; ", `"${C}/${B}"`
	}, false},
	{"an exported variable", func(p, _ string) (string, string) { return "export T=" + p + " && ", `"$T"` }, false},
	{"a default", word(func(p, _ string) string { return `"${NOT_SET:-` + before(p) + "}/" + base(p) + `"` }), false},
	{"an assigned default", func(p, _ string) (string, string) {
		return ": ${NOT_SET:=" + before(p) + "}; ", `"$NOT_SET/` + base(p) + `"`
	}, false},
	{"a trimmed value", func(p, _ string) (string, string) { return "F=" + p + ".bak; ", `"${F%.bak}"` }, false},
	{"a replaced value", func(p, _ string) (string, string) { return "F=" + before(p) + "/NAME; ", `"${F/NAME/` + base(p) + `}"` }, false},
	{"positional", func(p, _ string) (string, string) { return "set -- one " + p + "; ", `"$2"` }, false},
	{"an array", func(p, _ string) (string, string) { return "A=(" + p + " /nowhere/x); ", `"${A[0]}"` }, false},
	{"indirect", func(p, _ string) (string, string) { return "F=" + p + " N=F; ", `"${!N}"` }, false},
	{"printf -v", func(p, _ string) (string, string) {
		return "printf -v F %s/%s " + before(p) + " " + base(p) + "; ", `"$F"`
	}, false},
	{"read", func(p, _ string) (string, string) { return "read -r F <<< " + p + "; ", `"$F"` }, false},
	{"concatenated quotes", word(func(p, _ string) string { return before(p) + `/"` + base(p)[:2] + `"'` + base(p)[2:] + "'" }), false},
	{"backslashes", word(func(p, _ string) string { return before(p) + `/\` + base(p)[:1] + `\` + base(p)[1:] }), false},
	{"ansi escapes", word(func(p, _ string) string { return fmt.Sprintf(`$'%s/\x%02x%s'`, before(p), base(p)[0], base(p)[1:]) }), false},
	{"octal escapes", word(func(p, _ string) string { return fmt.Sprintf(`$'%s/\%03o%s'`, before(p), base(p)[0], base(p)[1:]) }), false},
	{"after cd", func(p, _ string) (string, string) { return "cd " + before(p) + " && ", "./" + base(p) }, false},
	{"after cd with a tilde", func(p, _ string) (string, string) { return "cd " + inHome("~", before(p)) + "; ", base(p) }, false},
	{"after cd in steps", func(p, _ string) (string, string) { return "cd / && cd " + before(p)[1:] + " && ", base(p) }, false},
	{"after pushd", func(p, _ string) (string, string) { return "pushd " + before(p) + " >/dev/null; ", base(p) }, false},
	{"back to $OLDPWD", func(p, _ string) (string, string) {
		return "cd " + before(p) + "; cd - >/dev/null; ", `"$OLDPWD/` + base(p) + `"`
	}, false},
	{"$(…)", word(func(p, _ string) string { return `"$(echo ` + before(p) + `)/` + base(p) + `"` }), false},
	{"backticks", word(func(p, _ string) string { return "`printf %s " + p + "`" }), false},
	{"$(dirname)", word(func(p, _ string) string { return `"$(dirname ` + before(p) + "/any.txt)/" + base(p) + `"` }), false},
	{"$(realpath)", word(func(p, dir string) string { return `"$(realpath ` + relative(p, dir) + `)"` }), false},
	{"a question mark", word(func(p, _ string) string { return before(p) + "/?" + base(p)[1:] }), false},
	{"a class", word(func(p, _ string) string {
		return before(p) + "/" + base(p)[:1] + "[" + base(p)[1:2] + "x]" + base(p)[2:]
	}), false},
	{"a star", word(func(p, _ string) string { return before(p) + "/" + base(p)[:3] + "*" }), true},
	{"a star in the middle", word(func(p, _ string) string {
		return before(before(p)) + "/" + base(before(p))[:2] + "*" + base(before(p))[len(base(before(p)))-1:] + "/" + base(p)
	}), true},
	{"a quoted star", word(func(p, _ string) string { return `"` + before(p) + `"/` + base(p)[:3] + `*` }), true},
	{"braces", word(func(p, _ string) string { return before(p) + "/{" + base(p) + ",nothing-here}" }), true},
	{"braces of directories", word(func(p, _ string) string {
		return before(before(p)) + "/{" + base(before(p)) + ",nothing-here}/" + base(p)
	}), true},
	{"extended glob", func(p, _ string) (string, string) {
		return "shopt -s extglob\n", before(p) + "/@(" + base(p) + "|nothing)"
	}, true},
}

// bashWords are what sh does not know, or dash reads in another way.
var bashWords = []string{"<<<", "$'", "&>", ">&", "<(", "(/", "{!", "printf -v", "pushd", "shopt", "/NAME/", "~+", ",", "[[", "function ", "source ", "=(", "coproc", "[0]", "|&", "<()", "echo -e", "globstar", "$OLDPWD", "read -", "select ", "time ", "builtin ", "((", "$_", "pipefail"}

// finish lets sh run every third command that it understands.
func finish(all []play) []play {
	for i := range all {
		p := &all[i]
		bash := p.tool != ""
		for _, w := range bashWords {
			bash = bash || strings.Contains(p.text, w)
		}
		if _, to, ok := strings.Cut(p.text, ">"); ok && strings.ContainsAny(to, "?*[") { // dash takes a pattern after > for a name
			bash = true
		}
		p.posix = i%3 == 0 && !bash
	}
	return all
}
