package sqlcatalog

import (
	"strconv"
	"strings"
)

// portion is how many ids one query asks for: databases bound their arguments.
const idsPerQuery = 500

// queryBuilder is a text that grows with what is asked for, and its arguments.
type queryBuilder struct {
	text strings.Builder
	args []any
}

// newQuery begins with a text that has its placeholders.
func newQuery(text string, args ...any) *queryBuilder {
	a := &queryBuilder{args: args}
	return a.addText(text)
}

func (a *queryBuilder) addText(text string) *queryBuilder {
	a.text.WriteString(text)
	return a
}

// addArg writes the next placeholder.
func (a *queryBuilder) addArg(v any) *queryBuilder {
	a.args = append(a.args, v)
	return a.addText("$" + strconv.Itoa(len(a.args)))
}

// addIn wants a column to be one of the ids.
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
