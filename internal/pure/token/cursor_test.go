package token_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
)

var secret = bytes.Repeat([]byte{7}, 32)

func TestCursor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := token.NewCursors(secret)
		filter, at := rapid.String().Draw(t, "filter"), rapid.String().Draw(t, "at")
		cursor := c.Seal(filter, at)
		if got, err := token.NewCursors(secret).Open(filter, cursor); err != nil || got != at {
			t.Fatalf("opened %q: %v", got, err)
		}
		if strings.ContainsFunc(cursor, func(r rune) bool { return r > 'z' || strings.ContainsRune("+/=&?% ", r) }) {
			t.Fatalf("%q must be encoded in a URL", cursor)
		}
		for name, open := range map[string]func() (string, error){
			"other filter": func() (string, error) { return c.Open(filter+"x", cursor) },
			"other secret": func() (string, error) { return token.NewCursors([]byte("other")).Open(filter, cursor) },
			"own secret":   func() (string, error) { return token.NewCursors(nil).Open(filter, cursor) },
			"line end":     func() (string, error) { return c.Open(filter, cursor+"\n") },
			"longer":       func() (string, error) { return c.Open(filter, cursor+"AAAA") },
			"shorter":      func() (string, error) { return c.Open(filter, cursor[:len(cursor)-1]) },
		} {
			if got, err := open(); !retake.IsKind(err, retake.Invalid) || got != "" {
				t.Fatalf("%s: opened %q: %v", name, got, err)
			}
		}
	})
}

// A byte cannot move between the filter and the place.
func TestCursorBorders(t *testing.T) {
	t.Parallel()
	c := token.NewCursors(secret)
	for _, pair := range [][4]string{{"ab", "c", "a", "bc"}, {"", "abc", "abc", ""}, {"a\x00", "b", "a", "\x00b"}} {
		one, two := c.Seal(pair[0], pair[1]), c.Seal(pair[2], pair[3])
		if one[:21] == two[:21] {
			t.Errorf("%q have the same signature", pair)
		}
	}
}

func TestCursorIsSealedWithACopy(t *testing.T) {
	t.Parallel()
	key := bytes.Clone(secret)
	c := token.NewCursors(key)
	key[0]++
	if at, err := c.Open("f", token.NewCursors(secret).Seal("f", "1")); err != nil || at != "1" {
		t.Errorf("opened %q: %v", at, err)
	}
}

func TestCursorOneChangedCharacter(t *testing.T) {
	t.Parallel()
	c := token.NewCursors(secret)
	cursor := []byte(c.Seal("filter", "2026-01-01/42"))
	for i := range cursor {
		for b := range 256 {
			changed := bytes.Clone(cursor)
			if changed[i] = byte(b); bytes.Equal(changed, cursor) {
				continue
			}
			if at, err := c.Open("filter", string(changed)); err == nil {
				t.Fatalf("%q opens to %q", changed, at)
			}
		}
	}
}

func FuzzCursor(f *testing.F) {
	c := token.NewCursors(secret)
	f.Add("filter", c.Seal("filter", "at"))
	f.Add("", "")
	f.Add("filter", strings.Repeat("A", 5000))
	f.Fuzz(func(t *testing.T, filter, cursor string) {
		at, err := c.Open(filter, cursor)
		if err == nil && c.Seal(filter, at) != cursor {
			t.Errorf("%q opens to %q and is not its cursor", cursor, at)
		}
		if err != nil && !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q: %v", cursor, err)
		}
	})
}
