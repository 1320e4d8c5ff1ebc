package install

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// span is an object or an array as offsets into the text.
type span struct {
	open, close int // of its brackets
	items       []item
}

type item struct {
	before     int // where the white space before it begins
	start, end int
	comma      int // after it; -1 when there is none
}

func spread(v *hujson.Value) span {
	s := span{open: v.StartOffset, close: v.EndOffset - 1}
	before := s.open + 1
	add := func(start int, last hujson.Value, final bool) {
		it := item{before: before, start: start, end: last.EndOffset, comma: -1}
		if !final || last.AfterExtra != nil {
			it.comma = it.end + len(last.AfterExtra)
			before = it.comma + 1
		}
		s.items = append(s.items, it)
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i, m := range c.Members {
			add(m.Name.StartOffset, m.Value, i == len(c.Members)-1)
		}
	case *hujson.Array:
		for i, e := range c.Elements {
			add(e.StartOffset, e, i == len(c.Elements)-1)
		}
	}
	return s
}

// patch is bytes that come to an offset, in place of some that go.
type patch struct {
	at, cut int
	put     string
}

func (d *doc) apply(patches ...patch) []byte {
	slices.SortStableFunc(patches, func(a, b patch) int { return a.at - b.at })
	out, done := slices.Clone(d.mark), 0
	for _, p := range patches {
		out = append(append(out, d.text[done:p.at]...), p.put...)
		done = p.at + p.cut
	}
	return append(out, d.text[done:]...)
}

// blank is white space.
const blank = " \t\r\n"

// add puts a new last item into a container. What it adds is found again by its
// form alone, because nothing else remembers it: an empty container that was
// there before begins with a blank line, one that we made does not.
func (d *doc) add(v *hujson.Value, write func(s style, indent string) string) []byte {
	s, st := spread(v), d.style
	if len(s.items) == 0 {
		outer := indentAt(d.text, s.open)
		if !st.lines {
			return d.apply(patch{at: s.open + 1, put: " " + write(st, "")})
		}
		in := outer + st.unit
		return d.apply(patch{at: s.open + 1, put: st.newline + st.newline + in + write(st, in) + st.newline + outer})
	}
	last := s.items[len(s.items)-1]
	in, lines := indentIn(string(d.text[last.before:last.start]))
	sep := st.newline + in
	if st.lines = lines; !lines {
		sep = st.gap()
	}
	at := last.end
	if last.comma >= 0 {
		at = last.comma + 1
	}
	// A comment at the end of the line stays with its line.
	kept := bytes.TrimRight(d.text[at:s.close], blank)
	if !lines && endsInLine(kept) {
		kept = nil
	}
	put := patch{at: at + len(kept), put: sep + write(st, in)}
	if last.comma >= 0 {
		put.put += ","
		return d.apply(put)
	}
	return d.apply(patch{at: last.end, put: ","}, put)
}

// replace puts another value where one is.
func (d *doc) replace(v *hujson.Value, value string) []byte {
	return d.apply(patch{at: v.StartOffset, cut: v.EndOffset - v.StartOffset, put: value})
}

// link is a container and the index of the item that holds the next one.
type link struct {
	in    *hujson.Value
	index int
}

// drop takes the innermost item away, and with it each container that we made
// for it and that holds nothing else. gone means that not even the root stays.
func (d *doc) drop(chain []link) (text []byte, gone bool) {
	for _, l := range slices.Backward(chain) {
		s := spread(l.in)
		if m := d.marked(s); m != nil {
			return d.apply(m...), false
		}
		if len(s.items) > 1 || d.busy(s) {
			return d.apply(d.cut(s, l.index)...), false
		}
	}
	return nil, true
}

// cut takes an item out of a container with its comma and the white space before.
func (d *doc) cut(s span, i int) []patch {
	it := s.items[i]
	before := d.text[it.before:it.start]
	kept := bytes.TrimRight(before, blank)
	from := it.before + len(kept)
	follows := it.end
	var patches []patch
	switch {
	case it.comma >= 0:
		patches = append(patches, patch{at: it.comma, cut: 1})
		if it.comma == it.end {
			follows++
		}
	case i > 0:
		patches = append(patches, patch{at: s.items[i-1].comma, cut: 1})
	}
	// What follows a comment to the end of its line would become part of it.
	put := ""
	if endsInLine(kept) && !bytes.HasPrefix(bytes.TrimPrefix(d.text[follows:], []byte("\r")), []byte("\n")) {
		put = d.style.newline
	}
	return append(patches, patch{at: from, cut: it.end - from, put: put})
}

// busy reports whether a container holds comments beside its only item.
func (d *doc) busy(s span) bool {
	it := s.items[0]
	after := d.text[it.end:s.close]
	if it.comma >= 0 {
		after = slices.Concat(d.text[it.end:it.comma], d.text[it.comma+1:s.close])
	}
	return len(bytes.Trim(d.text[it.before:it.start], blank)) > 0 || len(bytes.Trim(after, blank)) > 0
}

// marked gives the patches that empty a container which was there before us;
// nil when we made it, or when it holds more.
func (d *doc) marked(s span) []patch {
	it, st := s.items[0], d.style
	before := string(d.text[it.before:it.start])
	if len(s.items) > 1 || strings.Trim(before, blank) != "" {
		return nil
	}
	var patches []patch
	end := it.end
	if it.comma >= 0 {
		patches = append(patches, patch{at: it.comma, cut: 1})
	}
	switch {
	case strings.HasPrefix(before, st.newline+st.newline):
		tail := st.newline + indentAt(d.text, s.open)
		if it.comma < 0 && bytes.HasPrefix(d.text[end:s.close], []byte(tail)) {
			end += len(tail)
		}
	case before != " ":
		return nil
	}
	return append(patches, patch{at: it.before, cut: end - it.before})
}

// endsInLine reports whether white space and comments end inside a comment that
// only the end of the line ends.
func endsInLine(extra []byte) bool {
	for i := 0; i < len(extra); i++ {
		if extra[i] != '/' {
			continue
		}
		n := commentLen(extra[i:])
		if i+n >= len(extra) && bytes.HasPrefix(extra[i:], []byte("//")) {
			return true
		}
		i += n
	}
	return false
}
