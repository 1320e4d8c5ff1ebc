package arch_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/retake-dev/retake/internal/arch"
)

func TestChangelogHasOneForm(t *testing.T) {
	t.Parallel()
	found, err := arch.CheckChangelog(os.DirFS(repository))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		t.Error(c)
	}
}

func TestPlantedEntriesAreFound(t *testing.T) {
	t.Parallel()
	const (
		name = "changelog/unreleased/0001-a.md"
		form = name + `:1: the first line is "added|changed|fixed|faster|removed|security: what is different", without a full stop`
	)
	for what, c := range map[string]struct{ name, text, want string }{
		"a title":           {name, "# Daemon\n\nIt starts.\n", form},
		"a list":            {name, "- It starts.\n\n- It ends.\n", form},
		"an unknown kind":   {name, "better: it starts\n\nIt starts.\n", form},
		"a capital":         {name, "Fixed: it starts\n\nIt starts.\n", form},
		"no kind":           {name, "it starts\n\nIt starts.\n", form},
		"nothing said":      {name, "fixed: \n\nIt starts.\n", form},
		"a full stop":       {name, "fixed: it starts.\n\nIt starts.\n", form},
		"no text":           {name, "fixed: it starts\n\n", name + ": a text for users follows the first line and an empty one"},
		"no empty line":     {name, "fixed: it starts\nand ends\n\nIt starts.\n", name + ":2: the line below the first is empty"},
		"two empty lines":   {name, "fixed: it starts\n\n\nIt starts.\n", name + ":3: the text begins after one empty line"},
		"a heading":         {name, "fixed: it starts\n\nIt starts.\n\n## More\n", name + ":5: an entry has no headings"},
		"a package":         {name, "fixed: it starts\n\nSee internal/ui/cli.\n", name + ":3: internal/ui is a package: say what the user sees"},
		"no number":         {"changelog/unreleased/a.md", "fixed: it starts\n\nIt starts.\n", "changelog/unreleased/a.md: an entry is named NNNN-what-changed.md"},
		"after its release": {"changelog/1.2.0/0001-a.md", "fixed: it starts\n", "changelog/1.2.0/0001-a.md: a text for users follows the first line and an empty one"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			found, err := arch.CheckChangelog(fstest.MapFS{c.name: {Data: []byte(c.text)}})
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0].String() != c.want {
				t.Errorf("complaints: %v\nwant exactly: %s", found, c.want)
			}
		})
	}
}
