//go:build linux

package matrix

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

const placeOwn = "own"

// sweep is one pass over all operations.
type sweep struct {
	*Bed
	Report
	url           string // the server, or what stands in front of it
	full          bool
	dice          *rand.Rand
	told, spoiled map[string]bool       // ids that were sent; those of requests that wrongly succeeded
	only          func(*operation) bool // which operations are asked; nil: all
	turn          int
	provided      string // the operation that there is something for
}

func (b *Bed) newSweep(url string, seed uint64, full bool) *sweep {
	return &sweep{Bed: b, Report: Report{Done: map[string]int{}, Places: map[string]int{}}, url: url, full: full, dice: rand.New(rand.NewPCG(seed, 7)), told: map[string]bool{}, spoiled: map[string]bool{}}
}

// Sweep asks everything, and compares what must not change before and after. A full one asks with all
// forms of all ids in all fields, otherwise the seed picks some.
func (b *Bed) Sweep(seed uint64, full bool) (*Report, error) {
	before, err := b.protected()
	if err != nil {
		return nil, err
	}
	s := b.newSweep(b.hall.URL, seed, full)
	if err := s.run(); err != nil {
		return &s.Report, err
	}
	for _, what := range s.reach(s.Done) {
		s.fail("%s", what)
	}
	after, err := b.protected()
	for _, what := range before.unlike(after) {
		s.fail("changed: %s", what)
	}
	return &s.Report, err
}

// pick is a number for a quick sweep, or the one for a full sweep.
func (s *sweep) pick(quick, full int) int {
	if s.full {
		return full
	}
	return quick
}

// run asks everything, in an order that the seed decides.
func (s *sweep) run() error {
	ops := slices.Clone(s.spec.ops)
	s.dice.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	for _, op := range ops {
		if s.only != nil && !s.only(op) {
			continue
		}
		if err := s.operation(op); err != nil {
			return fmt.Errorf("%s: %w", op.ID, err)
		}
	}
	return nil
}

func (s *sweep) operation(op *operation) error {
	if err := s.provide(op); err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	s.provided = op.ID
	for _, c := range s.pickCallers(op) {
		d, err := s.base(op, c)
		if err != nil {
			return err
		}
		q := question{who: c, op: op, place: placeOwn, draft: d}
		if op.ID == "deinit" && c.limited { // it is about a workspace that was made for this
			q.place, q.alien, q.exact = "beside", true, http.StatusForbidden
		}
		s.ask(q)
	}
	if err := s.elsewhere(op); err != nil {
		return err
	}
	for _, f := range op.fields {
		if err := s.aliens(op, f); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		if err := s.besides(op, f); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	return nil
}

// elsewhere asks about another workspace of the namespace with a key for all.
func (s *sweep) elsewhere(op *operation) error {
	c := s.oneWho(op, false)
	if c == nil || !op.below() || op.writes() {
		return nil
	}
	d, err := s.base(op, c)
	if err != nil {
		return err
	}
	d.path["ws"] = string(s.own.Other)
	s.ask(question{who: c, op: op, place: placeOwn, draft: d})
	return nil
}

// pickCallers returns who asks for an operation: all roles, and of the keys that open nothing those
// whose role has the permission, and some others.
func (s *sweep) pickCallers(op *operation) []*caller {
	var out, rest []*caller
	for i := range s.callers {
		c := &s.callers[i]
		switch {
		case s.full || !c.dead || c.name == noKey:
			out = append(out, c)
		case c.role != "" && s.table[c.role][op.Power] && !slices.ContainsFunc(out, func(o *caller) bool { return o.dead && ending(o) == ending(c) }):
			out = append(out, c)
		default:
			rest = append(rest, c)
		}
	}
	for range min(2, len(rest)) {
		i := s.dice.IntN(len(rest))
		out, rest = append(out, rest[i]), slices.Delete(rest, i, i+1)
	}
	return out
}

// ending is why a key opens nothing.
func ending(c *caller) string {
	_, why, _ := strings.Cut(c.name, ", ")
	return why
}

// oneWho returns a caller that may use an operation, each time the next one.
func (s *sweep) oneWho(op *operation, limited bool) *caller {
	for range s.callers {
		s.turn++
		if c := &s.callers[s.turn%len(s.callers)]; c.limited == limited && s.may(c, op) {
			return c
		}
	}
	return nil
}

// ask sends a request and judges the answer.
func (s *sweep) ask(q question) serverbed.Answer {
	asked := q.draft.ask(q.who.secret)
	asked.Wait = 30 * time.Second
	for k, v := range q.who.header {
		asked.Header[k] = v
	}
	a := serverbed.AskAt(s.url, asked)
	if strings.HasPrefix(q.op.ID, toolPrefix) {
		a = toolStatus(a)
	}
	s.count(q, asked, a)
	if a.Good() && q.op.writes() {
		s.provided = "" // it is used up
	}
	return a
}

// base makes the request that succeeds for who may, with something for it to do.
func (s *sweep) base(op *operation, c *caller) (*draft, error) {
	if s.may(c, op) && s.provided != op.ID {
		if err := s.provide(op); err != nil {
			return nil, fmt.Errorf("provide: %w", err)
		}
		s.provided = op.ID
	}
	if op.extra() {
		return s.draftExtra(op), nil
	}
	d, err := draftOf(op, s.own.Request(op.Operation))
	if err != nil {
		return nil, err
	}
	s.adjust(d, c)
	return d, nil
}

// provide makes what an operation takes away. A namespace has 20 webhooks at most, so old ones go.
func (s *sweep) provide(op *operation) error {
	if strings.HasSuffix(op.ID, "-webhook") {
		for {
			a := s.hall.Ask(serverbed.Asked{Key: s.own.Keys[retake.KeyAdmin], Method: http.MethodGet, Path: "/v1/webhooks?limit=1"})
			id := a.Pick("data.0.id")
			if id == "" || a.Pick("next_cursor") == "" {
				break
			}
			if _, err := s.hall.Must(s.own.Keys[retake.KeyAdmin], http.MethodDelete, "/v1/webhooks/"+id, ""); err != nil {
				return err
			}
		}
	}
	if err := s.own.Provide(op.ID); err != nil || !op.writesFiles() {
		return err
	}
	return errors.Join(s.plantInnerLink(), serverbed.PlantFile(filepath.Join(s.own.Root(), "src", fmt.Sprintf("m%d.txt", s.own.Fresh)), "to be removed"))
}

// adjust completes requests that serverbed does not make as they are needed here.
func (s *sweep) adjust(d *draft, c *caller) {
	if _, ok := d.path["namespace"]; ok {
		d.path["namespace"] = s.mine["child"]
	}
	switch d.op.ID {
	case "operation", "cancel-operation":
		d.path["operation"] = c.operation
		if c.operation == "" {
			d.path["operation"] = s.mine["operation"]
		}
	case "rows":
		d.query.Set("path", "app.db")
		d.query.Set("from", "2")
		d.query.Set("to", "latest")
	case "view-cadence":
		d.query.Set("cron", "0 0 1 1 *")
	case "write-file":
		d.body, d.raw, d.header["Content-Type"] = nil, []byte("written"), "application/octet-stream"
		d.query.Set("path", "src/written.txt")
	case "remove-file":
		d.query.Set("path", fmt.Sprintf("src/m%d.txt", s.own.Fresh))
	}
	s.adjustBody(d)
}

func (s *sweep) adjustBody(d *draft) {
	n := fmt.Sprintf("m%d", s.own.Fresh)
	switch d.op.ID {
	case "view-plan":
		d.body = map[string]any{"course": "restore", "ref": "1"}
	case "fork": // an agent may not choose the directory
		d.body = map[string]any{"ref": "1", "name": n}
	case "apply-restore", "restore":
		d.body["accept"] = []any{"changed", "mass-delete", "held", "git", "overlap", "agent-working", "uncaptured", "database"}
	case "make-schedule":
		d.body = map[string]any{"work": "save", "workspace": s.mine["ws"], "cron": "0 0 1 1 *"}
	case "make-key":
		d.body["workspaces"] = []any{s.mine["ws"]}
	case "make-snapshot":
		d.body["workspace_id"] = s.mine["ws"]
	case "create-namespace":
		d.body = map[string]any{"id": "new-" + n}
	case "set-namespace-limits":
		d.body = map[string]any{"workspaces": 100 + s.own.Fresh}
	case "create-namespace-key":
		d.body = map[string]any{"kind": "reader", "name": n}
	case "purge", "plan-purge":
		d.body = map[string]any{"paths": []any{"src/a.txt"}}
	case "scrub":
		d.body = map[string]any{"share": 0.1}
	}
}
