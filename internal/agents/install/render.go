package install

import (
	"encoding/json"
	"strconv"
	"strings"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any // object, []any, string, int or bool
}

// style is how a file is written.
type style struct {
	newline string // "\n" or "\r\n"
	unit    string // one step of indentation
	lines   bool   // one member a line; else all in one
	tight   bool   // no space after a comma and a colon
}

// write writes a value as it stands at an indentation. A list takes one line: so a
// hook is one line to read, to show and to take away.
func (s style) write(v any, indent string) string {
	switch v := v.(type) {
	case object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = s.member(m, indent+s.unit)
		}
		return s.between("{", parts, "}", indent)
	case []any:
		s.lines = false
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = s.write(e, indent+s.unit)
		}
		return s.between("[", parts, "]", indent)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return text(v)
	}
	return "null"
}

func (s style) member(m member, indent string) string {
	return text(m.key) + ":" + s.gap() + s.write(m.value, indent)
}

func (s style) between(open string, parts []string, end, indent string) string {
	if !s.lines {
		return open + strings.Join(parts, ","+s.gap()) + end
	}
	in := s.newline + indent + s.unit
	return open + in + strings.Join(parts, ","+in) + s.newline + indent + end
}

func (s style) gap() string {
	if s.tight {
		return ""
	}
	return " "
}

// text is a string as JSON, with no letter escaped that needs none.
func text(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // a string is always encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
