package catalogtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// openSearchable appends one checkpoint to workspace 1 for each list of texts.
func openSearchable(t *testing.T, open Opener, texts ...[]string) catalog.Catalog {
	t.Helper()
	c := openFilled(t, open, len(texts))
	for i, all := range texts {
		n := catalog.Notes{Workspace: workspaceID(1), Checkpoint: checkpoint(1, i+1).ID}
		for seq, text := range all {
			n.Words = append(n.Words, catalog.Place{Where: fmt.Sprintf("place %d", seq), Text: text})
		}
		wantNoError(t, c.PutNotes(t.Context(), n))
	}
	return c
}

func searchNumbers(t *testing.T, c catalog.Catalog, text string, limit int) []string {
	t.Helper()
	all, err := c.Search(t.Context(), retake.SearchQuery{Workspace: workspaceID(1), Text: text, Limit: limit})
	wantNoError(t, err)
	out := []string{}
	for _, f := range all {
		wantEqual(t, "checkpoint", f.Checkpoint, checkpoint(1, int(f.Checkpoint.Number)))
		out = append(out, fmt.Sprintf("%d %s: %s", f.Checkpoint.Number, f.Place.Where, f.Place.Text))
	}
	return out
}

func testSearchWords(t *testing.T, open Opener) {
	c := openSearchable(t, open,
		[]string{"Fix the login", "src/auth.ts"},
		[]string{"tests", "src/login/Auth.ts", "LOGIN login"},
		[]string{},
		[]string{"fi", "x"},
	)
	both := []string{"2 place 1: src/login/Auth.ts", "1 place 0: Fix the login"}
	for text, want := range map[string][]string{
		"login":         both,
		"LOGin auth":    both,
		" auth\t\nlogi": {"2 place 1: src/login/Auth.ts", "1 place 1: src/auth.ts"},
		"ogi":           both,
		"auth fix":      {"1 place 1: src/auth.ts"},
		"login login":   both,
		"the login":     {"1 place 0: Fix the login"},
		"fix":           {"1 place 0: Fix the login"}, // not from the end of one place to the beginning of the next
		"fi x":          {"4 place 0: fi", "1 place 0: Fix the login"},
		"tests missing": nil,
		"":              nil,
		" \n":           nil,
	} {
		wantEqual(t, "search "+text, searchNumbers(t, c, text, 0), want)
	}
	elsewhere, err := c.Search(t.Context(), retake.SearchQuery{Workspace: workspaceID(2), Text: "login"})
	wantNoError(t, err)
	wantEqual(t, "another workspace", elsewhere, nil)
}

// testSearchSigns: every sign means itself, and texts come back as they were given.
func testSearchSigns(t *testing.T, open Opener) {
	signs := []string{
		`100% sure`, `1000 sure`, `snake_case`, `snake-case`, `C:\temp\x`, `C:/temp/x`, `it's; DROP TABLE place --`,
		"caf\xe9 \xff\xfe", "n\x00l", "ÜBER straße", "🚀 $1 ?", `\`, `\\%`,
	}
	texts := make([][]string, len(signs))
	for i, s := range signs {
		texts[i] = []string{"other", s}
	}
	c := openSearchable(t, open, texts...)
	at := func(all ...int) []string {
		out := []string{}
		for _, n := range all {
			out = append(out, fmt.Sprintf("%d place 1: %s", n, signs[n-1]))
		}
		return out
	}
	for text, want := range map[string][]string{
		"100%": at(1), "100_": at(), "e_c": at(3), "e?c": at(), "e%c": at(), `:\t`: at(5), `\x`: at(5), `\`: at(13, 12, 5),
		"it's; drop": at(7), "caf\xe9": at(8), "\xff\xfe": at(8), "n\x00l": at(9), "über": at(10), "STRASSE": at(), "STRAßE": at(10),
		"🚀": at(11), "$1 ?": at(11), `\\`: at(13), `\%`: at(13), "%": at(13, 1), "_": at(3), "'": at(7),
	} {
		wantEqual(t, "search "+text, searchNumbers(t, c, text, 0), want)
	}
}

func testSearchLong(t *testing.T, open Opener) {
	long, tail := strings.Repeat("é%", 40_000), strings.Repeat("word ", 40_000)
	var many []string
	for i := range 3000 {
		many = append(many, fmt.Sprintf("w%04d", i))
	}
	all := strings.Join(many, " ")
	c := openSearchable(t, open, []string{long + "a", tail}, []string{long + "b", all}, []string{tail + "needle"}, many[:1000])
	for _, x := range []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"a long word", long + "B", 0, []string{"2 place 0: " + long + "b"}},
		{"a long word that newer ones begin with", long + "A", 1, []string{"1 place 0: " + long + "a"}},
		{"the beginning of it", long, 0, []string{"2 place 0: " + long + "b", "1 place 0: " + long + "a"}},
		{"no such long word", long + "c", 0, nil},
		{"a long text", "needle", 0, []string{"3 place 0: " + tail + "needle"}},
		{"many words, some of them in a newer one", all, 1, []string{"2 place 1: " + all}},
		{"one too many", all + " w3000", 0, nil},
		{"the same word many times", strings.Repeat("NEEDLE ", 3000), 0, []string{"3 place 0: " + tail + "needle"}},
	} {
		wantEqual(t, x.name, searchNumbers(t, c, x.text, x.limit), x.want)
	}
}

// testLongTimeline: answers are right when there is more than one query can ask for
// or one page can hold.
func testLongTimeline(t *testing.T, open Opener) {
	const length, rare = 600, 100
	texts := make([][]string, length)
	for i := range texts {
		texts[i] = []string{fmt.Sprintf("src/page%d.ts", i+1), "common"}
		if (i+1)%rare == 0 {
			texts[i] = append(texts[i], "rare")
		}
	}
	c := openSearchable(t, open, texts...)
	common := searchNumbers(t, c, "common", 0)
	wantEqual(t, "number of hits without a limit", len(common), 50)
	wantEqual(t, "newest", common[0], fmt.Sprintf("%d place 1: common", length))
	wantEqual(t, "number of hits", len(searchNumbers(t, c, "ommo src", length*2)), length)
	few := searchNumbers(t, c, "common rare", 3)
	wantEqual(t, "rare hits", few, []string{"600 place 1: common", "500 place 1: common", "400 place 1: common"})
	wantEqual(t, "no hit", searchNumbers(t, c, "page7.ts rare common", 0), []string{})
	wantEqual(t, "one hit", searchNumbers(t, c, "page200.ts rare common", 0), []string{"200 place 0: src/page200.ts"})

	var ids []retake.CheckpointID
	for i := range length {
		ids = append(ids, checkpoint(1, i+1).ID)
	}
	gists, err := c.Gists(t.Context(), workspaceID(1), append(ids, ids...))
	wantNoError(t, err)
	wantEqual(t, "number of gists", len(gists), length)
	left, err := c.Bare(t.Context(), workspaceID(1), 0, 0)
	wantNoError(t, err)
	wantEqual(t, "without a gist", left, nil)
}
