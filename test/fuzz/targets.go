package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is one fuzz function.
type target struct {
	dir     string // of its package, relative to the root
	name    string
	changed time.Time // its file
}

func (t target) String() string { return filepath.ToSlash(t.dir) + "." + t.name }

// findTargets lists the fuzz functions below root that are built on this machine, the newest first.
func findTargets(root, tags string) (all []target, err error) {
	c := build.Default
	c.BuildTags = strings.FieldsFunc(tags, func(r rune) bool { return r == ',' || r == ' ' })
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		dir, name := filepath.Split(path)
		if ok, err := c.MatchFile(dir, name); err != nil || !ok {
			return err
		}
		names, err := fuzzFunctions(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Clean(dir))
		for _, n := range names {
			all = append(all, target{rel, n, info.ModTime()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find targets: %w", err)
	}
	slices.SortFunc(all, func(a, b target) int {
		return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.String(), b.String()))
	})
	return all, nil
}

// fuzzFunctions returns the names of the functions FuzzXxx(*testing.F) of a file.
func fuzzFunctions(path string) (names []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") && takesF(f.Type) {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}

func takesF(f *ast.FuncType) bool {
	if f.Params.NumFields() != 1 {
		return false
	}
	p, ok := f.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	s, ok := p.X.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "F"
}
