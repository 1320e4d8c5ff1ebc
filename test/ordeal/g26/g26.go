//go:build linux

// Package g26 tries to make a state good without the key of an operator, by any route and
// body.
package g26

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
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

func init() { harness.Register("G26", onlyPeopleAndRuns) }

// onlyPeopleAndRuns: nobody but a person or a run of ours makes a state good. Every
// operation that the server describes, and every tool that it offers, is asked with every
// kind of key and with every body that could carry a result.
func onlyPeopleAndRuns(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G26", What: "no key but an operator's makes a state good, by any route and body", Detail: map[string]any{},
		Control: "the same bodies where whoever asks owns the process",
	}
	start := time.Now()
	if err := boasting(r, &v); err != nil {
		v.Fail("%v", err)
	}
	caught, err := boastAtHome(r)
	if err != nil {
		v.Fail("control: %v", err)
	}
	v.Caught, v.Seconds = caught, time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// boaster asks everything, and looks for greens after each operation.
type boaster struct {
	v     *harness.Verdict
	full  bool // keys without the power try every body, too
	h     *serverbed.Hall
	m     *serverbed.Realm
	d     *serverbed.Description
	dice  *serverbed.Dice
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

func boasting(r *harness.Run, v *harness.Verdict) (err error) {
	h, err := serverbed.OpenHall(r, serverbed.HallOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	sink, err := serverbed.NewReceiver(nil)
	if err != nil {
		return err
	}
	b := &boaster{v: v, full: r.Tier == "c", h: h, done: map[string]bool{}, known: map[string]bool{}, people: map[string]bool{}}
	if b.m, err = serverbed.FurnishRealm(h, "alpha", sink); err != nil {
		return err
	}
	if b.d, err = h.Describe(b.m.Keys[retake.KeyReader]); err != nil {
		return err
	}
	if b.dice, err = serverbed.NewDice(1, b.d); err != nil {
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
		a, err := b.h.Must(b.m.Keys[retake.KeyAdmin], http.MethodPost, "/v1/keys", fmt.Sprintf(`{"kind":%q,"name":%q,"workspaces":[%q]}`, kind, name, b.m.Home))
		return boastKey{name: string(kind) + " of one workspace", secret: a.Pick("secret"), kind: kind, scope: b.m.Home}, err
	}
	var keys []boastKey
	for _, kind := range retake.KeyKinds {
		if kind != retake.KeyOperator {
			keys = append(keys, boastKey{name: string(kind), secret: b.m.Keys[kind], kind: kind})
		}
	}
	agent, err := scoped(retake.KeyAgent, ourName)
	if err != nil {
		return nil, err
	}
	person, err := scoped(retake.KeyOperator, "Ada")
	person.vouches = "Ada"
	return append(keys, agent, person, boastKey{name: "operator", secret: b.m.Keys[retake.KeyOperator], kind: retake.KeyOperator, vouches: "first operator"}), err
}

// ourName is what stands for runs of ours; a key that is called so is still a key.
const ourName = "retake"

// everything asks all operations and all tools with one key.
func (b *boaster) everything(k boastKey) error {
	for _, op := range b.d.Ops {
		if op.ID == "events" { // it has no end of its own
			continue
		}
		if err := b.operation(k, op); err != nil {
			return fmt.Errorf("%s: %w", op.ID, err)
		}
	}
	return errors.Join(b.tools(k), b.judge(k, "anything"))
}

func (b *boaster) operation(k boastKey, op serverbed.Operation) error {
	if k.kind.Has(op.Power) {
		if err := b.m.Provide(op.ID); err != nil {
			return fmt.Errorf("provide: %w", err)
		}
	}
	all := b.requests(op)
	if !k.kind.Has(op.Power) && !b.full {
		all = all[:1] // who lacks the power is refused before the body is read
	}
	wrote := false
	for _, q := range all {
		wrote = b.ask(k, op.ID, q).Good() && op.Method != http.MethodGet || wrote
	}
	if !wrote {
		return nil // what was refused is looked for at the end
	}
	return b.judge(k, op.ID)
}

func (b *boaster) ask(k boastKey, what string, q serverbed.Asked) serverbed.Answer {
	b.v.Tried++
	q.Key = k.secret
	a := b.h.Ask(q)
	if a.Good() {
		b.done[what] = true
	}
	return a
}

// requests are those of an operation: as it is meant, and with every body and query that
// could carry a result.
func (b *boaster) requests(op serverbed.Operation) []serverbed.Asked {
	usual := b.m.Request(op)
	out := []serverbed.Asked{usual}
	for _, p := range op.Params {
		if p.In == "query" && boastful(p.Name) {
			for _, said := range boastsOf(p.Name) {
				q := usual
				join := "?"
				if strings.Contains(q.Path, "?") {
					join = "&"
				}
				q.Path += join + p.Name + "=" + queryText(said)
				out = append(out, q)
			}
		}
	}
	if op.ID == "import" {
		return append(out, b.archives()...)
	}
	if op.Body == nil {
		return out
	}
	var base map[string]any
	if json.Unmarshal(usual.Body, &base) != nil {
		base = map[string]any{}
	}
	for _, body := range boasts(b.dice, b.dice.Bodies[op.ID], base) {
		q := usual
		q.Body, _ = json.Marshal(body) // it is made of what JSON has
		out = append(out, q)
	}
	return out
}

// judge looks for greens that this key must not have made.
func (b *boaster) judge(k boastKey, what string) error {
	seen, err := greens(b.h.URL, b.m.Keys[retake.KeyReader])
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
			b.v.Fail("%s with key %q: %s", what, k.name, g)
		}
	}
	return nil
}

// judgeReach fails when the harness did not get where results are stored: what takes a
// result and was answered well by nobody proves nothing.
func (b *boaster) judgeReach() {
	var never []string
	for _, op := range b.d.Ops {
		if op.Power == retake.PowerRecord && !b.done[op.ID] {
			b.v.Fail("%s was answered well by nobody", op.ID)
		}
		if !b.done[op.ID] {
			never = append(never, op.ID)
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
		b.v.Fail("no person vouched for anything")
	}
	b.v.Detail["operations"], b.v.Detail["answered well by nobody"], b.v.Detail["greens of people"] = len(b.d.Ops), never, vouched
	b.v.Detail["done"] = len(slices.Collect(maps.Keys(b.done)))
}
