package xray

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Text encodings in the header of a database. SQLite sorts texts by their encoded bytes.
const (
	encodingUTF16LE = 2
	encodingUTF16BE = 3
)

// chooseTextOrder chooses how text keys are ordered. If the two encodings differ, there is
// no common order.
func (c *rowComparison) chooseTextOrder(p *tablePairing) error {
	var scripts [2]byte
	for side, s := range c.sides {
		if p.tables[side] != "" && s.db.encoding > 1 {
			scripts[side] = s.db.encoding
		}
	}
	for side, other := range []int{1, 0} {
		if p.tables[side] == "" {
			scripts[side] = scripts[other]
		}
	}
	switch {
	case scripts[0] != scripts[1]:
		p.compareText = nil
	case scripts[0] == encodingUTF16LE:
		p.compareText = func(a, b string) int { return bytes.Compare(utf16Bytes(a, 0), utf16Bytes(b, 0)) }
	case scripts[0] == encodingUTF16BE:
		p.compareText = func(a, b string) int { return bytes.Compare(utf16Bytes(a, 8), utf16Bytes(b, 8)) }
	}
	return nil
}

// utf16Bytes encodes a text as UTF-16; shift selects the byte that comes first.
func utf16Bytes(s string, shift int) []byte {
	units := utf16.Encode([]rune(s))
	out := make([]byte, 0, 2*len(units))
	for _, u := range units {
		out = append(out, byte(u>>shift), byte(u>>(8-shift)))
	}
	return out
}

// valueClass returns the rank of a value's storage class in SQLite's sort order.
func valueClass(v any) int {
	switch v.(type) {
	case nil:
		return 0
	case int64, float64:
		return 1
	case string:
		return 2
	}
	return 3
}

// compareValues compares two key values as SQLite does.
func (p *tablePairing) compareValues(a, b any) (int, error) {
	if c := cmp.Compare(valueClass(a), valueClass(b)); c != 0 {
		return c, nil
	}
	switch a := a.(type) {
	case nil:
		return 0, nil
	case string:
		if p.compareText == nil {
			return 0, reasonMixedEncodings
		}
		return p.compareText(a, b.(string)), nil
	case []byte:
		return bytes.Compare(a, b.([]byte)), nil
	}
	return compareNumbers(a, b), nil
}

// compareNumbers compares integers and floats without losing precision.
func compareNumbers(a, b any) int {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y)
		case float64:
			return compareIntFloat(x, y)
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return -compareIntFloat(y, x)
		case float64:
			return cmp.Compare(x, y)
		}
	}
	return 0
}

func compareIntFloat(n int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	if c := cmp.Compare(n, int64(f)); c != 0 {
		return c
	}
	return cmp.Compare(0, f-math.Trunc(f))
}

// sameValue reports whether two values have the same storage class and the same bytes.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	default:
		if _, ok := b.([]byte); ok {
			return false
		}
		return a == b
	}
}

// maxSecretScan is how much of a text is searched for secrets: more than is ever shown.
const maxSecretScan = 4 * kilo

// cellValue returns a value as it is shown to people. The name of its column may mark it as
// a secret.
func cellValue(column string, v any) retake.CellValue {
	switch v := v.(type) {
	case nil:
		return retake.CellValue{Kind: retake.CellNull, Text: "NULL"}
	case int64:
		return retake.CellValue{Kind: retake.CellInteger, Text: strconv.FormatInt(v, 10)}
	case float64:
		return retake.CellValue{Kind: retake.CellReal, Text: floatText(v)}
	case []byte:
		unit := " bytes"
		if len(v) == 1 {
			unit = " byte"
		}
		return retake.CellValue{Kind: retake.CellBlob, Text: termtext.Count(int64(len(v))) + unit}
	case string:
		return textCell(column, v)
	}
	return retake.CellValue{Kind: retake.CellNone}
}

// floatText formats a float so that it cannot be mistaken for an integer.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.Trim(s, "-0123456789") == "" {
		s += ".0"
	}
	return s
}

// textCell shortens and masks a text value.
func textCell(column, s string) retake.CellValue {
	text, rest := s, 0
	if len(text) > maxSecretScan {
		text, rest = text[:maxSecretScan], utf8.RuneCountInString(text[maxSecretScan:])
	}
	text = maskCell(column, strings.ToValidUTF8(text, "�"))
	n := 0
	for i := range text {
		if n == maxCellChars {
			return retake.CellValue{Kind: retake.CellText, Text: text[:i], More: int64(utf8.RuneCountInString(text[i:]) + rest)}
		}
		n++
	}
	return retake.CellValue{Kind: retake.CellText, Text: text, More: int64(rest)}
}

// maskCell masks likely secrets: values that look like one, and values whose column name
// says so.
func maskCell(column, s string) string {
	head, tail := column+`="`, `"`
	masked, kinds := secrets.Mask(head + s + tail)
	if len(kinds) == 0 {
		return s
	}
	if inner, ok := strings.CutPrefix(masked, head); ok {
		return strings.TrimSuffix(inner, tail)
	}
	masked, _ = secrets.Mask(s)
	return masked
}
