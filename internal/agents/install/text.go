package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

const (
	maxBytes = 4 << 20
	maxDepth = 500 // the parser recurses, and a project's file is not ours
)

var bom = []byte("\xef\xbb\xbf")

// doc is a file with its syntax tree. The tree is used for its offsets only:
// what is written back is the text, cut and pasted.
type doc struct {
	mark  []byte // byte order mark
	text  []byte // without it
	root  *hujson.Value
	style style
}

var (
	errNoObject  = errors.New("the file holds no object")
	errHuge      = errors.New("the file is larger than 4 MiB")
	errDeep      = errors.New("the file is nested too deeply")
	errDuplicate = errors.New("a key is there twice")
)

// parse reads a file. One with nothing but white space has no root.
func parse(file []byte) (*doc, error) {
	if len(file) > maxBytes {
		return nil, errHuge
	}
	d := &doc{text: file, style: style{newline: "\n", unit: "  ", lines: true}}
	if bytes.HasPrefix(file, bom) {
		d.mark, d.text = file[:len(bom)], file[len(bom):]
	}
	if len(bytes.Trim(d.text, " \t\r\n")) == 0 {
		return d, nil
	}
	if deep(d.text) {
		return nil, errDeep
	}
	root, err := hujson.Parse(d.text)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if root.Value.Kind() != '{' {
		return nil, errNoObject
	}
	for v := range root.All() {
		if o, ok := v.Value.(*hujson.Object); ok && twice(o) {
			return nil, errDuplicate
		}
	}
	d.root = &root
	d.style = styleOf(d.text, &root)
	return d, nil
}

// deep reports whether brackets are nested more than the parser should follow.
func deep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(text):
			i += commentLen(text[i:])
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// commentLen is how many bytes after the first belong to the comment that
// begins here; 0 when none does.
func commentLen(text []byte) int {
	end := ""
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text, []byte("/*")):
		end = "*/"
	default:
		return 0
	}
	if i := bytes.Index(text[2:], []byte(end)); i >= 0 {
		return i + 1 + len(end)
	}
	return len(text)
}

func twice(o *hujson.Object) bool {
	seen := make(map[string]bool, len(o.Members))
	for _, m := range o.Members {
		name := keyOf(m)
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

func keyOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// styleOf guesses how the file is written.
func styleOf(text []byte, root *hujson.Value) style {
	s := style{newline: "\n", unit: "  ", tight: true}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	o := root.Value.(*hujson.Object)
	if len(o.Members) == 0 {
		s.lines, s.tight = true, false
		return s
	}
	for v := range root.All() {
		if v != root && len(v.BeforeExtra) > 0 {
			s.tight = false
			break
		}
	}
	first := string(o.Members[0].Name.BeforeExtra)
	if in, ok := indentIn(first); ok {
		s.lines = true
		if outer := indentAt(text, root.StartOffset); len(in) > len(outer) && strings.HasPrefix(in, outer) {
			s.unit = in[len(outer):]
		}
	}
	return s
}

// indentIn is the indentation that white space before a value gives it.
func indentIn(extra string) (string, bool) {
	i := strings.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	rest := extra[i+1:]
	return rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))], true
}

// indentAt is the indentation of the line at an offset.
func indentAt(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// find gives a member of an object, and its index; -1 when there is none.
func find(v *hujson.Value, key string) (*hujson.Value, int) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, -1
	}
	for i := range o.Members {
		if keyOf(o.Members[i]) == key {
			return &o.Members[i].Value, i
		}
	}
	return nil, -1
}
