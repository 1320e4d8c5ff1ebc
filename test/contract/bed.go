//go:build linux

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// Bed is a server with the things that the examples are about: a workspace with checkpoints up to 17
// in which src/login.ts changes.
type Bed struct {
	hall        *serverbed.Hall
	sink        *serverbed.Receiver
	realm       *serverbed.Realm
	daemon      *daemon
	provisioner string
	doc         *document
	check       func(schema json.RawMessage, value any) error
	archives    string // the directory with the files that examples name
}

const (
	ownName   = "shop"
	childName = "shop-child"
	newest    = 17 // of the examples
	lacking   = "00000000"
)

// Open starts a server below a directory. archives has the files that examples name.
func Open(dir, archives string) (*Bed, error) {
	b := &Bed{archives: archives}
	var err error
	if b.hall, err = serverbed.OpenHall(&harness.Run{Dir: dir}, serverbed.HallOptions{}); err != nil {
		return nil, err
	}
	if err := b.furnish(); err != nil {
		return nil, errors.Join(err, b.hall.Close())
	}
	if b.daemon, err = openDaemon(filepath.Join(dir, "daemon")); err != nil {
		return nil, errors.Join(err, b.hall.Close())
	}
	return b, nil
}

// Close stops the server and the daemon.
func (b *Bed) Close() error { return errors.Join(b.daemon.close(), b.hall.Close(), b.sink.Close()) }

func (b *Bed) furnish() error {
	var err error
	if b.sink, err = serverbed.NewReceiver(nil); err != nil {
		return err
	}
	if b.realm, err = serverbed.FurnishRealm(b.hall, ownName, b.sink); err != nil {
		return err
	}
	k, err := b.hall.AddProvisionerKey(ownName)
	if err != nil {
		return err
	}
	b.provisioner = k.Secret
	if _, err := b.hall.Must(b.provisioner, http.MethodPost, "/v1/namespaces", `{"id":"`+childName+`"}`); err != nil {
		return err
	}
	b.realm.Names["namespace"] = childName
	for n := 0; n < newest; n++ {
		if err := b.save(n); err != nil {
			return err
		}
	}
	if b.doc, err = readDocument(b.hall, b.key(retake.PowerSee)); err != nil {
		return err
	}
	b.check, err = b.doc.checker()
	return err
}

// save changes the files of the examples and takes a checkpoint.
func (b *Bed) save(n int) error {
	if err := plantLogin(b.realm.Root(), n); err != nil {
		return err
	}
	_, err := b.hall.Must(b.key(retake.PowerRecord), http.MethodPost, "/v1/workspaces/"+string(b.realm.Home)+"/checkpoints", `{"intent":"change the login"}`)
	return err
}

// key returns the key of a role with a permission. Agents have not all rights of operators, so
// operators ask where both may.
func (b *Bed) key(p retake.Power) string {
	for _, kind := range []retake.KeyKind{retake.KeyOperator, retake.KeyAdmin, retake.KeyMaintainer} {
		if kind.Has(p) {
			return b.realm.Keys[kind]
		}
	}
	return b.provisioner
}

// keyWithout returns the key of a role that lacks a permission.
func (b *Bed) keyWithout(p retake.Power) string {
	if p == retake.PowerSee {
		return b.provisioner
	}
	return b.realm.Keys[retake.KeyReader]
}

// request makes a request of an operation, with an example of its body.
func (b *Bed) request(o *operation, kind string, e example) (serverbed.Asked, error) {
	q, err := b.bare(o)
	if err == nil && kind != "" {
		err = b.setExample(&q, o, kind, e)
	}
	return q, err
}

// ask sends a request to who does such things.
func (b *Bed) ask(o *operation, q serverbed.Asked) serverbed.Answer {
	if !o.isDaemonOnly() {
		return b.hall.Ask(q)
	}
	swap := strings.NewReplacer(string(b.realm.Home), string(b.daemon.ws))
	q.Path, q.Body = swap.Replace(q.Path), []byte(swap.Replace(string(q.Body)))
	return serverbed.AskAt(b.daemon.http.URL, q)
}

// bare makes a request that can be done, without an example.
func (b *Bed) bare(o *operation) (serverbed.Asked, error) {
	if err := b.realm.Provide(o.OperationID); err != nil {
		return serverbed.Asked{}, fmt.Errorf("provide: %w", err)
	}
	q := b.realm.Request(o.Operation)
	q.Key = b.key(o.Power)
	if q.Header == nil {
		q.Header = map[string]string{}
	}
	switch o.OperationID {
	case "operation", "cancel-operation":
		a := b.hall.Ask(serverbed.Asked{
			Key: q.Key, Method: http.MethodPost, Path: "/v1/workspaces/" + string(b.realm.Home) + "/checkpoints",
			Body: []byte(`{"if_changed":true}`), Header: map[string]string{"Prefer": "respond-async"},
		})
		id := a.Pick("id")
		q.Path = strings.Replace(q.Path, "/operations/", "/operations/"+id, 1)
		_, err := b.hall.Must(q.Key, http.MethodGet, "/v1/operations/"+id+"?wait=60s", "") // it must not save what comes next
		return q, err
	case "view-cadence":
		q.Path += "?cron=0+*+*+*+*"
	case "remove-remote":
		q.Path = "/v1/remotes/nas"
	case "write-file":
		q.Path = strings.Replace(q.Path, "a.txt", "login.ts", 1)
	case "remove-file":
		q.Path = strings.Replace(q.Path, "a.txt", "gone.txt", 1)
		return q, serverbed.PlantFile(filepath.Join(b.realm.Root(), "src", "gone.txt"), "gone\n")
	}
	return q, nil
}

// setExample makes an example the body of a request, with the names of this server.
func (b *Bed) setExample(q *serverbed.Asked, o *operation, kind string, e example) error {
	q.Header["Content-Type"] = kind
	if e.ExternalValue != "" {
		var err error
		q.Body, err = os.ReadFile(filepath.Join(b.archives, path.Base(e.ExternalValue)))
		return err
	}
	if text, ok := e.Value.(string); ok && kind != jsonType {
		q.Body = []byte(text)
		return nil
	}
	text, err := json.Marshal(e.Value)
	if err != nil {
		return err
	}
	fresh := filepath.Join(b.hall.Files(ownName), fmt.Sprintf("n%d", b.realm.Fresh))
	dir := fresh // of init, which was made for it
	if o.OperationID == "observe" {
		dir = b.realm.Root()
	}
	digest := ""
	if o.OperationID == "restore" {
		if digest, err = b.planned(); err != nil {
			return err
		}
	}
	q.Body = []byte(strings.NewReplacer(
		"ws_01a1e799-44cb-701c-a4ec-51ecf2b26ee7", string(b.realm.Home), "/home/me/shop", dir, "/home/me/try", fresh+"-fork",
		"https://example.com", b.sink.URL, "git@example.com", "git@localhost", "5363-2fa3", digest,
	).Replace(string(text)))
	return nil
}

// planned makes the plan whose digest the example of a restore has.
func (b *Bed) planned() (string, error) {
	all := b.doc.examples(b.doc.Paths["/v1/workspaces/{ws}/plans"]["post"].RequestBody.Content[jsonType])
	if len(all) == 0 {
		return "", errors.New("the description has no example of a plan")
	}
	text, err := json.Marshal(all[0].Value)
	if err != nil {
		return "", err
	}
	a, err := b.hall.Must(b.key(retake.PowerReturn), http.MethodPost, "/v1/workspaces/"+string(b.realm.Home)+"/plans", string(text))
	return a.Pick("digest"), err
}

// judge says what is wrong with an answer: its status, its body or its headers.
func (b *Bed) judge(o *operation, a serverbed.Answer) error {
	r, ok := b.doc.response(o, a.Status)
	if !ok {
		return fmt.Errorf("a status that is not listed: %s", a.Say())
	}
	for name := range r.Headers {
		if a.Header.Get(name) == "" && name != "Retake-Entry" {
			return fmt.Errorf("no header %s", name)
		}
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	m, ok := r.Content[kind]
	if !ok && (len(r.Content) > 0 || len(a.Body) > 0) {
		return fmt.Errorf("a media type that is not listed: %q", kind)
	}
	if !strings.HasSuffix(kind, "json") {
		return nil
	}
	var value any
	if err := json.Unmarshal(a.Body, &value); err != nil {
		return err
	}
	if err := b.check(m.Schema, value); err != nil {
		return fmt.Errorf("%s: %w", a.Say(), err)
	}
	return nil
}
