package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

const (
	maxFileSize = 4 << 20
	maxDepth    = 500 // the parser recurses, and a project's file is not ours
)

var bom = []byte("\xef\xbb\xbf")

// jsonDoc is a file with its syntax tree. The tree is used for its offsets only: what is
// written back is the original text with patches.
type jsonDoc struct {
	byteOrderMark []byte // byte order mark
	text          []byte // without it
	root          *hujson.Value
	style         jsonStyle
}

var (
	errNoObject  = errors.New("the file holds no object")
	errTooLarge  = errors.New("the file is larger than 4 MiB")
	errTooDeep   = errors.New("the file is nested too deeply")
	errDuplicate = errors.New("a key is there twice")
)

// parseDoc parses a file. One that has only white space has no root.
func parseDoc(file []byte) (*jsonDoc, error) {
	if len(file) > maxFileSize {
		return nil, errTooLarge
	}
	d := &jsonDoc{text: file, style: jsonStyle{newline: "\n", unit: "  ", multiline: true}}
	if bytes.HasPrefix(file, bom) {
		d.byteOrderMark, d.text = file[:len(bom)], file[len(bom):]
	}
	if len(bytes.Trim(d.text, " \t\r\n")) == 0 {
		return d, nil
	}
	if isTooDeep(d.text) {
		return nil, errTooDeep
	}
	root, err := hujson.Parse(d.text)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if root.Value.Kind() != '{' {
		return nil, errNoObject
	}
	for v := range root.All() {
		if o, ok := v.Value.(*hujson.Object); ok && hasDuplicateKey(o) {
			return nil, errDuplicate
		}
	}
	d.root = &root
	d.style = detectStyle(d.text, &root)
	return d, nil
}

// isTooDeep reports whether brackets are nested deeper than the recursive parser should
// follow.
func isTooDeep(text []byte) bool {
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

// commentLen returns how many bytes after the first belong to the comment that begins here,
// or 0 if none does.
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

func hasDuplicateKey(o *hujson.Object) bool {
	seen := make(map[string]bool, len(o.Members))
	for _, m := range o.Members {
		name := memberKey(m)
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

func memberKey(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// detectStyle guesses how the file is formatted.
func detectStyle(text []byte, root *hujson.Value) jsonStyle {
	s := jsonStyle{newline: "\n", unit: "  ", tight: true}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	o := root.Value.(*hujson.Object)
	if len(o.Members) == 0 {
		s.multiline, s.tight = true, false
		return s
	}
	for v := range root.All() {
		if v != root && len(v.BeforeExtra) > 0 {
			s.tight = false
			break
		}
	}
	first := string(o.Members[0].Name.BeforeExtra)
	if in, ok := indentAfterNewline(first); ok {
		s.multiline = true
		if outer := indentAt(text, root.StartOffset); len(in) > len(outer) && strings.HasPrefix(in, outer) {
			s.unit = in[len(outer):]
		}
	}
	return s
}

// indentAfterNewline returns the indentation in the white space before a value, and whether
// it contains a newline.
func indentAfterNewline(extra string) (string, bool) {
	i := strings.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	rest := extra[i+1:]
	return rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))], true
}

// indentAt returns the indentation of the line at an offset.
func indentAt(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// findMember returns a member of an object, and its index, or nil and -1.
func findMember(v *hujson.Value, key string) (*hujson.Value, int) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, -1
	}
	for i := range o.Members {
		if memberKey(o.Members[i]) == key {
			return &o.Members[i].Value, i
		}
	}
	return nil, -1
}
