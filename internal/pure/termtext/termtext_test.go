package termtext_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", ""}, {"plain text, 100 %", "plain text, 100 %"}, {"日本 é 😀 e\u0301 \u00a0x", "日本 é 😀 e\u0301 \u00a0x"},
		{"a\nb", `a\nb`}, {"\t\r\a\b\f\v", `\t\r\a\b\f\v`}, {"\x00", `\x00`}, {"\x1b[31m", `\x1b[31m`}, {"\x7f", `\x7f`},
		{"\u0085", `\u0085`}, {"\u009b", `\u009b`}, {"\u202e", `\u202e`}, {"\u2066\u2069", `\u2066\u2069`}, {"\u200b\u200d", `\u200b\u200d`},
		// X6: what holds an emoji together stays, and is shown anywhere else.
		{"👨\u200d👩\u200d👧 ok", "👨\u200d👩\u200d👧 ok"}, {"🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"}, {"👩🏽\u200d💻", "👩🏽\u200d💻"},
		{"⚠\ufe0f", "⚠\ufe0f"}, {"1\ufe0f\u20e3", "1\ufe0f\u20e3"}, {"🙂\u200d↔\ufe0f", "🙂\u200d↔\ufe0f"},
		{"a\u200db", `a\u200db`}, {"a\u200d👩", `a\u200d👩`}, {"👩\u200d", `👩\u200d`}, {"👩\u200da", `👩\u200da`}, {"👩\u200d\u200d👩", `👩\u200d\u200d👩`},
		{"a\ufe0f", `a\ufe0f`}, {"1\ufe0f", `1\ufe0f`}, {"⚠\ufe0f\ufe0f", "⚠\ufe0f" + `\ufe0f`}, {"\u200c", `\u200c`}, {"é\ufe01", `é\ufe01`}, {"\\\ufe0f", `\\\ufe0f`},
		{"\ufeff", `\ufeff`}, {"\u2028\u2029", `\u2028\u2029`}, {"\u00ad", `\u00ad`}, {"\U000e0041", `\U000e0041`}, {"\u3164", `\u3164`},
		{"\xff", `\xff`}, {"\x80a\xc3", `\x80a\xc3`}, {"\xed\xa0\x80", `\xed\xa0\x80`}, {"\ufffd", "\ufffd"},
		{`C:\Data\1`, `C:\Data\1`}, {`a\`, `a\`}, {`a\ b`, `a\ b`}, {`\é`, `\é`},
		{`a\nb`, `a\\nb`}, {`\x1b`, `\\x1b`}, {`\\`, `\\\`}, {"\\\n", `\\\n`}, {"\\\xff", `\\\xff`}, {`\\n`, `\\\\n`},
	}
	for _, tt := range tests {
		if got := termtext.Escape(tt.in); got != tt.want {
			t.Errorf("Escape(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// safe checks what E1, E2 and E3 promise.
func safe(t interface{ Fatalf(string, ...any) }, s string) {
	got := termtext.Escape(s)
	if !utf8.ValidString(got) {
		t.Fatalf("Escape(%q) is not UTF-8: %q", s, got)
	}
	for i, r := range got {
		if next, _ := utf8.DecodeRuneInString(got[i+utf8.RuneLen(r):]); r == '\u200d' && unicode.In(next, unicode.So, unicode.Sm) {
			continue // inside an emoji
		}
		if unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029' {
			t.Fatalf("Escape(%q) holds %U", s, r)
		}
	}
	if back := unescape(got); back != s {
		t.Fatalf("Escape(%q) = %s, which reads as %q", s, got, back)
	}
	if again := termtext.Escape(got); !strings.Contains(got, `\`) && again != got {
		t.Fatalf("Escape(%q) = %s, and again %s", s, got, again)
	}
}

// unescape reads the forms that Escape documents.
func unescape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if s[0] != '\\' || len(s) == 1 || !strings.ContainsRune(`\abfnrtvxuU`, rune(s[1])) {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if s[1] == 'x' {
			n, err := strconv.ParseUint(s[2:4], 16, 8)
			if err != nil {
				return "not a form: " + s
			}
			b.WriteByte(byte(n))
			s = s[4:]
			continue
		}
		r, _, tail, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			return "not a form: " + s
		}
		b.WriteRune(r)
		s = tail
	}
	return b.String()
}

func TestEscapeIsSafe(t *testing.T) {
	t.Parallel()
	pieces := []string{`\`, `\\`, "n", "x1b", "u202e", "\n", "\x1b", "\xff", "\u202e", "\ufffd", "a", "é", "/"}
	rapid.Check(t, func(t *rapid.T) {
		safe(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), ""))
		safe(t, rapid.String().Draw(t, "text"))
	})
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a", "\\", "\x1b]0;x\a", "\u202etxt.exe", "\xff\xfe", `\\n`, "日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { safe(t, s) })
}

func TestX6_WidthCutPad(t *testing.T) {
	t.Parallel()
	widths := map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "한": 2, "😀": 2, "Ａ": 2, "…": 1, "●○◇→┊│✔✘◌–“”−━": 14, "\xff": 1, "✅": 2, "ｱ": 1,
		"⚠": 1, "⚠\ufe0f": 2, "❤\ufe0f": 2, "1\ufe0f\u20e3": 2, "👍🏽": 2, "नमस्ते": 3, "👨\u200d👩\u200d👧": 2, "🇩🇪": 2, "a\u0301\u0302\u0303": 1,
	}
	for s, want := range widths {
		if got := termtext.Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
	cuts := []struct {
		in    string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abc", 1, "…"}, {"abc", 0, ""}, {"abc", -1, ""}, {"", 0, ""},
		{"⚠\ufe0f⚠\ufe0f", 3, "⚠\ufe0f…"}, {"⚠\ufe0f⚠\ufe0f", 2, "…"}, {"👨\u200d👩\u200d👧x", 2, "…"}, {"👨\u200d👩\u200d👧xy", 3, "👨\u200d👩\u200d👧…"},
		{"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本語", 2, "…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
	}
	for _, tt := range cuts {
		if got := termtext.Cut(tt.in, tt.width); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
	if got := termtext.ASCII.Cut("abcd", 3); got != "ab~" {
		t.Errorf("Cut in ASCII: %q", got)
	}
	if got := termtext.Pad("日", 4) + "|" + termtext.PadLeft("日", 4) + "|" + termtext.Pad("long", 2); got != "日  |  日|long" {
		t.Errorf("Pad: %q", got)
	}
}

// fits checks that text stays in its columns, whatever it is.
func fits(t interface{ Fatalf(string, ...any) }, text string, width int) {
	s := termtext.Escape(text)
	got := termtext.Cut(s, width)
	if termtext.Width(got) > width || !utf8.ValidString(got) {
		t.Fatalf("Cut(%q, %d) = %q", s, width, got)
	}
	if got != s && !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
		t.Fatalf("Cut(%q, %d) = %q", s, width, got)
	}
	if n := termtext.Width(termtext.Pad(got, width)); n != width {
		t.Fatalf("Pad(%q, %d) is %d wide", got, width, n)
	}
	if n := termtext.Width(termtext.Pad(got, width) + "|"); n != width+1 {
		t.Fatalf("what follows %q is pulled into its columns: %d", got, n)
	}
}

func TestX6_CutFits(t *testing.T) {
	t.Parallel()
	parts := []string{"a", "é", "e\u0301", "日", "⚠", "⚠\ufe0f", "\ufe0f", "👨", "\u200d", "👩", "🏽", "🇩", "🇪", "1", "\u20e3", "न", "म", "\u094d", "स", "ते", "ᄀ", "ᅡ", "\u0d4e", "\u202e", "\xff", " "}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 20).Draw(t, "width")
		fits(t, rapid.String().Draw(t, "text"), width)
		fits(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "parts"), ""), width)
	})
}

func FuzzX6_CutFits(f *testing.F) {
	for _, s := range []string{"", "plain", "⚠\ufe0f done", "👨\u200d👩\u200d👧", "नमस्ते", "a\u0301\u0302", "🇩🇪🇫", "\u0d4ea"} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, s string, width int) { fits(t, s, max(width, 0)%200) })
}

func TestGlyphs(t *testing.T) {
	t.Parallel()
	a := termtext.ASCII
	got := strings.Join([]string{a.Point, a.Ring, a.Diamond, a.Arrow, a.Dots, a.Bar, a.Yes, a.No, a.Wait, a.Dash, a.Quote("q"), a.Minus, a.More, a.Fill}, " ")
	if want := `@ o . > : | ok NO .. - "q" - ~ #`; got != want {
		t.Errorf("ASCII: %s, want %s", got, want)
	}
	u := termtext.Unicode
	got = strings.Join([]string{u.Point, u.Ring, u.Diamond, u.Arrow, u.Dots, u.Bar, u.Yes, u.No, u.Wait, u.Dash, u.Quote("q"), u.Minus, u.More, u.Fill}, " ")
	if want := `● ○ ◇ → ┊ │ ✔ ✘ ◌ – “q” − … ━`; got != want {
		t.Errorf("Unicode: %s, want %s", got, want)
	}
}
