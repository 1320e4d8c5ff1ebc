package rewrap_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/server/rewrap/rewraptest"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

func TestRewrapOnSQLite(t *testing.T) {
	t.Parallel()
	rewraptest.Run(t, func(t *testing.T) serverdb.Ledger {
		t.Helper()
		path := filepath.Join(t.TempDir(), "server.db")
		db, err := sqlite.OpenDB(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		l, err := sqldb.New(t.Context(), db, sqldb.Options{Explain: sqlite.Explain(path)})
		if err != nil {
			t.Fatal(err)
		}
		return l
	})
}

// sealers are all functions that seal something with the key-encryption key, and what seals it
// again. A new one needs a source in sources.go, and must be in rewraptest.
var sealers = map[string]string{
	"internal/server/tenant/open.go Create":             "passwords",
	"internal/server/adminapi/hooks.go newSecret":       "hooks",
	"internal/server/gateway/once.go serveAndRecord":    "responses",
	"internal/engine/backup/set.go makeKey":             "backupKeys",
	"internal/server/gateway/console.go sealSession":    "nobody: a cookie, which expires after 12 hours",
	"internal/storage/store/replica/family.go sealText": "nobody: the key is of the store, and a server has no remotes",
	"internal/storage/store/replica/head.go seal":       "nobody: the key is of the store, and each head replaces the one before",
	"internal/server/rewrap/rewrap.go look":             "itself",
	"internal/server/transit/transit.go Seal":           "its caller",
	"internal/pure/secretbox/secretbox.go Seal":         "its caller",
}

func TestEverySealedValueIsKnown(t *testing.T) {
	t.Parallel()
	root := "../../.."
	found := map[string]bool{}
	for _, dir := range []string{"cmd", "internal", "client"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			names, err := sealingFunctions(path)
			for _, name := range names {
				found[filepath.ToSlash(rel)+" "+name] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for at := range found {
		if sealers[at] == "" {
			t.Errorf("%s seals something that nobody seals again: add a source in sources.go, fill it in rewraptest, and name it here", at)
		}
	}
	for at := range sealers {
		if !found[at] {
			t.Errorf("%s seals nothing any more", at)
		}
	}
}

// sealingFunctions returns the functions of a file that call a method Seal of several arguments.
func sealingFunctions(path string) (names []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Seal" && !slices.Contains(names, f.Name.Name) {
				names = append(names, f.Name.Name)
			}
			return true
		})
	}
	return names, nil
}
