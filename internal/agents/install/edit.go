package install

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// containerSpan is an object or an array as offsets into the text.
type containerSpan struct {
	open, close int // of its brackets
	items       []spanItem
}

type spanItem struct {
	before     int // where the white space before it begins
	start, end int
	comma      int // after it; -1 when there is none
}

// newContainerSpan returns the offsets of a container and its items.
func newContainerSpan(v *hujson.Value) containerSpan {
	s := containerSpan{open: v.StartOffset, close: v.EndOffset - 1}
	before := s.open + 1
	add := func(start int, last hujson.Value, final bool) {
		it := spanItem{before: before, start: start, end: last.EndOffset, comma: -1}
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

// textPatch replaces some bytes at an offset.
type textPatch struct {
	at, remove int
	insert     string
}

// applyPatches returns the text with the patches applied, in the order of their offsets.
func (d *jsonDoc) applyPatches(patches ...textPatch) []byte {
	slices.SortStableFunc(patches, func(a, b textPatch) int { return a.at - b.at })
	out, done := slices.Clone(d.byteOrderMark), 0
	for _, p := range patches {
		out = append(append(out, d.text[done:p.at]...), p.insert...)
		done = p.at + p.remove
	}
	return append(out, d.text[done:]...)
}

// whitespace is the white space of JSON.
const whitespace = " \t\r\n"

// appendItem adds a last item to a container. What it adds is recognized later by its form
// alone, because nothing else is stored: an empty container that existed before begins with
// a blank line, one that we created does not.
func (d *jsonDoc) appendItem(v *hujson.Value, write func(s jsonStyle, indent string) string) []byte {
	s, st := newContainerSpan(v), d.style
	if len(s.items) == 0 {
		outer := indentAt(d.text, s.open)
		if !st.multiline {
			return d.applyPatches(textPatch{at: s.open + 1, insert: " " + write(st, "")})
		}
		in := outer + st.unit
		return d.applyPatches(textPatch{at: s.open + 1, insert: st.newline + st.newline + in + write(st, in) + st.newline + outer})
	}
	last := s.items[len(s.items)-1]
	in, lines := indentAfterNewline(string(d.text[last.before:last.start]))
	sep := st.newline + in
	if st.multiline = lines; !lines {
		sep = st.separator()
	}
	at := last.end
	if last.comma >= 0 {
		at = last.comma + 1
	}
	// A comment at the end of the line stays with its line.
	kept := bytes.TrimRight(d.text[at:s.close], whitespace)
	if !lines && endsInLineComment(kept) {
		kept = nil
	}
	put := textPatch{at: at + len(kept), insert: sep + write(st, in)}
	if last.comma >= 0 {
		put.insert += ","
		return d.applyPatches(put)
	}
	return d.applyPatches(textPatch{at: last.end, insert: ","}, put)
}

// replaceValue replaces a value in place.
func (d *jsonDoc) replaceValue(v *hujson.Value, value string) []byte {
	return d.applyPatches(textPatch{at: v.StartOffset, remove: v.EndOffset - v.StartOffset, insert: value})
}

// pathStep is a container and the index of the item that holds the next one.
type pathStep struct {
	container *hujson.Value
	index     int
}

// removeItem removes the innermost item, and each container around it that we created and
// that holds nothing else. gone means that not even the root is left.
func (d *jsonDoc) removeItem(chain []pathStep) (text []byte, gone bool) {
	for _, l := range slices.Backward(chain) {
		s := newContainerSpan(l.container)
		if m := d.emptyContainer(s); m != nil {
			return d.applyPatches(m...), false
		}
		if len(s.items) > 1 || d.hasComments(s) {
			return d.applyPatches(d.cutItem(s, l.index)...), false
		}
	}
	return nil, true
}

// cutItem returns the patches that remove an item with its comma and the white space before
// it.
func (d *jsonDoc) cutItem(s containerSpan, i int) []textPatch {
	it := s.items[i]
	before := d.text[it.before:it.start]
	kept := bytes.TrimRight(before, whitespace)
	from := it.before + len(kept)
	follows := it.end
	var patches []textPatch
	switch {
	case it.comma >= 0:
		patches = append(patches, textPatch{at: it.comma, remove: 1})
		if it.comma == it.end {
			follows++
		}
	case i > 0:
		patches = append(patches, textPatch{at: s.items[i-1].comma, remove: 1})
	}
	// What follows a comment to the end of its line would become part of it.
	put := ""
	if endsInLineComment(kept) && !bytes.HasPrefix(bytes.TrimPrefix(d.text[follows:], []byte("\r")), []byte("\n")) {
		put = d.style.newline
	}
	return append(patches, textPatch{at: from, remove: it.end - from, insert: put})
}

// hasComments reports whether a container has comments beside its only item.
func (d *jsonDoc) hasComments(s containerSpan) bool {
	it := s.items[0]
	after := d.text[it.end:s.close]
	if it.comma >= 0 {
		after = slices.Concat(d.text[it.end:it.comma], d.text[it.comma+1:s.close])
	}
	return len(bytes.Trim(d.text[it.before:it.start], whitespace)) > 0 || len(bytes.Trim(after, whitespace)) > 0
}

// emptyContainer returns the patches that empty a container which existed before us. It
// returns nil if we created it, or if it holds more than one item.
func (d *jsonDoc) emptyContainer(s containerSpan) []textPatch {
	it, st := s.items[0], d.style
	before := string(d.text[it.before:it.start])
	if len(s.items) > 1 || strings.Trim(before, whitespace) != "" {
		return nil
	}
	var patches []textPatch
	end := it.end
	if it.comma >= 0 {
		patches = append(patches, textPatch{at: it.comma, remove: 1})
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
	return append(patches, textPatch{at: it.before, remove: end - it.before})
}

// endsInLineComment reports whether white space and comments end inside a // comment.
func endsInLineComment(extra []byte) bool {
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
