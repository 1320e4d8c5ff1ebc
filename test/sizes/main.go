// Command sizes measures the code: lines, files, functions, names, comments, log calls and the
// types with the most methods, beside figures of other projects that were counted alike.
//
//	go run ./test/sizes [DIRECTORY]
//
// Product code is what ships: no tests, no suites and drivers for tests (packages whose names end in
// test, and the rules of the code in internal/arch), nothing below test, bench and .ci, nothing that
// is generated.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// project is one column of the table. Figures of others were counted by this program, in
// checkouts of August 2026 (upspin: February 2025).
type project struct {
	name            string
	lines           string // product / test, in thousands
	methods         int    // of the largest type
	nameLength      float64
	oneWord         int // per cent of private functions
	comments        float64
	logs            int
	funcP99, maxFun int
}

var others = []project{
	{name: "restic", lines: "49 / 39", methods: 57, nameLength: 13.3, oneWord: 14, comments: 13.0, logs: 405, funcP99: 121, maxFun: 221},
	{name: "kopia", lines: "91 / 65", methods: 63, nameLength: 15.4, oneWord: 18, comments: 12.2, logs: 804, funcP99: 76, maxFun: 241},
	{name: "river", lines: "26 / 47", methods: 61, nameLength: 16.1, oneWord: 8, comments: 34.1, logs: 205, funcP99: 105, maxFun: 313},
	{name: "upspin", lines: "38 / 24", methods: 83, nameLength: 9.7, oneWord: 30, comments: 27.9, logs: 32, funcP99: 103, maxFun: 185},
}

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string) error {
	c := &count{methods: map[string]int{}, folders: map[string]int{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "dist" || path != root && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return c.addFile(path, filepath.ToSlash(name))
	})
	if err != nil {
		return err
	}
	c.print()
	return nil
}

// count is what was found.
type count struct {
	product, tests, typescript int
	code, commentLines         int
	names, letters, oneWord    int
	logs                       int
	funcs                      []int
	methods                    map[string]int // of types
	folders                    map[string]int // lines of product code
	files                      []file
}

type file struct {
	name  string
	lines int
}

func (c *count) addFile(at, path string) error {
	isTS := (strings.HasSuffix(path, ".ts") || strings.HasSuffix(path, ".tsx")) && strings.HasPrefix(path, "console/src/") && !strings.Contains(path, ".test.")
	if !isTS && !strings.HasSuffix(path, ".go") {
		return nil
	}
	src, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	lines := bytes.Count(src, []byte("\n"))
	switch {
	case isTS:
		c.typescript += lines
		return nil
	case !isProduct(path):
		c.tests += lines
		return nil
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return err
	}
	c.product += lines
	c.files = append(c.files, file{path, lines})
	c.folders[folderOf(path)] += lines
	c.addSource(set, f, src)
	return nil
}

func isProduct(path string) bool {
	dir := filepath.ToSlash(filepath.Dir(path))
	return !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "test/") && !strings.HasPrefix(path, "bench/") && !strings.HasSuffix(dir, "test") && dir != "internal/arch"
}

func folderOf(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) == 1:
		return "retake (root)"
	case parts[0] == "internal":
		return strings.Join(parts[:2], "/")
	}
	return parts[0]
}

func (c *count) addSource(set *token.FileSet, f *ast.File, src []byte) {
	comments := map[int]bool{}
	for _, g := range f.Comments {
		for n := set.Position(g.Pos()).Line; n <= set.Position(g.End()).Line; n++ {
			comments[n] = true
		}
	}
	c.commentLines += len(comments)
	for n, line := range bytes.Split(src, []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 && !comments[n+1] {
			c.code++
		}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			c.addFunc(set, f.Name.Name, fn)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if isLogCall(n) {
			c.logs++
		}
		return true
	})
}

func (c *count) addFunc(set *token.FileSet, pkg string, fn *ast.FuncDecl) {
	if fn.Body != nil {
		c.funcs = append(c.funcs, set.Position(fn.Body.Rbrace).Line-set.Position(fn.Body.Lbrace).Line)
	}
	if name := fn.Name.Name; !fn.Name.IsExported() && name != "main" && name != "init" {
		c.names++
		c.letters += len(name)
		if !strings.ContainsFunc(name, unicode.IsUpper) {
			c.oneWord++
		}
	}
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		c.methods[pkg+"."+id.Name]++
	}
}

var logMethod = regexp.MustCompile(`^(Log|Debug|Info|Warn|Warning|Error|Print)(f|ln|w|Context)?$`)

// isLogCall reports whether a call writes to a log: a method named for a level of something
// named log, or a step of background work, which is logged when it fails.
func isLogCall(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch sel.Sel.Name {
	case "background", "Note":
		return len(call.Args) == 2
	}
	return logMethod.MatchString(sel.Sel.Name) && namesLog(sel.X)
}

// namesLog reports whether an expression is a log by its name: log, s.log, log(ctx), debug.
func namesLog(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "debug" || strings.Contains(strings.ToLower(x.Name), "log")
	case *ast.SelectorExpr:
		return namesLog(x.Sel)
	case *ast.CallExpr:
		return namesLog(x.Fun)
	}
	return false
}

func (c *count) print() {
	slices.Sort(c.funcs)
	slices.SortFunc(c.files, func(a, b file) int { return cmp.Compare(b.lines, a.lines) })
	type typeCount struct {
		name string
		n    int
	}
	var types []typeCount
	for name, n := range c.methods {
		types = append(types, typeCount{name, n})
	}
	slices.SortFunc(types, func(a, b typeCount) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name)) })
	ours := project{
		name: "Retake", lines: fmt.Sprintf("%d / %d", c.product/1000, c.tests/1000), methods: types[0].n,
		nameLength: float64(c.letters) / float64(c.names), oneWord: 100 * c.oneWord / c.names,
		comments: 100 * float64(c.commentLines) / float64(c.code), logs: c.logs, funcP99: c.funcs[len(c.funcs)*99/100], maxFun: c.funcs[len(c.funcs)-1],
	}
	printTable(append([]project{ours}, others...))
	fmt.Printf("\nproduct lines of Go %d, of TypeScript %d\n\nlines by folder\n", c.product, c.typescript)
	for _, name := range slices.Sorted(maps.Keys(c.folders)) {
		fmt.Printf("%8d  %s\n", c.folders[name], name)
	}
	fmt.Println("\nlargest types, by methods")
	for _, t := range types[:min(8, len(types))] {
		fmt.Printf("%8d  %s\n", t.n, t.name)
	}
	fmt.Println("\nlongest files")
	for _, f := range c.files[:min(8, len(c.files))] {
		fmt.Printf("%8d  %s\n", f.lines, f.name)
	}
}

func printTable(all []project) {
	row := func(name string, cell func(project) string) {
		fmt.Printf("%-34s", name)
		for _, p := range all {
			fmt.Printf("%12s", cell(p))
		}
		fmt.Println()
	}
	row("", func(p project) string { return p.name })
	row("product / test lines, thousands", func(p project) string { return p.lines })
	row("methods of the largest type", func(p project) string { return fmt.Sprint(p.methods) })
	row("letters of a private function", func(p project) string { return fmt.Sprintf("%.1f", p.nameLength) })
	row("of one word", func(p project) string { return fmt.Sprintf("%d %%", p.oneWord) })
	row("comment lines per 100 of code", func(p project) string { return fmt.Sprintf("%.1f", p.comments) })
	row("log calls", func(p project) string { return fmt.Sprint(p.logs) })
	row("lines of a function, 99 % / most", func(p project) string { return fmt.Sprintf("%d / %d", p.funcP99, p.maxFun) })
}
