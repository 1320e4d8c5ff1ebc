//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

func init() { register("G12", agentsOnlyAdd) }

// agentsOnlyAdd: an agent key adds history and never removes, rewrites, hides, expires or
// re-dates it.
func agentsOnlyAdd(r *run) []verdict {
	out := []verdict{everyDoor(r, ""), agentFuzz(r, ""), filling(r)}
	return onPostgres(r, out, everyDoor, agentFuzz)
}

// onPostgres adds the rows of the same ordeals on Postgres, each on a database of its
// own, where there is one.
func onPostgres(r *run, out []verdict, ordeals ...func(*run, string) verdict) []verdict {
	for _, f := range ordeals {
		dsn, err := postgresFor(r)
		if err != nil {
			v := verdict{What: "start Postgres"}
			v.fail("%v", err)
			return append(out, v)
		}
		if dsn == "" {
			return out
		}
		v := f(r, dsn)
		v.What += ", on Postgres"
		out = append(out, v)
	}
	return out
}

// doors is one pass over all operations with all keys.
type doors struct {
	v            *verdict
	h            *hall
	m, foreign   *realm
	d            *description
	keys         []doorKey
	before       state
	stamp        string
	well         map[string]bool
	badly        map[string]string // operations that no key got a good answer to
	refusals     int
	changedByOwn map[string]bool
}

// doorKey is somebody who asks.
type doorKey struct {
	name   string
	secret string
	kind   retake.KeyKind // "": lets nobody in
	scope  retake.WorkspaceID
}

func everyDoor(r *run, dsn string) verdict {
	v := verdict{
		Guarantee: "G12", What: "every operation with every key: allowed exactly by its power", Detail: map[string]any{},
		Control: "the same requests with a key that may: the change is seen",
	}
	start := time.Now()
	d, err := openDoors(r, &v, dsn)
	if err != nil {
		v.fail("%v", err)
		return v
	}
	for _, op := range d.d.ops {
		if err := d.try(op); err != nil {
			v.fail("%s: %v", op.id, err)
		}
	}
	d.sideways()
	for _, id := range d.d.silent {
		v.fail("%s does not say which power it needs", id)
	}
	v.Caught = int64(len(d.changedByOwn))
	for id := range d.well {
		delete(d.badly, id)
	}
	v.Detail["operations"], v.Detail["keys"], v.Detail["refusals"] = len(d.d.ops), len(d.keys)+1, d.refusals
	v.Detail["allowed and done"], v.Detail["allowed and not possible"] = len(d.well), d.badly
	if err := d.h.close(); err != nil {
		v.fail("close: %v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

func openDoors(r *run, v *verdict, dsn string) (*doors, error) {
	h, err := openHall(r, hallOptions{postgres: dsn})
	if err != nil {
		return nil, err
	}
	sink, err := newReceiver(nil)
	if err != nil {
		return nil, err
	}
	d := &doors{v: v, h: h, well: map[string]bool{}, badly: map[string]string{}, changedByOwn: map[string]bool{}}
	if d.m, err = furnishRealm(h, "alpha", sink); err != nil {
		return nil, err
	}
	if d.foreign, err = furnishRealm(h, "beta", sink); err != nil {
		return nil, err
	}
	if d.d, err = h.describe(d.m.keys[retake.KeyReader]); err != nil {
		return nil, err
	}
	return d, d.makeKeys()
}

// makeKeys makes one of every sort, and waits until those that ended let nobody in.
func (d *doors) makeKeys() error {
	for _, k := range retake.KeyKinds {
		d.keys = append(d.keys, doorKey{name: string(k), secret: d.m.keys[k], kind: k})
	}
	var errs []error
	key := func(name, body string) doorKey {
		a, err := d.h.must(d.m.keys[retake.KeyAdmin], http.MethodPost, "/v1/keys", body)
		errs = append(errs, err)
		d.m.names["key"] = a.pick("key.id")
		return doorKey{name: name, secret: a.pick("secret")}
	}
	expired := key("expired", fmt.Sprintf(`{"kind":"admin","name":"soon over","expires":%q}`, time.Now().Add(2*time.Second).Format(time.RFC3339Nano)))
	for _, kind := range []retake.KeyKind{retake.KeyAgent, retake.KeyOperator, retake.KeyAdmin} {
		k := key(string(kind)+" of one workspace", fmt.Sprintf(`{"kind":%q,"name":"scoped","workspaces":[%q]}`, kind, d.m.home))
		k.kind, k.scope = kind, d.m.home
		d.keys = append(d.keys, k)
	}
	revoked := key("revoked", `{"kind":"operator","name":"ends"}`)
	if a := d.h.ask(asked{key: revoked.secret, method: http.MethodGet, path: "/v1/about"}); !a.good() {
		errs = append(errs, fmt.Errorf("a new key: %s", a.say()))
	}
	_, err := d.h.must(d.m.keys[retake.KeyAdmin], http.MethodDelete, "/v1/keys/"+d.m.names["key"], "")
	errs = append(errs, err)
	for _, k := range []doorKey{revoked, expired} {
		if !await(func() bool {
			return d.h.ask(asked{key: k.secret, method: http.MethodGet, path: "/v1/about"}).status == http.StatusUnauthorized
		}) {
			errs = append(errs, fmt.Errorf("a key that is %s lets somebody in", k.name))
		}
	}
	wrong := d.m.keys[retake.KeyAdmin][:len(d.m.keys[retake.KeyAdmin])-1] + "~"
	d.keys = append(d.keys, revoked, expired, doorKey{name: "none"}, doorKey{name: "wrong", secret: wrong}, doorKey{name: "no secret", secret: "admin"})
	return errors.Join(errors.Join(errs...), d.m.provide("revoke-key"))
}

// look takes the state again after something was allowed to change it.
func (d *doors) look() error {
	if !d.h.settled() {
		return errors.New("the server does not come to rest")
	}
	d.stamp = d.h.rows.stamp()
	var err error
	d.before, err = d.h.state(d.m.ns)
	return err
}

// same says whether nothing changed since look, and what did.
func (d *doors) same() []string {
	files, err := d.h.listing(d.m.ns)
	if err != nil {
		return []string{err.Error()}
	}
	now := state{d.before.rows, files}
	if stamp := d.h.rows.stamp(); stamp != d.stamp {
		if now, err = d.h.state(d.m.ns); err != nil {
			return []string{err.Error()}
		}
		d.stamp = stamp
	}
	return d.before.unlike(now)
}

// try asks one operation with every key: first those that may not, then those that may.
func (d *doors) try(op operation) error {
	if err := d.m.provide(op.id); err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	if err := d.look(); err != nil {
		return err
	}
	q := d.m.request(op)
	for _, k := range d.keys {
		if !k.may(op, q) {
			d.refused(op, k, q)
		}
	}
	d.abroad(op, q)
	for _, k := range d.keys {
		if !k.may(op, q) {
			continue
		}
		if err := errors.Join(d.m.provide(op.id), d.look()); err != nil {
			return fmt.Errorf("provide: %w", err)
		}
		d.allowed(op, k, d.m.request(op))
	}
	return nil
}

// may says what the description says.
func (k doorKey) may(op operation, q asked) bool {
	if k.kind == "" || op.power == "" || !k.kind.Has(op.power) {
		return false
	}
	return k.scope == "" || op.power == retake.PowerNone || strings.HasPrefix(q.path, "/v1/workspaces/"+string(k.scope)+"/") || q.path == "/v1/workspaces/"+string(k.scope)
}

func (d *doors) refused(op operation, k doorKey, q asked) {
	d.v.Tried++
	d.refusals++
	q.key = k.secret
	a := d.h.ask(q)
	want := http.StatusForbidden
	if k.kind == "" {
		want = http.StatusUnauthorized
	}
	if a.status != want {
		d.v.fail("%s with key %q: want %d: %s", op.id, k.name, want, a.say())
	}
	if diff := d.again(q); len(diff) > 0 {
		d.v.fail("%s with key %q was refused and changed %s", op.id, k.name, diff[0])
	}
}

// again says what a request changed. The server works by itself, too: what changed is
// the request's when it changes again, after a rest.
func (d *doors) again(q asked) []string {
	if len(d.same()) == 0 {
		return nil
	}
	if err := d.rest(); err != nil {
		return []string{err.Error()}
	}
	d.h.ask(q)
	return d.same()
}

// rest waits until nothing changes any more.
func (d *doors) rest() error {
	for range 20 {
		if err := d.look(); err != nil {
			return err
		}
		quiet := time.NewTimer(700 * time.Millisecond)
		<-quiet.C
		if len(d.same()) == 0 {
			return nil
		}
	}
	return errors.New("the server does not come to rest")
}

// abroad asks with a key of another namespace that has the power there.
func (d *doors) abroad(op operation, q asked) {
	at := slices.IndexFunc(retake.KeyKinds, func(k retake.KeyKind) bool { return k.Has(op.power) && op.power != retake.PowerNone })
	if at < 0 {
		return
	}
	void := d.m.nowhere(q)
	if void.path == q.path && string(void.body) == string(q.body) {
		return // it is about that namespace alone
	}
	d.v.Tried++
	q.key, void.key = d.foreign.keys[retake.KeyKinds[at]], d.foreign.keys[retake.KeyKinds[at]]
	a, b := d.h.ask(q), d.h.ask(void)
	if a.status != b.status || a.good() && string(a.body) != string(b.body) {
		d.v.fail("%s with a key of another namespace: want as of what is nowhere, %d: %s", op.id, b.status, a.say())
	}
	if diff := d.again(q); len(diff) > 0 {
		d.v.fail("%s with a key of another namespace changed %s", op.id, diff[0])
	}
}

// allowed asks with a key that may. What comes of it may be anything but a word about the key.
func (d *doors) allowed(op operation, k doorKey, q asked) {
	d.v.Tried++
	q.key = k.secret
	if op.id == "events" {
		q.wait = 5 * time.Second
	}
	a := d.h.ask(q)
	var p struct{ What string }
	_ = json.Unmarshal(a.body, &p) // what is no problem has no word
	if a.status == http.StatusUnauthorized || a.status == 0 || strings.HasPrefix(p.What, "a key of kind") || strings.HasPrefix(p.What, "this key is for") {
		d.v.fail("%s with key %q: want to be let in: %s", op.id, k.name, a.say())
	}
	if a.good() {
		d.well[op.id] = true
	} else {
		d.badly[op.id] = a.say()
	}
	if op.power != retake.PowerSee && len(d.same()) > 0 {
		d.changedByOwn[op.id] = true
	}
}

// sideways are requests of keys that have the power, for what it is not meant for.
func (d *doors) sideways() {
	scoped := d.keys[slices.IndexFunc(d.keys, func(k doorKey) bool { return k.scope != "" && k.kind == retake.KeyAgent })]
	agent := doorKey{name: "agent", secret: d.m.keys[retake.KeyAgent], kind: retake.KeyAgent}
	home, second := "/v1/workspaces/"+string(d.m.home), filepath.Join(d.h.files(d.m.ns), "second")
	a := d.h.ask(asked{key: agent.secret, method: http.MethodGet, path: "/v1/workspaces/" + string(d.m.other) + "/checkpoints"})
	theirs := a.pick("checkpoints.0.id")
	for _, t := range []struct {
		what string
		key  doorKey
		asked
	}{
		{"an agent pins by a save", agent, asked{method: http.MethodPost, path: home + "/checkpoints", body: []byte(`{"pin":"mine"}`)}},
		{"an agent holds by a save", agent, asked{method: http.MethodPost, path: home + "/checkpoints", body: []byte(`{"pin":"hold:mine"}`)}},
		{"a fork into another workspace", scoped, asked{method: http.MethodPost, path: home + "/forks", body: []byte(`{"ref":"1","dir":"` + second + `/inner"}`)}},
		{"a save under the id of another's checkpoint", scoped, asked{method: http.MethodPost, path: home + "/checkpoints", body: []byte(`{"id":"` + theirs + `"}`)}},
		{"a restore to another's checkpoint", scoped, asked{method: http.MethodPost, path: home + "/restore", body: []byte(`{"ref":"` + theirs + `"}`)}},
		{"adopting what is no fork", scoped, asked{method: http.MethodPost, path: home + "/restore", body: []byte(`{"course":"adopt","fork":"` + string(d.m.other) + `"}`)}},
		{"another's checkpoint by its id", scoped, asked{method: http.MethodGet, path: home + "/find?ref=" + theirs}},
		{"dots in the address", scoped, asked{method: http.MethodGet, path: home + "/../" + string(d.m.other) + "/status"}},
		{"encoded dots in the address", scoped, asked{method: http.MethodGet, path: home + "%2f..%2f" + string(d.m.other) + "/status"}},
	} {
		d.v.Tried++
		if err := d.look(); err != nil {
			d.v.fail("%v", err)
			return
		}
		t.asked.key = t.key.secret
		if a := d.h.ask(t.asked); a.good() {
			d.v.fail("%s, key %q: %s", t.what, t.key.name, a.say())
		}
		for _, diff := range d.same() {
			if strings.HasPrefix(diff, "table pin") || strings.Contains(diff, "/files/second") {
				d.v.fail("%s, key %q: %.300s", t.what, t.key.name, diff)
			}
		}
	}
}
