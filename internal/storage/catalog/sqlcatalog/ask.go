package sqlcatalog

import (
	"strconv"
	"strings"
)

// idsPerQuery is the number of ids in one query: databases limit their arguments.
const idsPerQuery = 500

// queryBuilder builds a query and its arguments.
type queryBuilder struct {
	text strings.Builder
	args []any
}

// newQuery starts with a text that has its placeholders.
func newQuery(text string, args ...any) *queryBuilder {
	a := &queryBuilder{args: args}
	return a.addText(text)
}

func (a *queryBuilder) addText(text string) *queryBuilder {
	a.text.WriteString(text)
	return a
}

// addArg adds the next placeholder and its argument.
func (a *queryBuilder) addArg(v any) *queryBuilder {
	a.args = append(a.args, v)
	return a.addText("$" + strconv.Itoa(len(a.args)))
}

// addIn requires a column to be one of the ids.
func addIn[T ~string](a *queryBuilder, column string, ids []T) {
	a.addText(" AND " + column + " IN (")
	for i, id := range ids {
		if i > 0 {
			a.addText(", ")
		}
		a.addArg(string(id))
	}
	a.addText(")")
}
