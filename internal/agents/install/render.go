package install

import (
	"encoding/json"
	"strconv"
	"strings"
)

// jsonObject is a JSON object whose members keep their order.
type jsonObject []jsonMember

type jsonMember struct {
	key   string
	value any // object, []any, string, int or bool
}

// jsonStyle is how a file is formatted.
type jsonStyle struct {
	newline   string // "\n" or "\r\n"
	unit      string // one step of indentation
	multiline bool   // one member a line; else all in one
	tight     bool   // no space after a comma and a colon
}

// format returns a value as text. A list takes one line, so that a hook is one line to
// read, to show and to remove.
func (s jsonStyle) format(v any, indent string) string {
	switch v := v.(type) {
	case jsonObject:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = s.formatMember(m, indent+s.unit)
		}
		return s.formatContainer("{", parts, "}", indent)
	case []any:
		s.multiline = false
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = s.format(e, indent+s.unit)
		}
		return s.formatContainer("[", parts, "]", indent)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quoteJSON(v)
	}
	return "null"
}

func (s jsonStyle) formatMember(m jsonMember, indent string) string {
	return quoteJSON(m.key) + ":" + s.separator() + s.format(m.value, indent)
}

func (s jsonStyle) formatContainer(open string, parts []string, end, indent string) string {
	if !s.multiline {
		return open + strings.Join(parts, ","+s.separator()) + end
	}
	in := s.newline + indent + s.unit
	return open + in + strings.Join(parts, ","+in) + s.newline + indent + end
}

func (s jsonStyle) separator() string {
	if s.tight {
		return ""
	}
	return " "
}

// quoteJSON returns a string as JSON, without unnecessary escapes.
func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // a string is always encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
