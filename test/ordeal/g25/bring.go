//go:build linux

package g25

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/playbed"
)

// kindOf tells by its name what a path of a history is.
func kindOf(path string) string {
	switch {
	case path == ".git" || strings.HasPrefix(path, ".git/"):
		return "git"
	case strings.HasSuffix(path, ".db") || strings.HasSuffix(path, ".db-wal"):
		return "database"
	case strings.HasPrefix(path, "dist/") || strings.HasSuffix(path, ".log"):
		return "output"
	}
	return "text"
}

func moving(path string) bool { k := kindOf(path); return k == "database" || k == "output" }

// amongNamed reports whether a path is one of those that were named, or lies below one.
func amongNamed(path string, named []string) bool {
	return len(named) == 0 || slices.ContainsFunc(named, func(q string) bool { return path == q || strings.HasPrefix(path, q+"/") })
}

// bringing is a three-way change: what want changed of base comes into now, where nobody
// changed it since.
type bringing struct {
	now, base, want playbed.World
	side            string // what names of side copies end in
	git             bool   // repositories too
	named           []string
	steady          bool // what programs wrote on stays
	edits           bool // for a control: what changed since gives way

	after playbed.World
	left  []string // differs from what is wanted, and stays
	put   map[string]string
	sides map[string]playbed.Thing
}

// bring gives the files as they are afterwards.
func (b *bringing) bring() playbed.World {
	b.after, b.left, b.put, b.sides = maps.Clone(b.now), nil, map[string]string{}, map[string]playbed.Thing{}
	all := maps.Clone(b.now)
	maps.Copy(all, b.base)
	maps.Copy(all, b.want)
	var gone, leave []string
	for _, p := range all.Paths() {
		switch {
		case slices.ContainsFunc(gone, func(d string) bool { return strings.HasPrefix(p, d+"/") }), !b.chosen(p):
		case p == ".git" && !b.git && b.now.Has(p) && !slices.Contains(b.named, p):
			if gone = append(gone, p); b.repoDiffers() {
				b.left = append(b.left, p)
			}
		case !all[p].Dir:
			b.file(p)
		case b.base.Has(p) && b.want.Has(p) && !b.now.Has(p): // it went meanwhile
			gone = append(gone, p)
			b.leftBelow(p)
		case b.base.Has(p) && !b.want.Has(p) && b.now.Has(p):
			leave = append(leave, p)
		case !b.base.Has(p) && b.want.Has(p) && !b.now.Has(p):
			b.after[p] = b.want[p]
		}
	}
	b.wholeDatabases()
	b.apply()
	for _, p := range slices.Backward(leave) {
		if !b.after.Full(p) {
			delete(b.after, p)
		}
	}
	return b.after
}

func (b *bringing) idle() bool { return len(b.now.Differs(b.after)) == 0 }

func (b *bringing) chosen(p string) bool {
	u := b.unit(p)
	return amongNamed(p, b.named) || u != "" && (slices.Contains(b.named, u) || slices.Contains(b.named, u+"-wal") || amongNamed(u, b.named))
}

func (b *bringing) repoDiffers() bool {
	for p := range mergedKeys(b.base, b.want) {
		if strings.HasPrefix(p, ".git") && b.base[p] != b.want[p] {
			return true
		}
	}
	return false
}

func mergedKeys(a, b playbed.World) playbed.World {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// leftBelow notes what does not come because its directory went.
func (b *bringing) leftBelow(dir string) {
	for p := range mergedKeys(b.base, b.want) {
		if strings.HasPrefix(p, dir+"/") && b.base[p] != b.want[p] && b.want.Has(p) {
			b.left = append(b.left, dir)
			return
		}
	}
}

// unit is the database that a file belongs to, when it has its log beside it now or then.
func (b *bringing) unit(p string) string {
	u := strings.TrimSuffix(p, "-wal")
	if kindOf(p) != "database" || !b.now.Has(u) && !b.want.Has(u) || !b.now.Has(u+"-wal") && !b.want.Has(u+"-wal") {
		return ""
	}
	return u
}

// file decides about one file.
func (b *bringing) file(p string) {
	now, base, want := b.now[p], b.base[p], b.want[p]
	switch {
	case base == want && b.base.Has(p) == b.want.Has(p): // nobody asks
		if now != base {
			b.put[p] = "moved"
		}
	case b.steady && kindOf(p) == "output" && b.now.Has(p) && b.want.Has(p):
		b.put[p] = "left"
	case now == base && b.now.Has(p) == b.base.Has(p), b.edits:
		b.put[p] = "wanted"
	case now == want && b.now.Has(p) == b.want.Has(p):
	case !b.want.Has(p), !b.now.Has(p), moving(p):
		b.put[p] = "left"
	default:
		if text, ok := mergedText(now.Text, base.Text, want.Text); ok && b.base.Has(p) {
			b.put[p] = "merged"
			b.sides[p] = playbed.Thing{Mode: now.Mode, Text: text}
			return
		}
		if b.put[p] = "left"; kindOf(p) != "git" {
			b.sides[p] = want
		}
	}
}

// wholeDatabases leaves all files of a database when one of them stays.
func (b *bringing) wholeDatabases() {
	stays := map[string]bool{}
	for p, what := range b.put {
		if u := b.unit(p); what == "left" {
			stays[strings.TrimSuffix(p, "-wal")] = true
		} else if what == "moved" && u != "" {
			stays[u] = true
		}
	}
	for p, what := range b.put {
		if u := b.unit(p); u != "" && stays[u] && what == "wanted" {
			b.put[p] = "left"
		}
	}
}

func (b *bringing) apply() {
	for _, p := range slices.Sorted(maps.Keys(b.put)) {
		switch b.put[p] {
		case "wanted":
			b.set(p)
		case "merged":
			b.after[p] = b.sides[p]
		case "left":
			b.left = append(b.left, p)
			if t, ok := b.sides[p]; ok {
				playbed.Beside(b.after, b.now, p+b.side, t)
			}
		}
	}
}

// set makes a path what is wanted, with the directories that it needs.
func (b *bringing) set(p string) {
	if !b.want.Has(p) {
		delete(b.after, p)
		return
	}
	for i, c := range p {
		if c == '/' && !b.after.Has(p[:i]) {
			b.after[p[:i]] = b.want[p[:i]]
		}
	}
	b.after[p] = b.want[p]
}

// mergedText merges two changes of a text, part by part.
func mergedText(now, base, want string) (string, bool) {
	path, n, ok1 := slotsOf(now)
	_, b, ok2 := slotsOf(base)
	_, w, ok3 := slotsOf(want)
	if !ok1 || !ok2 || !ok3 {
		return "", false
	}
	for i := range n {
		switch {
		case n[i] == b[i]:
			n[i] = w[i]
		case w[i] != b[i] && n[i] != w[i]:
			return "", false
		}
	}
	return textOf(path, n), true
}

// restoring is now as it was then, but for a repository that is there and not named. A
// database comes with its log.
func restoring(now, then playbed.World, named []string) playbed.World {
	b := &bringing{now: now, want: then}
	for _, p := range slices.Clone(named) {
		if u := b.unit(p); u != "" {
			named = append(named, u, u+"-wal")
		}
	}
	out := playbed.Restored(now, then, named)
	if !now.Has(".git") || slices.Contains(named, ".git") {
		return out
	}
	for p := range mergedKeys(now, out) {
		if kindOf(p) != "git" {
			continue
		}
		if delete(out, p); now.Has(p) {
			out[p] = now[p]
		}
	}
	return out
}

// firstDifferences are few enough to be read.
func firstDifferences(want, got playbed.World) error {
	if d := want.Differs(got); len(d) > 0 {
		return fmt.Errorf("%s", strings.Join(d[:min(4, len(d))], "; "))
	}
	return nil
}
