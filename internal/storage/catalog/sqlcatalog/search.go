package sqlcatalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

const (
	defaultHits     = 50  // when nobody says how many
	maxPatterns     = 16  // words that the database looks for; the others are looked for here
	maxPatternBytes = 500 // bytes of such a word: databases bound their patterns
)

// foldCase normalizes case. Databases disagree about it beyond ASCII.
func foldCase(s string) string { return sanitizeText(strings.ToLower(s)) }

// foldPlaces returns all words by which a checkpoint can be found, each once: they are
// searched one by one, and a short text is searched quickly.
func foldPlaces(places []catalog.Place) string {
	known := map[string]bool{}
	var all strings.Builder
	for _, p := range places {
		for word := range strings.FieldsSeq(foldCase(p.Text)) {
			if !known[word] {
				known[word] = true
				all.WriteString(word + "\n")
			}
		}
	}
	return all.String()
}

// storedPlace is a place as it is stored: its text is bytes, which JSON strings cannot
// represent.
type storedPlace struct {
	Where string `json:"where"`
	Text  []byte `json:"text"`
}

func encodePlaces(words []catalog.Place) ([]byte, error) {
	all := make([]storedPlace, len(words))
	for i, w := range words {
		all[i] = storedPlace{Where: w.Where, Text: []byte(w.Text)}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode places: %w", err)
	}
	return raw, nil
}

// Search finds live checkpoints that contain all words, the highest number first. A text
// without words finds nothing.
func (c *Catalog) Search(ctx context.Context, q retake.SearchQuery) ([]catalog.Found, error) {
	all := []catalog.Found{}
	words := strings.Fields(foldCase(q.Text))
	if len(words) == 0 {
		return all, nil
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	a := c.searchQuery(q.Workspace, words, limit)
	err := c.queryRows(ctx, "search checkpoints", func(rows *sql.Rows) (bool, error) {
		f, err := scanFound(rows, words)
		if err != nil {
			return false, err
		}
		if f != nil {
			all = append(all, *f)
		}
		return len(all) < limit, nil
	}, a.text.String(), a.args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// searchQuery lets the database search as far as it can. If there are many or long words, its
// results may lack some, and then it has no limit.
func (c *Catalog) searchQuery(ws retake.WorkspaceID, words []string, limit int) *queryBuilder {
	a := newQuery(sqlSearch, c.ns, string(ws))
	whole := len(words) <= maxPatterns
	for _, w := range words[:min(len(words), maxPatterns)] {
		if len(w) > maxPatternBytes {
			w, whole = strings.ToValidUTF8(w[:maxPatternBytes], ""), false
		}
		a.addText(" AND p.folded LIKE ").addArg("%" + patternEscaper.Replace(w) + "%").addText(` ESCAPE '\'`)
	}
	most := int64(math.MaxInt64)
	if whole {
		most = int64(limit)
	}
	return a.addText(sqlSearchOrder).addArg(most)
}

// patternEscaper escapes the wildcards of LIKE patterns.
var patternEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// scanFound returns nil if a word is missing.
func scanFound(rows *sql.Rows, words []string) (*catalog.Found, error) {
	var folded string
	var places, raw []byte
	if err := rows.Scan(&folded, &places, &raw); err != nil {
		return nil, err
	}
	lacks := func(w string) bool { return !strings.Contains(folded, w) }
	if slices.ContainsFunc(words, lacks) {
		return nil, nil
	}
	var all []storedPlace
	var f catalog.Found
	if err := decodeJSON(places, &all); err != nil {
		return nil, err
	}
	if err := decodeJSON(raw, &f.Checkpoint); err != nil {
		return nil, err
	}
	for _, p := range all {
		if strings.Contains(foldCase(string(p.Text)), words[0]) {
			f.Place = catalog.Place{Where: p.Where, Text: string(p.Text)}
			break
		}
	}
	return &f, nil
}
