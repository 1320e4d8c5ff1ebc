//go:build linux

// Package g12 sends a server every request with every key: each must be allowed exactly by
// its power.
package g12

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
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

func init() { harness.Register("G12", agentsOnlyAdd) }

// agentsOnlyAdd: an agent key adds history and never removes, rewrites, hides, expires or
// re-dates it.
func agentsOnlyAdd(r *harness.Run) []harness.Verdict {
	out := []harness.Verdict{everyDoor(r, ""), agentFuzz(r, ""), filling(r)}
	return serverbed.OnPostgres(r, out, everyDoor, agentFuzz)
}

// doors is one pass over all operations with all keys.
type doors struct {
	v            *harness.Verdict
	h            *serverbed.Hall
	m, foreign   *serverbed.Realm
	d            *serverbed.Description
	keys         []doorKey
	before       serverbed.State
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

func everyDoor(r *harness.Run, dsn string) harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G12", What: "every operation with every key: allowed exactly by its power", Detail: map[string]any{},
		Control: "the same requests with a key that may: the change is seen",
	}
	start := time.Now()
	d, err := openDoors(r, &v, dsn)
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	for _, op := range d.d.Ops {
		if err := d.try(op); err != nil {
			v.Fail("%s: %v", op.ID, err)
		}
	}
	d.sideways()
	for _, id := range d.d.Silent {
		v.Fail("%s does not say which power it needs", id)
	}
	v.Caught = int64(len(d.changedByOwn))
	for id := range d.well {
		delete(d.badly, id)
	}
	v.Detail["operations"], v.Detail["keys"], v.Detail["refusals"] = len(d.d.Ops), len(d.keys)+1, d.refusals
	v.Detail["allowed and done"], v.Detail["allowed and not possible"] = len(d.well), d.badly
	if err := d.h.Close(); err != nil {
		v.Fail("close: %v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

func openDoors(r *harness.Run, v *harness.Verdict, dsn string) (*doors, error) {
	h, err := serverbed.OpenHall(r, serverbed.HallOptions{Postgres: dsn})
	if err != nil {
		return nil, err
	}
	sink, err := serverbed.NewReceiver(nil)
	if err != nil {
		return nil, err
	}
	d := &doors{v: v, h: h, well: map[string]bool{}, badly: map[string]string{}, changedByOwn: map[string]bool{}}
	if d.m, err = serverbed.FurnishRealm(h, "alpha", sink); err != nil {
		return nil, err
	}
	if d.foreign, err = serverbed.FurnishRealm(h, "beta", sink); err != nil {
		return nil, err
	}
	if d.d, err = h.Describe(d.m.Keys[retake.KeyReader]); err != nil {
		return nil, err
	}
	return d, d.makeKeys()
}

// makeKeys makes one of every sort, and waits until those that ended let nobody in.
func (d *doors) makeKeys() error {
	for _, k := range retake.KeyKinds {
		d.keys = append(d.keys, doorKey{name: string(k), secret: d.m.Keys[k], kind: k})
	}
	var errs []error
	key := func(name, body string) doorKey {
		a, err := d.h.Must(d.m.Keys[retake.KeyAdmin], http.MethodPost, "/v1/keys", body)
		errs = append(errs, err)
		d.m.Names["key"] = a.Pick("key.id")
		return doorKey{name: name, secret: a.Pick("secret")}
	}
	expired := key("expired", fmt.Sprintf(`{"kind":"admin","name":"soon over","expires":%q}`, time.Now().Add(2*time.Second).Format(time.RFC3339Nano)))
	for _, kind := range []retake.KeyKind{retake.KeyAgent, retake.KeyOperator, retake.KeyAdmin} {
		k := key(string(kind)+" of one workspace", fmt.Sprintf(`{"kind":%q,"name":"scoped","workspaces":[%q]}`, kind, d.m.Home))
		k.kind, k.scope = kind, d.m.Home
		d.keys = append(d.keys, k)
	}
	revoked := key("revoked", `{"kind":"operator","name":"ends"}`)
	if a := d.h.Ask(serverbed.Asked{Key: revoked.secret, Method: http.MethodGet, Path: "/v1/about"}); !a.Good() {
		errs = append(errs, fmt.Errorf("a new key: %s", a.Say()))
	}
	_, err := d.h.Must(d.m.Keys[retake.KeyAdmin], http.MethodDelete, "/v1/keys/"+d.m.Names["key"], "")
	errs = append(errs, err)
	for _, k := range []doorKey{revoked, expired} {
		if !daemonbed.Await(func() bool {
			return d.h.Ask(serverbed.Asked{Key: k.secret, Method: http.MethodGet, Path: "/v1/about"}).Status == http.StatusUnauthorized
		}) {
			errs = append(errs, fmt.Errorf("a key that is %s lets somebody in", k.name))
		}
	}
	wrong := d.m.Keys[retake.KeyAdmin][:len(d.m.Keys[retake.KeyAdmin])-1] + "~"
	d.keys = append(d.keys, revoked, expired, doorKey{name: "none"}, doorKey{name: "wrong", secret: wrong}, doorKey{name: "no secret", secret: "admin"})
	return errors.Join(errors.Join(errs...), d.m.Provide("revoke-key"))
}

// look takes the state again after something was allowed to change it.
func (d *doors) look() error {
	if !d.h.Settled() {
		return errors.New("the server does not come to rest")
	}
	d.stamp = d.h.Rows.Stamp()
	var err error
	d.before, err = d.h.State(d.m.Ns)
	return err
}

// same says whether nothing changed since look, and what did.
func (d *doors) same() []string {
	files, err := d.h.Listing(d.m.Ns)
	if err != nil {
		return []string{err.Error()}
	}
	now := serverbed.State{Rows: d.before.Rows, Files: files}
	if stamp := d.h.Rows.Stamp(); stamp != d.stamp {
		if now, err = d.h.State(d.m.Ns); err != nil {
			return []string{err.Error()}
		}
		d.stamp = stamp
	}
	return d.before.Unlike(now)
}

// try asks one operation with every key: first those that may not, then those that may.
func (d *doors) try(op serverbed.Operation) error {
	if err := d.m.Provide(op.ID); err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	if err := d.look(); err != nil {
		return err
	}
	q := d.m.Request(op)
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
		if err := errors.Join(d.m.Provide(op.ID), d.look()); err != nil {
			return fmt.Errorf("provide: %w", err)
		}
		d.allowed(op, k, d.m.Request(op))
	}
	return nil
}

// may says what the description says.
func (k doorKey) may(op serverbed.Operation, q serverbed.Asked) bool {
	if k.kind == "" || op.Power == "" || !k.kind.Has(op.Power) {
		return false
	}
	return k.scope == "" || op.Power == retake.PowerNone || strings.HasPrefix(q.Path, "/v1/workspaces/"+string(k.scope)+"/") || q.Path == "/v1/workspaces/"+string(k.scope)
}

func (d *doors) refused(op serverbed.Operation, k doorKey, q serverbed.Asked) {
	d.v.Tried++
	d.refusals++
	q.Key = k.secret
	a := d.h.Ask(q)
	want := http.StatusForbidden
	if k.kind == "" {
		want = http.StatusUnauthorized
	}
	if a.Status != want {
		d.v.Fail("%s with key %q: want %d: %s", op.ID, k.name, want, a.Say())
	}
	if diff := d.again(q); len(diff) > 0 {
		d.v.Fail("%s with key %q was refused and changed %s", op.ID, k.name, diff[0])
	}
}

// again says what a request changed. The server works by itself, too: what changed is
// the request's when it changes again, after a rest.
func (d *doors) again(q serverbed.Asked) []string {
	if len(d.same()) == 0 {
		return nil
	}
	if err := d.rest(); err != nil {
		return []string{err.Error()}
	}
	d.h.Ask(q)
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
func (d *doors) abroad(op serverbed.Operation, q serverbed.Asked) {
	at := slices.IndexFunc(retake.KeyKinds, func(k retake.KeyKind) bool { return k.Has(op.Power) && op.Power != retake.PowerNone })
	if at < 0 {
		return
	}
	void := d.m.Nowhere(q)
	if void.Path == q.Path && string(void.Body) == string(q.Body) {
		return // it is about that namespace alone
	}
	d.v.Tried++
	q.Key, void.Key = d.foreign.Keys[retake.KeyKinds[at]], d.foreign.Keys[retake.KeyKinds[at]]
	a, b := d.h.Ask(q), d.h.Ask(void)
	if a.Status != b.Status || a.Good() && string(a.Body) != string(b.Body) {
		d.v.Fail("%s with a key of another namespace: want as of what is nowhere, %d: %s", op.ID, b.Status, a.Say())
	}
	if diff := d.again(q); len(diff) > 0 {
		d.v.Fail("%s with a key of another namespace changed %s", op.ID, diff[0])
	}
}

// allowed asks with a key that may. What comes of it may be anything but a word about the key.
func (d *doors) allowed(op serverbed.Operation, k doorKey, q serverbed.Asked) {
	d.v.Tried++
	q.Key = k.secret
	if op.ID == "events" {
		q.Wait = 5 * time.Second
	}
	a := d.h.Ask(q)
	var p struct{ What string }
	_ = json.Unmarshal(a.Body, &p) // what is no problem has no word
	if a.Status == http.StatusUnauthorized || a.Status == 0 || strings.HasPrefix(p.What, "a key of kind") || strings.HasPrefix(p.What, "this key is for") {
		d.v.Fail("%s with key %q: want to be let in: %s", op.ID, k.name, a.Say())
	}
	if a.Good() {
		d.well[op.ID] = true
	} else {
		d.badly[op.ID] = a.Say()
	}
	if op.Power != retake.PowerSee && len(d.same()) > 0 {
		d.changedByOwn[op.ID] = true
	}
}

// sideways are requests of keys that have the power, for what it is not meant for.
func (d *doors) sideways() {
	scoped := d.keys[slices.IndexFunc(d.keys, func(k doorKey) bool { return k.scope != "" && k.kind == retake.KeyAgent })]
	agent := doorKey{name: "agent", secret: d.m.Keys[retake.KeyAgent], kind: retake.KeyAgent}
	home, second := "/v1/workspaces/"+string(d.m.Home), filepath.Join(d.h.Files(d.m.Ns), "second")
	a := d.h.Ask(serverbed.Asked{Key: agent.secret, Method: http.MethodGet, Path: "/v1/workspaces/" + string(d.m.Other) + "/checkpoints"})
	theirs := a.Pick("checkpoints.0.id")
	for _, t := range []struct {
		what string
		key  doorKey
		serverbed.Asked
	}{
		{"an agent pins by a save", agent, serverbed.Asked{Method: http.MethodPost, Path: home + "/checkpoints", Body: []byte(`{"pin":"mine"}`)}},
		{"an agent holds by a save", agent, serverbed.Asked{Method: http.MethodPost, Path: home + "/checkpoints", Body: []byte(`{"pin":"hold:mine"}`)}},
		{"a fork into another workspace", scoped, serverbed.Asked{Method: http.MethodPost, Path: home + "/forks", Body: []byte(`{"ref":"1","dir":"` + second + `/inner"}`)}},
		{"a save under the id of another's checkpoint", scoped, serverbed.Asked{Method: http.MethodPost, Path: home + "/checkpoints", Body: []byte(`{"id":"` + theirs + `"}`)}},
		{"a restore to another's checkpoint", scoped, serverbed.Asked{Method: http.MethodPost, Path: home + "/restore", Body: []byte(`{"ref":"` + theirs + `"}`)}},
		{"adopting what is no fork", scoped, serverbed.Asked{Method: http.MethodPost, Path: home + "/restore", Body: []byte(`{"course":"adopt","fork":"` + string(d.m.Other) + `"}`)}},
		{"another's checkpoint by its id", scoped, serverbed.Asked{Method: http.MethodGet, Path: home + "/find?ref=" + theirs}},
		{"dots in the address", scoped, serverbed.Asked{Method: http.MethodGet, Path: home + "/../" + string(d.m.Other) + "/status"}},
		{"encoded dots in the address", scoped, serverbed.Asked{Method: http.MethodGet, Path: home + "%2f..%2f" + string(d.m.Other) + "/status"}},
	} {
		d.v.Tried++
		if err := d.look(); err != nil {
			d.v.Fail("%v", err)
			return
		}
		t.Asked.Key = t.key.secret
		if a := d.h.Ask(t.Asked); a.Good() {
			d.v.Fail("%s, key %q: %s", t.what, t.key.name, a.Say())
		}
		for _, diff := range d.same() {
			if strings.HasPrefix(diff, "table pin") || strings.Contains(diff, "/files/second") {
				d.v.Fail("%s, key %q: %.300s", t.what, t.key.name, diff)
			}
		}
	}
}
