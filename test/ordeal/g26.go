//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

func init() { register("G26", onlyPeopleAndRuns) }

// onlyPeopleAndRuns: nobody but a person or a run of ours makes a state good. Every
// operation that the server describes, and every tool that it offers, is asked with every
// kind of key and with every body that could carry a result.
func onlyPeopleAndRuns(r *run) []verdict {
	v := verdict{
		Guarantee: "G26", What: "no key but an operator's makes a state good, by any route and body", Detail: map[string]any{},
		Control: "the same bodies where whoever asks owns the process",
	}
	start := time.Now()
	if err := boasting(r, &v); err != nil {
		v.fail("%v", err)
	}
	caught, err := boastAtHome(r)
	if err != nil {
		v.fail("control: %v", err)
	}
	v.Caught, v.Seconds = caught, time.Since(start).Seconds()
	return []verdict{v}
}

// boaster asks everything, and looks for greens after each operation.
type boaster struct {
	v     *verdict
	full  bool // keys without the power try every body, too
	h     *hall
	m     *realm
	d     *description
	dice  *dice
	done  map[string]bool // operations and tools that some key was answered well
	known map[string]bool // greens that were told already

	people map[string]bool // names under which people vouch
}

// boastKey is who asks. vouches is the name under which a person's results are stored;
// "": nothing this key says may be green.
type boastKey struct {
	name, secret, vouches string
	kind                  retake.KeyKind
	scope                 retake.WorkspaceID
}

func boasting(r *run, v *verdict) (err error) {
	h, err := openHall(r, hallOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	sink, err := newReceiver(nil)
	if err != nil {
		return err
	}
	b := &boaster{v: v, full: r.tier == "c", h: h, done: map[string]bool{}, known: map[string]bool{}, people: map[string]bool{}}
	if b.m, err = furnishRealm(h, "alpha", sink); err != nil {
		return err
	}
	if b.d, err = h.describe(b.m.keys[retake.KeyReader]); err != nil {
		return err
	}
	if b.dice, err = newDice(1, b.d); err != nil {
		return err
	}
	keys, err := b.makeKeys()
	if err != nil {
		return err
	}
	for _, k := range keys {
		b.people[k.vouches] = k.vouches != ""
	}
	for _, k := range keys {
		if err := b.everything(k); err != nil {
			return fmt.Errorf("key %s: %w", k.name, err)
		}
	}
	b.messages(sink, keys)
	b.judgeReach()
	return nil
}

// makeKeys orders those that may not vouch before those that may, so that no green of a
// person hides one that is forbidden.
func (b *boaster) makeKeys() ([]boastKey, error) {
	scoped := func(kind retake.KeyKind, name string) (boastKey, error) {
		a, err := b.h.must(b.m.keys[retake.KeyAdmin], http.MethodPost, "/v1/keys", fmt.Sprintf(`{"kind":%q,"name":%q,"workspaces":[%q]}`, kind, name, b.m.home))
		return boastKey{name: string(kind) + " of one workspace", secret: a.pick("secret"), kind: kind, scope: b.m.home}, err
	}
	var keys []boastKey
	for _, kind := range retake.KeyKinds {
		if kind != retake.KeyOperator {
			keys = append(keys, boastKey{name: string(kind), secret: b.m.keys[kind], kind: kind})
		}
	}
	agent, err := scoped(retake.KeyAgent, ourName)
	if err != nil {
		return nil, err
	}
	person, err := scoped(retake.KeyOperator, "Ada")
	person.vouches = "Ada"
	return append(keys, agent, person, boastKey{name: "operator", secret: b.m.keys[retake.KeyOperator], kind: retake.KeyOperator, vouches: "first operator"}), err
}

// ourName is what stands for runs of ours; a key that is called so is still a key.
const ourName = "retake"

// everything asks all operations and all tools with one key.
func (b *boaster) everything(k boastKey) error {
	for _, op := range b.d.ops {
		if op.id == "events" { // it has no end of its own
			continue
		}
		if err := b.operation(k, op); err != nil {
			return fmt.Errorf("%s: %w", op.id, err)
		}
	}
	return errors.Join(b.tools(k), b.judge(k, "anything"))
}

func (b *boaster) operation(k boastKey, op operation) error {
	if k.kind.Has(op.power) {
		if err := b.m.provide(op.id); err != nil {
			return fmt.Errorf("provide: %w", err)
		}
	}
	all := b.requests(op)
	if !k.kind.Has(op.power) && !b.full {
		all = all[:1] // who lacks the power is refused before the body is read
	}
	wrote := false
	for _, q := range all {
		wrote = b.ask(k, op.id, q).good() && op.method != http.MethodGet || wrote
	}
	if !wrote {
		return nil // what was refused is looked for at the end
	}
	return b.judge(k, op.id)
}

func (b *boaster) ask(k boastKey, what string, q asked) answer {
	b.v.Tried++
	q.key = k.secret
	a := b.h.ask(q)
	if a.good() {
		b.done[what] = true
	}
	return a
}

// requests are those of an operation: as it is meant, and with every body and query that
// could carry a result.
func (b *boaster) requests(op operation) []asked {
	usual := b.m.request(op)
	out := []asked{usual}
	for _, p := range op.params {
		if p.In == "query" && boastful(p.Name) {
			for _, said := range boastsOf(p.Name) {
				q := usual
				join := "?"
				if strings.Contains(q.path, "?") {
					join = "&"
				}
				q.path += join + p.Name + "=" + queryText(said)
				out = append(out, q)
			}
		}
	}
	if op.id == "import" {
		return append(out, b.archives()...)
	}
	if op.body == nil {
		return out
	}
	var base map[string]any
	if json.Unmarshal(usual.body, &base) != nil {
		base = map[string]any{}
	}
	for _, body := range b.dice.boasts(b.dice.bodies[op.id], base) {
		q := usual
		q.body, _ = json.Marshal(body) // it is made of what JSON has
		out = append(out, q)
	}
	return out
}

// judge looks for greens that this key must not have made.
func (b *boaster) judge(k boastKey, what string) error {
	seen, err := greens(b.h.url, b.m.keys[retake.KeyReader])
	if err != nil {
		return err
	}
	for _, g := range seen {
		if b.known[g.id] {
			continue
		}
		b.known[g.id] = true
		allowed := k.vouches != "" && g.by == k.vouches
		if !g.result { // a state is good by whoever vouched for that content before
			allowed = k.vouches != "" && b.people[g.by]
		}
		if !allowed {
			b.v.fail("%s with key %q: %s", what, k.name, g)
		}
	}
	return nil
}

// judgeReach fails when the harness did not get where results are stored: what takes a
// result and was answered well by nobody proves nothing.
func (b *boaster) judgeReach() {
	var never []string
	for _, op := range b.d.ops {
		if op.power == retake.PowerRecord && !b.done[op.id] {
			b.v.fail("%s was answered well by nobody", op.id)
		}
		if !b.done[op.id] {
			never = append(never, op.id)
		}
	}
	slices.Sort(never)
	vouched := 0
	for id := range b.known {
		if strings.HasPrefix(id, "vf_") {
			vouched++
		}
	}
	if vouched == 0 {
		b.v.fail("no person vouched for anything")
	}
	b.v.Detail["operations"], b.v.Detail["answered well by nobody"], b.v.Detail["greens of people"] = len(b.d.ops), never, vouched
	b.v.Detail["done"] = len(slices.Collect(maps.Keys(b.done)))
}
