package merge_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/pure/merge"
)

func TestLines(t *testing.T) {
	t.Parallel()
	clean := func(theirs, yours, first int) merge.Report {
		return merge.Report{Theirs: theirs, Yours: yours, FirstLine: first}
	}
	for _, c := range []struct {
		name                string
		base, yours, theirs string
		want                string // of a conflict: empty
		rep                 merge.Report
	}{
		{"nothing", "", "", "", "", clean(0, 0, 0)},
		{"nobody", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n", clean(0, 0, 0)},
		{"only yours", "a\nb\nc\n", "a\nY\nc\n", "a\nb\nc\n", "a\nY\nc\n", clean(0, 1, 2)},
		{"only theirs", "a\nb\nc\n", "a\nb\nc\n", "a\nT\nc\n", "a\nT\nc\n", clean(1, 0, 0)},
		{"far apart", "a\nb\nc\nd\n", "Y\nb\nc\nd\n", "a\nb\nc\nT\n", "Y\nb\nc\nT\n", clean(1, 1, 1)},
		{"one line between", "a\nb\nc\n", "Y\nb\nc\n", "a\nb\nT\n", "Y\nb\nT\n", clean(1, 1, 1)},
		{"yours moves down", "a\nb\nc\n", "a\nb\nY\n", "T1\nT2\na\nb\nc\n", "T1\nT2\na\nb\nY\n", clean(1, 1, 5)},
		{"yours takes away", "a\nb\nc\nd\n", "a\nc\nd\n", "a\nb\nc\nT\n", "a\nc\nT\n", clean(1, 1, 2)},
		{"several places", "a\nb\nc\nd\ne\nf\ng\n", "Y\nb\nc\nd\nY\nf\ng\n", "a\nb\nT\nd\ne\nf\nT\n", "Y\nb\nT\nd\nY\nf\nT\n", clean(2, 2, 1)},
		{"the same in both", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", "a\nB\nc\n", clean(0, 0, 0)},
		{"the same, and more", "a\nb\nc\nd\ne\n", "a\nB\nc\nd\nY\n", "a\nB\nc\nd\ne\n", "a\nB\nc\nd\nY\n", clean(0, 1, 5)},
		{"the same into nothing", "", "a\n", "a\n", "a\n", clean(0, 0, 0)},
		{"both empty it", "a\nb\n", "", "", "", clean(0, 0, 0)},
		{"yours empties it", "a\nb\n", "", "a\nb\n", "", clean(0, 1, 1)},
		{"same line", "a\nb\nc\n", "a\nY\nc\n", "a\nT\nc\n", "", merge.Report{Conflicts: 1}},
		{"touching lines", "a\nb\n", "Y\nb\n", "a\nT\n", "", merge.Report{Conflicts: 1}},
		{"added at one place", "a\nb\n", "a\nY\nb\n", "a\nT\nb\n", "", merge.Report{Conflicts: 1}},
		{"added before what is changed", "a\nb\n", "a\nY\nb\n", "a\nT\n", "", merge.Report{Conflicts: 1}},
		{"added into what is gone", "a\nb\nc\nd\n", "a\nb\nY\nc\nd\n", "a\nd\n", "", merge.Report{Conflicts: 1}},
		{"conflict and clean", "a\nb\nc\nd\ne\n", "Y\nb\nY\nd\ne\n", "T\nb\nc\nd\nT\n", "", merge.Report{Theirs: 1, Yours: 1, Conflicts: 1}},
		{"one in three is chained", "a\nb\nc\nd\n", "Y\nb\nY\nd\n", "a\nT\nc\nd\n", "", merge.Report{Conflicts: 1}},
		{"no newline at the end", "a\nb\nc", "Y\nb\nc", "a\nb\nc", "Y\nb\nc", clean(0, 1, 1)},
		{"newline taken", "a\nb\nc\n", "a\nb\nc", "T\nb\nc\n", "T\nb\nc", clean(1, 1, 3)},
		{"newline given and line changed", "a\nb", "a\nb\n", "a\nT", "", merge.Report{Conflicts: 1}},
		{"added after no newline", "a\nb\nc", "a\nb\nc\nY", "T\nb\nc", "T\nb\nc\nY", clean(1, 1, 3)},
		{"carriage returns", "a\r\nb\r\nc\r\n", "Y\r\nb\r\nc\r\n", "a\r\nb\r\nT\r\n", "Y\r\nb\r\nT\r\n", clean(1, 1, 1)},
		{"other line ends are other lines", "a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\nT\nc\n", "", merge.Report{Conflicts: 1}},
		{"not UTF-8", "\xff\n\xfe\n\xfd\n", "\xf0\n\xfe\n\xfd\n", "\xff\n\xfe\n\xf1\n", "\xf0\n\xfe\n\xf1\n", clean(1, 1, 1)},
		{"no line ends at all", "abc", "abcd", "abc", "abcd", clean(0, 1, 1)},
		{"one of equal lines goes, beside what is added", "x\n3\n3\n3\n0\n", "x\n3\n3\n1\n3\n0\n", "x\n3\n3\n0\n", "", merge.Report{Conflicts: 1}},
		{"replaced among equal lines is no second removal", "6\n5\n5\n5\n0\n", "6\n1\n5\n5\n0\n", "6\n5\n5\n0\nT\n", "6\n1\n5\n0\nT\n", clean(2, 1, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, rep, ok := merge.Lines([]byte(c.base), []byte(c.yours), []byte(c.theirs))
			if d := cmp.Diff(c.rep, rep); d != "" {
				t.Errorf("report (-want +got):\n%s", d)
			}
			if ok != (c.rep.Conflicts == 0) || string(out) != c.want || !ok && out != nil {
				t.Errorf("got %q, %v, want %q", out, ok, c.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		b    []byte
		want bool
	}{
		"nothing":       {nil, true},
		"plain":         {[]byte("a\n"), true},
		"not UTF-8":     {[]byte{0xff, 0xfe, '\n'}, true},
		"NUL":           {[]byte("a\x00b\n"), false},
		"NUL at end":    {[]byte("a\n\x00"), false},
		"4 MiB":         {bytes.Repeat([]byte("x"), 4<<20), true},
		"more bytes":    {bytes.Repeat([]byte("x"), 4<<20+1), false},
		"262,143 lines": {bytes.Repeat([]byte("\n"), 1<<18-1), true},
		"more lines":    {bytes.Repeat([]byte("\n"), 1<<18), false},
	} {
		if got := merge.IsText(c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is no text is not merged, whoever has it, also when nothing changed.
func TestNoText(t *testing.T) {
	t.Parallel()
	text, other := []byte("a\n"), []byte("a\x00\n")
	for i := range 3 {
		v := [][]byte{text, text, text}
		v[i] = other
		if out, rep, ok := merge.Lines(v[0], v[1], v[2]); ok || out != nil || rep != (merge.Report{}) {
			t.Errorf("%d: %q %+v %v", i, out, rep, ok)
		}
	}
	if _, _, ok := merge.Lines(other, other, other); ok {
		t.Error("merged")
	}
}

// Long texts take the quick way, which must tell the same where lines are told apart.
func TestLongText(t *testing.T) {
	t.Parallel()
	var b, y, u, want strings.Builder
	for i := range 60_000 {
		line := strings.Repeat("x", i%50) + "\n"
		if i%3 == 0 {
			line = strings.Repeat("x", i%7) + string(rune('a'+i%26)) + itoa(i) + "\n"
		}
		b.WriteString(line)
		switch i % 1000 {
		case 500:
			y.WriteString("yours " + line)
			want.WriteString("yours " + line)
			u.WriteString(line)
		case 900:
			u.WriteString("theirs " + line)
			want.WriteString("theirs " + line)
			y.WriteString(line)
		default:
			y.WriteString(line)
			u.WriteString(line)
			want.WriteString(line)
		}
	}
	out, rep, ok := merge.Lines([]byte(b.String()), []byte(y.String()), []byte(u.String()))
	if !ok || string(out) != want.String() || rep != (merge.Report{Theirs: 60, Yours: 60, FirstLine: 501}) {
		t.Errorf("%v %+v, %d bytes", ok, rep, len(out))
	}
}

func itoa(i int) string {
	var d []byte
	for ; i > 0; i /= 10 {
		d = append(d, byte('0'+i%10))
	}
	return string(d)
}

// Texts that are made to take long end soon, in one way or the other.
func TestHostile(t *testing.T) {
	t.Parallel()
	empty := bytes.Repeat([]byte("\n"), 1<<18-1)
	long := bytes.Repeat([]byte("x"), 4<<20)
	split := bytes.Join([][]byte{empty[:1<<16], {'x', '\n'}, empty[:1<<15], {'y', '\n'}, empty[:1<<16]}, nil)
	for name, c := range map[string]struct {
		base, yours, theirs []byte
		ok                  bool
	}{
		"equal lines":             {empty, empty[:1000], empty[:2000], false},
		"equal lines, one side":   {empty, split, empty, true},
		"equal lines, both":       {empty, split, split, true},
		"one long line":           {long, long[1:], long, true},
		"one long line, both":     {long, long[1:], long[2:], false},
		"two lines in any order":  {noise(1, 2), noise(2, 2), noise(3, 2), false},
		"ten lines in any order":  {noise(1, 10), noise(2, 10), noise(3, 10), false},
		"many lines in any order": {noise(1, 100_000), noise(2, 100_000), noise(3, 100_000), false},
		"short against long":      {noise(1, 3)[:2000], noise(2, 3), noise(3, 3), false},
		"long against short":      {noise(1, 3), noise(2, 3)[:2000], noise(3, 3)[:4000], false},
	} {
		out, _, ok := merge.Lines(c.base, c.yours, c.theirs)
		if ok != c.ok || ok && bytes.Equal(c.base, c.theirs) && !bytes.Equal(out, c.yours) {
			t.Errorf("%s: ok is %v, %d bytes", name, ok, len(out))
		}
	}
}

// noise is as many lines as a text may have, of kinds kinds, in an order that does
// not repeat.
func noise(seed uint64, kinds uint64) []byte {
	var b bytes.Buffer
	for range 1<<18 - 1 {
		seed = seed*6364136223846793005 + 1442695040888963407
		b.WriteString(itoa(int(seed >> 33 % kinds)))
		b.WriteByte('\n')
	}
	return b.Bytes()
}
