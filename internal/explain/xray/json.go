package xray

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/retake-dev/retake"
)

func readJSON(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	if err := newSettingCollector(l).parseJSON(in.data); err != nil {
		return nil, err
	}
	return l.traits, nil
}

const reasonNotJSON failReason = "is not JSON"

// parseJSON reads token by token, so that deep nesting cannot exhaust the stack.
func (f *settingCollector) parseJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(stripJSONExtras(data)))
	d.UseNumber()
	if err := f.parseJSONValue(d); err != nil {
		return asReason(err, reasonNotJSON)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return reasonNotJSON
	}
	return nil
}

// asReason returns the failReason in err, or instead if there is none.
func asReason(err error, instead failReason) error {
	var w failReason
	if errors.As(err, &w) {
		return w
	}
	return instead
}

func (f *settingCollector) parseJSONValue(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return f.parseJSONContainer(d, t == '{')
	case string:
		return f.addLeaf(t, true)
	default:
		return f.addLeaf(scalarText(t), false)
	}
}

// parseJSONContainer reads the rest of an object or an array, up to its closing bracket.
func (f *settingCollector) parseJSONContainer(d *json.Decoder, object bool) error {
	for i := 0; d.More(); i++ {
		key := strconv.Itoa(i)
		if object {
			t, err := d.Token()
			if err != nil {
				return err
			}
			name, ok := t.(string)
			if !ok {
				return reasonNotJSON
			}
			key = name
		}
		if err := f.pushKey(key); err != nil {
			return err
		}
		if err := f.parseJSONValue(d); err != nil {
			return err
		}
		f.popKey()
	}
	_, err := d.Token()
	return err
}

// stripJSONExtras replaces what people add to JSON by blanks: a byte order mark, comments,
// trailing commas. Strings stay as they are, and so does the length.
func stripJSONExtras(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if json.Valid(data) {
		return data
	}
	out := bytes.Clone(data)
	comma := -1 // the last one with nothing but blanks behind it
	for i := 0; i < len(out); {
		end := i + 1
		switch c := out[i]; {
		case c == '"':
			end, comma = stringEnd(out, i), -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end = commentEnd(out, i)
			blankBytes(out[i:end])
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c > ' ':
			comma = -1
		}
		i = end
	}
	return out
}

// stringEnd returns the index after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// commentEnd returns the index after the comment that begins at i.
func commentEnd(b []byte, i int) int {
	end, more := "\n", 0
	if b[i+1] == '*' {
		end, more = "*/", 2
	}
	n := bytes.Index(b[i+2:], []byte(end))
	if n < 0 {
		return len(b)
	}
	return i + 2 + n + more
}

func blankBytes(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}
