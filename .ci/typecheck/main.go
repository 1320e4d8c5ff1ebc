// Command typecheck checks that packages compile for another operating system, without
// compiling them: it parses them with all that they import and checks their types.
//
//	typecheck darwin,windows ./...
//
// A full build of another system on a new machine takes minutes, most of it for machine code
// of dependencies that nobody runs. Of dependencies only what they declare is checked, of our
// own packages everything. It does not link: make verify does.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck system,... package...")
		os.Exit(2)
	}
	failed := false
	for _, system := range strings.Split(os.Args[1], ",") {
		n, found, err := check(".", system, os.Args[2:])
		if err != nil {
			found = append(found, err)
		}
		for _, e := range found {
			fmt.Println(e)
		}
		fmt.Printf("%s: %d packages of ours, %d errors\n", system, n, len(found))
		failed = failed || len(found) > 0 || n == 0
	}
	if failed {
		os.Exit(1)
	}
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

func (l *listed) ours() bool { return l.Module != nil && l.Module.Main }

// check returns the number of our packages and what is wrong with them.
func check(dir, system string, patterns []string) (int, []error, error) {
	all, err := list(dir, system, patterns)
	if err != nil {
		return 0, nil, err
	}
	c := checker{fset: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	parsed := c.parse(all)
	ours := 0
	for i, l := range all { // imports come before who imports them
		if l.ours() {
			ours++
		}
		if l.ImportPath != "unsafe" {
			c.check(l, parsed[i])
		}
	}
	return ours, c.found, nil
}

func list(dir, system string, patterns []string) ([]*listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-e", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error"}, patterns...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", system, err)
	}
	var all []*listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		l := new(listed)
		err := dec.Decode(l)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

type checker struct {
	fset  *token.FileSet
	done  map[string]*types.Package
	found []error
}

// files are a package as it was parsed.
type files struct {
	list []*ast.File
	errs []error
}

// parse reads all packages, a few at a time.
func (c *checker) parse(all []*listed) []files {
	out := make([]files, len(all))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, l := range all {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, name := range l.GoFiles {
				f, err := parser.ParseFile(c.fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
				if err != nil {
					out[i].errs = append(out[i].errs, err)
				}
				if f != nil {
					out[i].list = append(out[i].list, f)
				}
			}
		})
	}
	wg.Wait()
	return out
}

func (c *checker) check(l *listed, f files) {
	report := func(err error) {
		if l.ours() {
			c.found = append(c.found, err)
		}
	}
	if l.Error != nil {
		report(errors.New(l.Error.Err))
	}
	for _, err := range f.errs {
		report(err)
	}
	conf := types.Config{
		Importer: importer{c, l}, Error: report, IgnoreFuncBodies: !l.ours(), FakeImportC: true, Sizes: types.SizesFor("gc", "arm64"),
	}
	if l.Module != nil && l.Module.GoVersion != "" {
		conf.GoVersion = "go" + l.Module.GoVersion
	}
	p, _ := conf.Check(l.ImportPath, c.fset, f.list, nil) // every error was reported
	c.done[l.ImportPath] = p
}

// importer finds what a package imports among what was checked before.
type importer struct {
	*checker
	of *listed
}

func (i importer) Import(path string) (*types.Package, error) {
	p := i.done[cmp.Or(i.of.ImportMap[path], path)]
	if p == nil {
		return nil, fmt.Errorf("%s imports %s, which was not checked", i.of.ImportPath, path)
	}
	return p, nil
}
