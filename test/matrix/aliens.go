//go:build linux

package matrix

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// aliens asks for an operation with ids of the other namespace in one field: the one that belongs
// there, in several forms, and ids of other kinds.
func (s *sweep) aliens(op *operation, f field) error {
	kind, named := op.kind(f), op.named(f)
	if kind == "" && op.writes() && !s.full { // it only would be stored as text
		return nil
	}
	ids := s.bait
	if named || kind == "cursor" {
		ids = s.theirs
	}
	right := s.valueFor(op, f, ids, kind)
	if kind != "path" { // the same path is in every workspace
		if err := s.alien(op, f, plain, right); err != nil {
			return err
		}
	}
	for _, fm := range s.someForms(op, f) {
		if err := s.alien(op, f, fm, right); err != nil {
			return err
		}
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(ids)), func(k string) bool {
		return k == kind || k == "path" || kind == "" || kind == "path" || kind == "taken"
	})
	s.dice.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	for _, k := range others[:min(len(others), s.pick(1, 5))] {
		if err := s.alien(op, f, form{name: "of kind " + k, apply: plain.apply}, ids[k]); err != nil {
			return err
		}
	}
	return nil
}

// valueFor picks the id for a field. A fork goes to a directory that is not there yet.
func (s *sweep) valueFor(op *operation, f field, ids map[string]string, kind string) string {
	switch {
	case kind == "":
		return ids["ws"]
	case kind == "dir" && op.ID == "fork":
		return filepath.Join(ids["dir"], "taken")
	}
	return ids[kind]
}

// dirForms are ways to name a directory of another namespace.
var dirForms = []form{
	written("by climbing", func(own, _ string) string { return own + "/../../../" + otherName + "/files/default" }),
	written("through a link", func(own, _ string) string { return filepath.Dir(own) + "/" + linkName }),
	written("below a link", func(own, _ string) string { return filepath.Dir(own) + "/" + linkName + "/src" }),
}

const linkName = "to-elsewhere"

// pathForms are ways to name a file of another namespace in a workspace.
func (b *Bed) pathForms() []form {
	file := otherName + ".txt"
	up := "../../../" + otherName + "/files/default/" + file
	return []form{
		written("by climbing", func(_, _ string) string { return up }),
		written("by climbing from below", func(_, _ string) string { return "src/../" + up }),
		written("from the root", func(_, _ string) string { return filepath.Join(b.theirs["dir"], file) }),
		written("through a link", func(_, _ string) string { return linkName + "/" + file }),
		written("through a link, new", func(_, _ string) string { return linkName + "/new/x.txt" }),
		written("the link itself", func(_, _ string) string { return linkName + "/." }),
	}
}

// plantLinks makes links from the files of the first namespace to those of the other, as a program
// with access to the files could. What a link says is stored and shown, so it leads over another
// one that does not say where it goes.
func (b *Bed) plantLinks() error {
	over := filepath.Join(b.hall.Dir, linkName)
	return errors.Join(os.Symlink(b.theirs["dir"], over), os.Symlink(over, filepath.Join(b.hall.Files(ownName), linkName)))
}

// plantInnerLink makes such a link in a workspace. A restore takes it away.
func (b *Bed) plantInnerLink() error {
	link := filepath.Join(b.mine["dir"], linkName)
	return errors.Join(os.RemoveAll(link), os.Symlink(filepath.Join(b.hall.Dir, linkName), link))
}

// someForms picks the forms for a field: all in a full run, otherwise one.
func (s *sweep) someForms(op *operation, f field) []form {
	all := slices.DeleteFunc(slices.Clone(forms), func(fm form) bool { return !fm.fits(f) || fm.tells && !op.named(f) })
	switch kind := op.kind(f); {
	case kind == "taken": // other names are free
		return nil
	case kind == "path":
		return s.pathForms()
	case kind == "dir" && op.named(f):
		all = append(all, dirForms...)
	}
	if s.full {
		return all
	}
	i := s.dice.IntN(len(all))
	return all[i : i+1]
}

// alien asks with one id in one form, as somebody who may use the operation. Some requests are
// repeated as somebody who may not.
func (s *sweep) alien(op *operation, f field, fm form, theirs string) error {
	who := s.oneWho(op, false)
	if who == nil {
		return fmt.Errorf("no role has the permission %s", op.Power)
	}
	q, err := s.prepare(op, f, fm, who, theirs)
	if err != nil {
		return err
	}
	a := s.ask(q)
	if fm.name == plain.name && op.named(f) && op.kind(f) != "taken" {
		nowhere := elsewhere(op.kind(f), theirs)
		p, err := s.prepare(op, f, fm, who, nowhere)
		if err != nil {
			return err
		}
		p.place = "nowhere in " + f.String()
		if b := s.ask(p); !a.Good() && !b.Good() {
			if diff := sameRefusal(a, b, theirs, nowhere); diff != "" {
				s.fail("%s as %s, %s: the answer tells that it exists: %s", op.ID, who.name, q.place, diff)
			}
		}
	}
	if s.dice.IntN(s.pick(4, 2)) > 0 {
		return nil
	}
	q.who = &s.callers[s.dice.IntN(len(s.callers))]
	q.odd = q.odd || strings.HasPrefix(op.ID, toolPrefix) // a tool looks for the workspace first
	if !s.may(q.who, op) {
		s.ask(q)
	}
	return nil
}

// prepare makes the request with one field replaced.
func (s *sweep) prepare(op *operation, f field, fm form, who *caller, theirs string) (question, error) {
	d, err := s.base(op, who)
	if err != nil {
		return question{}, err
	}
	s.suit(d, f)
	own := s.valueFor(op, f, s.mine, op.kind(f))
	fm.apply(d, f, own, theirs)
	named := op.named(f) || op.ID == "make-schedule" && f.name == "workspace" && d.body["work"] == "save"
	return question{
		who: who, op: op, draft: d, place: fmt.Sprintf("theirs in %s, %s", f, fm.name),
		alien: named && !fm.mild, odd: f.in == "path" && fm.name != plain.name,
	}, nil
}

// suit changes the other fields of a request so that this one counts.
func (s *sweep) suit(d *draft, f field) {
	switch f.name {
	case "fork":
		d.body["course"] = "adopt"
		delete(d.body, "ref")
	case "dir_raw":
		delete(d.body, "dir")
	case "name_raw":
		delete(d.body, "name")
	case "paths_raw":
		delete(d.body, "paths")
	case "workspace":
		if d.op.ID == "make-schedule" {
			d.body["work"] = []string{"save", "drill", "retain"}[s.dice.IntN(3)]
		}
	case "session":
		if _, ok := d.body["course"]; ok {
			d.body["course"] = "undo"
			delete(d.body, "ref")
		}
	case "from": // it is read with hunks alone
		if _, ok := d.body["course"]; ok {
			d.body["course"], d.body["ref"], d.body["paths"] = "undo", "3", []any{"src/a.txt"}
			d.body["hunks"] = []any{map[string]any{"old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 1}}
		}
	}
}

// elsewhere turns an id into one that nobody has.
func elsewhere(kind, id string) string {
	switch kind {
	case "dir":
		return strings.Replace(id, "/ns/"+otherName+"/", "/ns/nobody/", 1)
	case "pin", "namespace", "child":
		return strings.Replace(id, otherName, "nobody", 1)
	}
	return id[:len(id)-8] + "00000000"
}

// besides asks with ids of the caller's own namespace that the key is not for: another workspace,
// or an operation that another key began.
func (s *sweep) besides(op *operation, f field) error {
	kind := op.kind(f)
	if !op.named(f) || kind == "path" {
		return nil
	}
	if kind == "operation" {
		return s.notBegun(op, f)
	}
	if who := s.oneWho(op, true); who == nil || !op.below() || s.beside[kind] == s.mine[kind] {
		return nil
	}
	all := append(s.someForms(op, f), plain)
	for _, fm := range slices.DeleteFunc(all, func(fm form) bool {
		return slices.ContainsFunc(dirForms, func(d form) bool { return d.name == fm.name })
	}) {
		who := s.oneWho(op, true)
		q, err := s.prepare(op, f, fm, who, s.valueFor(op, f, s.beside, kind))
		if err != nil {
			return err
		}
		q.place = fmt.Sprintf("beside in %s, %s", f, fm.name)
		if f.in == "path" && f.name == "ws" && fm.name == plain.name {
			q.exact = http.StatusForbidden
		}
		s.ask(q)
	}
	return nil
}

// notBegun asks for an operation that the agent began, with all other keys.
func (s *sweep) notBegun(op *operation, f field) error {
	for i := range s.callers {
		who := &s.callers[i]
		if who.dead || who.secret == s.callers[0].secret {
			continue
		}
		q, err := s.prepare(op, f, plain, who, s.callers[0].operation)
		if err != nil {
			return err
		}
		q.place, q.exact = "begun by another key", http.StatusNotFound
		s.ask(q)
	}
	return nil
}
