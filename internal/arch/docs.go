package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// topDirs are where paths of this repository begin; a document that names one
// is held to it, also after the directory is gone.
var topDirs = []string{".ci", "bench", "changelog", "client", "cmd", "console", "deploy", "docs", "internal", "plugin", "sdk", "test"}

// builtinFlags come with the command-line library.
var builtinFlags = []string{"help", "version"}

const (
	cliDir         = "internal/ui/cli"
	invariantsFile = "docs/internals/invariants.md"
)

var (
	span      = regexp.MustCompile("`([^`]+)`")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	flag      = regexp.MustCompile(`^--([a-z][a-z0-9-]*)`)
	function  = regexp.MustCompile("`([A-Za-z0-9_./-]+\\.go)`: `([A-Za-z0-9_]+)`")
	testName  = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]*)(?:/[^`]*)?`")
	invariant = regexp.MustCompile(`^(?:[-*|]\s*|#+\s*)?(?:\*\*)?([A-Z]{1,2}[0-9]+)\b`)
	flagMaker = regexp.MustCompile(`^(?:Bool|String|Strings|StringSlice|StringArray|StringToString|Int|Int32|Int64|Uint|Uint32|Uint64|Float32|Float64|Duration|Count|Bytes)?(?:Var)?P?F?$`)
)

// function checks that a file has the function that a page names beside it.
func (d *docs) function(name string, line int, file, fn string) {
	src, err := fs.ReadFile(d.tree, file)
	if err != nil {
		return // the path itself is complained about
	}
	if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + fn + `[\[(]`).Match(src) {
		d.complain(name, line, "%s has no function %s", file, fn)
	}
}

// CheckDocs holds the documents against the tree: paths and links exist, flags
// of the command line exist, every invariant names a test that exists. Pending
// files may be named before they are written.
func CheckDocs(tree fs.FS, pending []string) ([]Complaint, error) {
	flags, err := cliFlags(tree)
	if err != nil {
		return nil, err
	}
	d := &docs{tree: tree, pending: pending, flags: flags}
	err = walk(tree, ".md", func(name string, src []byte) error {
		d.page(name, strings.Split(string(src), "\n"))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := d.invariants(); err != nil {
		return nil, err
	}
	return d.found, nil
}

type docs struct {
	tree    fs.FS
	pending []string
	flags   []string // nil when there is no command line yet
	found   []Complaint
}

func (d *docs) complain(name string, line int, format string, args ...any) {
	d.found = append(d.found, Complaint{File: name, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (d *docs) page(name string, lines []string) {
	fenced := false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			d.command(name, i+1, line)
			continue
		}
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			d.command(name, i+1, m[1])
			d.token(name, i+1, m[1])
		}
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			d.link(name, i+1, m[1])
		}
		for _, m := range function.FindAllStringSubmatch(line, -1) {
			d.function(name, i+1, m[1], m[2])
		}
	}
}

// command checks the flags of a span or line that is a flag or a call of ours.
func (d *docs) command(name string, line int, text string) {
	words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(text), "$ "))
	if len(words) == 0 || words[0] != "retake" && (len(words) > 1 || !strings.HasPrefix(words[0], "--")) {
		return
	}
	for _, w := range words {
		if w == "--" || w == "|" || w == "&&" || w == "#" || w == ";" {
			return // what follows belongs to somebody else
		}
		m := flag.FindStringSubmatch(strings.TrimLeft(w, "[("))
		if m != nil && d.flags != nil && !slices.Contains(d.flags, m[1]) {
			d.complain(name, line, "--%s is no flag of the command line", m[1])
		}
	}
}

// token checks a span that looks like a path of this repository.
func (d *docs) token(name string, line int, text string) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/...")
	if strings.ContainsAny(text, " *?{}<>[]()$=:…") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") {
		return
	}
	top, _, below := strings.Cut(text, "/")
	ending := path.Ext(text)
	looksIt := below && slices.Contains(topDirs, top) || ending == ".md" || ending == ".go"
	if looksIt && !d.exists(text) && !d.exists(path.Join(path.Dir(name), text)) {
		d.complain(name, line, "%s does not exist", text)
	}
}

func (d *docs) link(name string, line int, target string) {
	target, _, _ = strings.Cut(target, "#")
	if target == "" || strings.Contains(target, ":") {
		return // a place on the same page, or outside
	}
	if !d.exists(path.Join(path.Dir(name), target)) {
		d.complain(name, line, "link to %s: it does not exist", target)
	}
}

func (d *docs) exists(name string) bool {
	name = path.Clean(name)
	if slices.Contains(d.pending, name) {
		return true
	}
	_, err := fs.Stat(d.tree, name)
	return err == nil
}

// invariants checks that each one names a test, and that the tests exist. An
// invariant is a line that begins with its number, and all up to the next one.
func (d *docs) invariants() error {
	src, err := fs.ReadFile(d.tree, invariantsFile)
	if err != nil {
		return nil // not written yet
	}
	tests, err := testFuncs(d.tree)
	if err != nil {
		return err
	}
	open, at, named := "", 0, 0
	closeOpen := func() {
		if open != "" && named == 0 {
			d.complain(invariantsFile, at, "%s names no test", open)
		}
	}
	for i, line := range strings.Split(string(src), "\n") {
		m := invariant.FindStringSubmatch(line)
		if m != nil || strings.HasPrefix(line, "#") {
			closeOpen()
			open, at, named = "", i+1, 0
		}
		if m != nil {
			open = m[1]
		}
		for _, t := range testName.FindAllStringSubmatch(line, -1) {
			named++
			if !tests[t[1]] {
				d.complain(invariantsFile, i+1, "there is no test %s", t[1])
			}
		}
	}
	closeOpen()
	return nil
}

// testFuncs answers the names of all tests in the tree.
func testFuncs(tree fs.FS) (map[string]bool, error) {
	tests := map[string]bool{}
	err := walk(tree, "_test.go", func(name string, src []byte) error {
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				tests[fn.Name.Name] = true
			}
		}
		return nil
	})
	return tests, err
}

// cliFlags reads the names of all flags from the sources of the command line:
// the string that comes first, or after the variable, in a call that makes one.
func cliFlags(tree fs.FS) ([]string, error) {
	if _, err := fs.Stat(tree, cliDir); err != nil {
		return nil, nil
	}
	sub, err := fs.Sub(tree, cliDir)
	if err != nil {
		return nil, err
	}
	var flags []string
	err = walk(sub, ".go", func(name string, src []byte) error {
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s/%s: %w", cliDir, name, err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				flags = append(flags, flagNamed(call)...)
			}
			return true
		})
		return nil
	})
	if len(flags) > 0 {
		flags = append(flags, builtinFlags...)
	}
	return flags, err
}

func flagNamed(call *ast.CallExpr) []string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 3 || !flagMaker.MatchString(sel.Sel.Name) {
		return nil
	}
	for _, arg := range call.Args[:2] {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				return []string{s}
			}
		}
	}
	return nil
}
