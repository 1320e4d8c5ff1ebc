package token_test

import (
	"crypto/sha256"
	"hash/crc32"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
)

var shape = regexp.MustCompile(`^rtk_([a-z]+)_[a-z2-7]{26}[0-9A-Za-z]{6}$`)

func TestNew(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range retake.KeyKinds {
		for range 200 {
			secret, digest, tail := token.New(kind)
			if m := shape.FindStringSubmatch(secret); m == nil || m[1] != string(kind) {
				t.Fatalf("%s has another shape", secret)
			}
			if digest != sha256.Sum256([]byte(secret)) || len(tail) != 4 || !strings.HasSuffix(secret, tail) {
				t.Fatalf("digest or tail of %s", secret)
			}
			if seen[secret] {
				t.Fatalf("%s comes twice", secret)
			}
			seen[secret] = true
			if k, d, ok := token.Parse(secret); !ok || k != kind || d != digest {
				t.Fatalf("%s is read as %q, %t", secret, k, ok)
			}
		}
	}
}

// Of many keys every place holds every symbol: nothing is fixed, nothing is left out.
func TestNewUsesAllSymbols(t *testing.T) {
	t.Parallel()
	var seen [26]map[byte]bool
	for range 2000 {
		secret, _, _ := token.New(retake.KeyAgent)
		for i, c := range []byte(secret[len("rtk_agent_"):][:26]) {
			if seen[i] == nil {
				seen[i] = map[byte]bool{}
			}
			seen[i][c] = true
		}
	}
	for i, m := range seen {
		if len(m) != 32 {
			t.Errorf("place %d holds %d symbols", i, len(m))
		}
	}
}

// Keys that were given out must be read by every later version.
func TestParseKnown(t *testing.T) {
	t.Parallel()
	const known = "rtk_agent_abcdefghijklmnopqrstuvwxyz15AR0Z"
	if kind, digest, ok := token.Parse(known); !ok || kind != retake.KeyAgent || digest != sha256.Sum256([]byte(known)) {
		t.Errorf("%s is read as %q, %t", known, kind, ok)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	good, _, _ := token.New(retake.KeyAgent)
	other, _, _ := token.New("owner") // no kind, with the right checksum
	for _, s := range []string{
		"", "rtk_", "rtk_agent_", good[:len(good)-1], good + "a", " " + good, good + " ", good + "\n", strings.ToUpper(good), strings.Replace(good, "agent", "admin", 1),
		strings.Replace(good, "rtk_", "rtx_", 1), strings.Replace(good, "_agent_", "__", 1), other, good + good,
	} {
		if kind, digest, ok := token.Parse(s); ok || kind != "" || digest != [32]byte{} {
			t.Errorf("%q is read as %q, %t", s, kind, ok)
		}
	}
}

// A right checksum does not make symbols ours.
func TestParseLooksAtEverySymbol(t *testing.T) {
	t.Parallel()
	for i := range 26 {
		for b := range 256 {
			body := []byte(strings.Repeat("a", 26))
			body[i] = byte(b)
			text := "rtk_reader_" + string(body)
			ours := b >= 'a' && b <= 'z' || b >= '2' && b <= '7'
			if _, _, ok := token.Parse(text + sum(text)); ok != ours {
				t.Fatalf("%q is read: %t", text, ok)
			}
		}
	}
}

func sum(text string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out := ""
	for n := crc32.ChecksumIEEE([]byte(text)); len(out) < 6; n /= 62 {
		out = digits[n%62:][:1] + out
	}
	return out
}

func TestOneChangedCharacter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret, _, _ := token.New(rapid.SampledFrom(retake.KeyKinds).Draw(t, "kind"))
		i := rapid.IntRange(0, len(secret)-1).Draw(t, "place")
		b := []byte(secret)
		if b[i] = rapid.Byte().Draw(t, "byte"); string(b) == secret {
			t.Skip("nothing was changed")
		}
		if _, _, ok := token.Parse(string(b)); ok {
			t.Fatalf("%q is read, changed from %q", b, secret)
		}
	})
}

func TestCount(t *testing.T) {
	t.Parallel()
	a, _, _ := token.New(retake.KeyAgent)
	b, _, _ := token.New(retake.KeyMaintainer)
	for text, want := range map[string]int{
		"":                             0,
		"rtk_rtk_rtk_":                 0,
		a:                              1,
		a + b:                          2,
		"x" + a + "x":                  1,
		"rtk_" + a:                     1,
		"rtk_agent_" + b:               1,
		a[:len(a)-1]:                   0,
		`{"key":"` + a + `","b":"` + b: 2,
		a + "\x00" + a + "\n" + a:      3,
		strings.ToUpper(a):             0,
	} {
		if got := token.CountKeys([]byte(text)); got != want {
			t.Errorf("%q holds %d, want %d", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, kind := range retake.KeyKinds {
		secret, _, _ := token.New(kind)
		f.Add(secret)
	}
	f.Add("rtk_agent_")
	f.Fuzz(func(t *testing.T, s string) {
		kind, digest, ok := token.Parse(s)
		n := token.CountKeys([]byte(s))
		if !ok {
			if kind != "" || digest != [32]byte{} {
				t.Errorf("%q is refused and read", s)
			}
			return
		}
		if m := shape.FindStringSubmatch(s); m == nil || m[1] != string(kind) || !kind.Has(retake.PowerNone) || n != 1 {
			t.Errorf("%q is read as %q, and holds %d", s, kind, n)
		}
	})
}
