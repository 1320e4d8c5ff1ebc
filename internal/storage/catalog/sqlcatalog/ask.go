package sqlcatalog

import (
	"strconv"
	"strings"
)

// portion is how many ids one query asks for: databases bound their arguments.
const portion = 500

// ask is a text that grows with what is asked for, and its arguments.
type ask struct {
	text strings.Builder
	args []any
}

// newAsk begins with a text that has its placeholders.
func newAsk(text string, args ...any) *ask {
	a := &ask{args: args}
	return a.say(text)
}

func (a *ask) say(text string) *ask {
	a.text.WriteString(text)
	return a
}

// arg writes the next placeholder.
func (a *ask) arg(v any) *ask {
	a.args = append(a.args, v)
	return a.say("$" + strconv.Itoa(len(a.args)))
}

// in wants a column to be one of the ids.
func in[T ~string](a *ask, column string, ids []T) {
	a.say(" AND " + column + " IN (")
	for i, id := range ids {
		if i > 0 {
			a.say(", ")
		}
		a.arg(string(id))
	}
	a.say(")")
}
