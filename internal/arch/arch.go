// Package arch checks the structure of the code: which package may import which, where
// files, clocks and processes may be used, how long a file may grow, and what the
// documents may claim.
//
// It reads Go and Markdown files of a tree it is given and nothing else: it runs
// no command, and it sees files of every system and build tag, because it parses
// and does not build.
//
//	W1  Every rule has a planted violation that must be found, in the tests.
//	W2  An exception stands in rules.go with its reason, never beside the code.
package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Complaint is one broken rule at one place.
type Complaint struct {
	File string
	Line int // 0 when the whole file is meant
	Text string
}

func (c Complaint) String() string {
	if c.Line == 0 {
		return c.File + ": " + c.Text
	}
	return fmt.Sprintf("%s:%d: %s", c.File, c.Line, c.Text)
}

// Check holds every Go file of the tree against the rules, by name of the file.
func Check(tree fs.FS, rules Rules) ([]Complaint, error) {
	c := &checker{rules: rules, homeless: map[string]bool{}, methods: map[string]int{}}
	err := walk(tree, ".go", func(name string, src []byte) error {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		c.file(&source{name: name, dir: dirOf(name), lines: bytes.Count(src, []byte("\n")), set: fset, ast: f})
		return nil
	})
	return c.found, err
}

// walk calls f for every file with the ending, except where the go command does
// not look either.
func walk(tree fs.FS, ending string, f func(name string, src []byte) error) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != "." && (base == "testdata" || base == "vendor" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ending) {
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return f(name, src)
	})
}

// dirOf is the directory of a file; the root is "".
func dirOf(name string) string { return strings.TrimPrefix(path.Dir(name), ".") }

type source struct {
	name, dir string
	lines     int
	set       *token.FileSet
	ast       *ast.File
}

func (s *source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

type checker struct {
	rules    Rules
	homeless map[string]bool // directories already complained about
	methods  map[string]int  // by directory and type
	found    []Complaint
}

func (c *checker) complain(s *source, at token.Pos, format string, args ...any) {
	line := 0
	if at.IsValid() {
		line = s.set.Position(at).Line
	}
	c.found = append(c.found, Complaint{File: s.name, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) file(s *source) {
	c.name(s)
	c.fileLength(s)
	if s.isTest() {
		return // tests may reach anywhere
	}
	if folderOf(s.dir) == nil {
		if !c.homeless[s.dir] {
			c.homeless[s.dir] = true
			c.complain(s, token.NoPos, "%s is in no folder of internal/arch/rules.go: move it, or give the folder a rule", s.dir)
		}
		return
	}
	c.imports(s)
	c.calls(s)
	c.funcLength(s)
}

func (c *checker) name(s *source) {
	name := strings.TrimSuffix(s.ast.Name.Name, "_test")
	for _, n := range []string{name, path.Base(s.dir)} {
		if slices.Contains(emptyNames, n) {
			c.complain(s, s.ast.Name.Pos(), "%q says nothing: name the package after what it does", n)
			return
		}
	}
}

func (c *checker) imports(s *source) {
	for _, spec := range s.ast.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser takes valid literals only
		}
		if spec.Name != nil && spec.Name.Name == "." {
			c.complain(s, spec.Pos(), "dot import of %s: calls must show where they go", imp)
		}
		if under(imp, module) {
			c.arrow(s, spec.Pos(), strings.TrimPrefix(strings.TrimPrefix(imp, module), "/"))
		} else {
			c.door(s, spec.Pos(), imp)
		}
	}
}

// arrow judges one import inside the house.
func (c *checker) arrow(s *source, at token.Pos, to string) {
	from := folderOf(s.dir)
	say := func(format string, args ...any) { c.complain(s, at, format, args...) }
	if under(to, "internal") && isForTests(to) && !isForTests(s.dir) {
		say("%s imports %s, which is for tests: what a user gets holds no test code", spoken(s.dir), to)
		return
	}
	if i := slices.IndexFunc(ports, func(p string) bool { return to != p && under(to, p) }); i >= 0 && !slices.Contains(ports, to) && !under(s.dir, ports[i]) && !underAny(s.dir, assembler) {
		say("%s imports the driver %s: speak to the port, assembly picks the driver", spoken(s.dir), to)
		return
	}
	if under(to, from.dir) {
		c.neighbour(s, at, to)
		return
	}
	if !underAny(to, from.sees) || aboveIn(folders, from, to) {
		say("%s imports %s: %s (%s) sees %s", spoken(s.dir), to, spoken(from.dir), from.holds, seen(from))
	}
}

// neighbour judges one import inside a folder.
func (c *checker) neighbour(s *source, at token.Pos, to string) {
	in := folderOf(s.dir)
	mine, other := packageIn(in.dir, s.dir), packageIn(in.dir, to)
	if in.apart != "" && mine != other && !underAny(to, in.shared) {
		c.complain(s, at, "%s imports its neighbour %s: %s", s.dir, to, in.apart)
	}
	if below, above := slices.Index(in.layers, mine), slices.Index(in.layers, other); below >= 0 && below < above {
		c.complain(s, at, "%s imports %s, which is above it", s.dir, to)
	}
}

// aboveIn reports whether the folder of a directory comes after another in the list.
func aboveIn(list []folder, from *folder, to string) bool {
	place := func(dir string) int { return slices.IndexFunc(list, func(f folder) bool { return f.dir == dir }) }
	f := folderOf(to)
	return f == nil || place(f.dir) > place(from.dir)
}

// packageIn is the package of a folder that a directory belongs to.
func packageIn(folder, dir string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(dir, folder+"/"), "/")
	return name
}

func seen(f *folder) string {
	if len(f.sees) == 0 {
		return "nothing of ours"
	}
	names := make([]string, len(f.sees))
	for i, dir := range f.sees {
		names[i] = spoken(dir)
	}
	return strings.Join(names, ", ")
}

// door judges one import from outside.
func (c *checker) door(s *source, at token.Pos, imp string) {
	if s.dir == "" && slices.Contains(hands, imp) {
		c.complain(s, at, "the vocabulary imports %s: it holds words, not hands", imp)
		return
	}
	for _, d := range doors {
		if under(imp, d.lib) && !underAny(s.dir, d.in) {
			c.complain(s, at, "%s imports %s: its only doors are %s", spoken(s.dir), imp, strings.Join(d.in, ", "))
		}
	}
}

// calls looks at every pkg.Name of the file: a function that is only handed on
// is called by somebody.
func (c *checker) calls(s *source) {
	imported := importNames(s.ast)
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		pkg := imported[x.Name]
		for _, r := range callRules {
			if r.pkg == pkg && slices.Contains(r.names, sel.Sel.Name) && r.bars(s.dir) && !c.allowed(s, sel.Sel.Name) {
				c.complain(s, sel.Pos(), "%s uses %s.%s: %s", spoken(s.dir), path.Base(pkg), sel.Sel.Name, r.because)
			}
		}
		return true
	})
}

func (c *checker) allowed(s *source, name string) bool {
	return slices.Contains(c.rules.Calls[s.name].Names, name)
}

// importNames maps the names under which the file sees packages to their paths.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(imp)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imp
	}
	return names
}

func (c *checker) fileLength(s *source) {
	if s.lines > maxFile && c.rules.LongFiles[s.name] == "" && !ast.IsGenerated(s.ast) {
		c.complain(s, token.NoPos, "%d lines, at most %d: split it by noun", s.lines, maxFile)
	}
}

func (c *checker) funcLength(s *source) {
	if ast.IsGenerated(s.ast) {
		return
	}
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		c.countMethod(s, f)
		lines := s.set.Position(f.Body.Rbrace).Line - s.set.Position(f.Body.Lbrace).Line - 1
		if lines > maxFunc && c.rules.LongFuncs[s.name+" "+f.Name.Name] == "" {
			c.complain(s, f.Pos(), "func %s has %d lines, at most %d: let it tell one story", f.Name.Name, lines, maxFunc)
		}
	}
}

// isForTests reports whether a directory holds only what tests and measurements use.
func isForTests(dir string) bool {
	return underAny(dir, []string{"test", "bench"}) || strings.HasSuffix(dir, "test")
}

// countMethod complains about the first method of a type that has too many. Types in a package
// of tests or of a suite are not counted.
func (c *checker) countMethod(s *source, f *ast.FuncDecl) {
	if f.Recv == nil || isForTests(s.dir) {
		return
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	id, ok := of.(*ast.Ident)
	if !ok {
		return // a type with parameters
	}
	key := s.dir + "." + id.Name
	if c.methods[key]++; c.methods[key] == maxMethods+1 {
		c.complain(s, f.Pos(), "%s has more than %d methods: give a part of them to a type of their own, or make them functions", id.Name, maxMethods)
	}
}

// folderOf is the folder of a directory: the longest that fits, or nil.
func folderOf(dir string) *folder {
	var found *folder
	for i := range folders {
		if f := &folders[i]; under(dir, f.dir) && (found == nil || len(f.dir) > len(found.dir)) {
			found = f
		}
	}
	return found
}

// under reports whether p is x or lies below it. Nothing lies below the root
// package: its sub-directories are other packages.
func under(p, x string) bool { return p == x || x != "" && strings.HasPrefix(p, x+"/") }

func underAny(p string, xs []string) bool {
	return slices.ContainsFunc(xs, func(x string) bool { return under(p, x) })
}

func spoken(dir string) string {
	if dir == "" {
		return "the vocabulary"
	}
	return dir
}
