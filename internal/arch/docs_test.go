package arch_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/retake-dev/retake/internal/arch"
)

// pending documents may be named by others before they are there.
var pending = []string{"README.md", "docs/internals/invariants.md", "docs/internals/format.md"}

func TestDocumentsTellTheTruth(t *testing.T) {
	t.Parallel()
	found, err := arch.CheckDocs(os.DirFS(repository), pending)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		t.Error(c)
	}
}

// tree is a small repository with one page.
func tree(name, page string) fstest.MapFS {
	return fstest.MapFS{
		name: {Data: []byte(page)},
		"internal/ui/cli/save.go": {Data: []byte(`package cli

func flags(c *cobra.Command) {
	c.Flags().BoolVar(&json, "json", false, "for machines")
	c.Flags().StringVarP(&dir, "chdir", "C", "", "as if started there")
	c.Flags().Duration("since", 0, "not older")
	c.PersistentFlags().Var(&list, "accept", "consent")
}
`)},
		"internal/storage/store/a_test.go": {Data: []byte("package store\n\nfunc TestSealed() {}\n")},
		"docs/GLOSSARY.md":                 {Data: []byte("Words.\n")},
		"AGENTS.md":                        {Data: []byte("Rules.\n")},
	}
}

func TestPlantedLiesAreFound(t *testing.T) {
	t.Parallel()
	const page, list = "docs/a.md", "docs/internals/invariants.md"
	for name, c := range map[string]struct{ file, text, want string }{
		"path":             {page, "See `internal/gone`.", "docs/a.md:1: internal/gone does not exist"},
		"path of packages": {page, "Run `./internal/gone/...`.", "docs/a.md:1: internal/gone does not exist"},
		"go file":          {page, "\nSee `gone.go`.", "docs/a.md:2: gone.go does not exist"},
		"function":         {page, "See `internal/ui/cli/save.go`: `flags` and `internal/ui/cli/save.go`: `gone`.", "docs/a.md:1: internal/ui/cli/save.go has no function gone"},
		"document":         {page, "See `GONE.md`.", "docs/a.md:1: GONE.md does not exist"},
		"link":             {page, "See [that](GONE.md#top).", "docs/a.md:1: link to GONE.md: it does not exist"},
		"flag alone":       {page, "Use `--gone`.", "docs/a.md:1: --gone is no flag of the command line"},
		"flag of a call":   {page, "Use `retake save --gone`.", "docs/a.md:1: --gone is no flag of the command line"},
		"flag in a block":  {page, "```\n$ retake log --since=2h [--gone]\n```", "docs/a.md:2: --gone is no flag of the command line"},
		"no such test":     {list, "- **I1** Sealed stays. `TestGone`", "docs/internals/invariants.md:1: there is no test TestGone"},
		"no test named":    {list, "| I1 | Sealed stays. |\n| I2 | So does this. | `TestSealed` |", "docs/internals/invariants.md:1: I1 names no test"},
		"last without":     {list, "### I1 Sealed stays.\nBy `TestSealed/now`.\n### I2 More.\n\nNothing.", "docs/internals/invariants.md:3: I2 names no test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := arch.CheckDocs(tree(c.file, c.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0].String() != c.want {
				t.Errorf("complaints: %v\nwant exactly: %s", found, c.want)
			}
		})
	}
}

func TestTrueDocumentsPass(t *testing.T) {
	t.Parallel()
	page := "See `docs/GLOSSARY.md`, `GLOSSARY.md`, `./internal/...`, `docs/internals/decisions/NNNN-*.md`, [words](GLOSSARY.md#top), [out](https://example.com/a.md).\n" +
		"`retake log --since 2h --json` and `--accept` and `retake -C DIR save -- make --gone` and `go test --gone`.\n" +
		"`and/or` is no path; `README.md` comes later.\n" +
		"```\nretake save --help | jq --gone\nls --gone\n```\n"
	for name, text := range map[string]string{"docs/a.md": page, "docs/internals/invariants.md": "# Rules\n\n- I1 holds: `TestSealed`, `TestSealed/now`.\n\nText.\n"} {
		found, err := arch.CheckDocs(tree(name, text), []string{"README.md"})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			t.Error(c)
		}
	}
}
