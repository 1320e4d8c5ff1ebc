//go:build linux

// Package matrix asks a server every operation of its API description with every kind of API key,
// and with ids of objects that are not the caller's in every field that can hold one.
//
// It starts a server in this process, talks to it over HTTP, and reads its files and rows from
// behind. The expected answers come from x-power in the description and from the table of roles in
// docs/API.md, never from the program.
//
//	X1  No request succeeds that the table does not allow, or that names what is not the caller's.
//	X2  No response shows an id or a word of another namespace. No answer is a fault of the server.
//	X3  The other namespace is the same after all requests as before.
//	X4  Every operation succeeds for somebody, so that a server that refuses all fails, too.
package matrix

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

const (
	ownName   = "alpha"
	otherName = "quokka" // also the word that no response may have: it is in all texts of the other namespace
	vaultName = "wombat" // the same for what keys of one workspace may not see
)

// Bed is a server with two namespaces. Callers have keys of the first one.
type Bed struct {
	hall        *serverbed.Hall
	sink        *serverbed.Receiver
	spec        *spec
	table       powers
	own, other  *serverbed.Realm
	provisioner map[retake.NamespaceID]retake.NewKey
	vault       retake.WorkspaceID // a workspace of the first that only keys for another workspace ask for

	// Ids by kind. Baits are of the other namespace, too, but they may appear in responses: they
	// stand in fields for text, which are stored and shown again.
	mine, theirs, bait, beside map[string]string

	hidden   map[string]bool // ids of the other namespace
	siblings map[string]bool // ids of the first that a key of one workspace may not see
	callers  []caller
	streams  *streams
}

// Open starts a server below a directory and furnishes it. apiDoc is the document with the table of
// roles.
func Open(dir, apiDoc string) (*Bed, error) {
	b := &Bed{provisioner: map[retake.NamespaceID]retake.NewKey{}}
	var err error
	if b.table, err = readPowers(apiDoc); err != nil {
		return nil, err
	}
	if b.hall, err = serverbed.OpenHall(&harness.Run{Dir: dir}, serverbed.HallOptions{}); err != nil {
		return nil, err
	}
	if err := b.furnish(); err != nil {
		return nil, errors.Join(err, b.hall.Close())
	}
	return b, nil
}

// Close stops the server.
func (b *Bed) Close() error { return errors.Join(b.hall.Close(), b.sink.Close()) }

func (b *Bed) furnish() error {
	var err error
	if b.sink, err = serverbed.NewReceiver(nil); err != nil {
		return err
	}
	if b.own, b.mine, _, err = b.realm(ownName, ownName); err != nil {
		return fmt.Errorf("furnish %s: %w", ownName, err)
	}
	if b.other, b.theirs, b.bait, err = b.realm(otherName, otherName); err != nil {
		return fmt.Errorf("furnish %s: %w", otherName, err)
	}
	if err := b.provision(); err != nil {
		return fmt.Errorf("make provisioners: %w", err)
	}
	if b.spec, err = readSpec(b.hall, b.own.Keys[retake.KeyReader]); err != nil {
		return err
	}
	if err := b.furnishVault(); err != nil {
		return fmt.Errorf("furnish a workspace: %w", err)
	}
	if err := b.makeCallers(); err != nil {
		return fmt.Errorf("make keys: %w", err)
	}
	if err := errors.Join(b.plantLinks(), b.learnIDs()); err != nil {
		return err
	}
	return b.openStreams()
}

// realm makes a namespace with something of everything. All texts have the word. It returns two
// sets of ids.
func (b *Bed) realm(ns retake.NamespaceID, word string) (m *serverbed.Realm, first, second map[string]string, err error) {
	g, err := b.hall.Add(ns)
	if err != nil {
		return nil, nil, nil, err
	}
	root := filepath.Join(b.hall.Files(ns), "default")
	if err := errors.Join(plantRows(filepath.Join(root, "app.db"), word+" one"), plantPicture(root)); err != nil {
		return nil, nil, nil, err
	}
	if m, err = serverbed.FurnishGuest(b.hall, g, b.sink); err != nil {
		return nil, nil, nil, err
	}
	if err := errors.Join(plantRows(filepath.Join(root, "app.db"), word+" two"), serverbed.PlantFile(filepath.Join(root, word+".txt"), word)); err != nil {
		return nil, nil, nil, err
	}
	ws := "/v1/workspaces/" + string(m.Home)
	steps := []struct{ slot, pick, key, method, path, body string }{
		{"", "", "agent", "POST", ws + "/checkpoints", `{"intent":"` + word + ` rows"}`},
		{"", "", "agent", "POST", ws + "/verifications", `{"ref":"2","name":"test","command":"true","verdict":"passed","output":"` + word + `"}`},
		{"", "", "agent", "PUT", ws + "/tasks", `{"tasks":[{"id":"1","title":"` + word + `","status":"pending"}]}`},
		{"fork", "workspace.id", "agent", "POST", ws + "/forks", `{"ref":"2","name":"` + word + `-fork"}`},
		{"pin", "name", "operator", "PUT", ws + "/pins/" + word + "-pin", `{"ref":"2"}`},
		{"hold", "name", "operator", "POST", ws + "/holds", `{"ref":"2","name":"` + word + `-hold"}`},
		{"cursor", "next_cursor", "admin", "GET", "/v1/keys?limit=1", ""},
		{"digest", "digest", "agent", "POST", ws + "/plans", `{"course":"restore","ref":"2"}`},
		{"bait", "checkpoints.0.id", "reader", "GET", "/v1/workspaces/" + string(m.Other) + "/checkpoints?limit=1", ""},
	}
	got := map[string]string{}
	for _, s := range steps {
		a, err := b.hall.Must(m.Keys[retake.KeyKind(s.key)], s.method, s.path, s.body)
		if err != nil {
			return nil, nil, nil, err
		}
		got[s.slot] = a.Pick(s.pick)
	}
	first, second, err = b.idsOf(m, got)
	return m, first, second, err
}

// idsOf collects the ids of a namespace by their kinds, and a second set of other objects.
func (b *Bed) idsOf(m *serverbed.Realm, got map[string]string) (first, second map[string]string, err error) {
	op, err := b.startOperation(m.Keys[retake.KeyAgent], string(m.Home))
	if err != nil {
		return nil, nil, err
	}
	first = map[string]string{
		"ws": string(m.Home), "fork": got["fork"], "cp": m.Names["snapshot"], "object": m.Names["id"], "dir": m.Root(), "namespace": string(m.Ns),
		"pin": got["pin"], "session": "s-" + string(m.Ns), "cursor": got["cursor"], "digest": got["digest"], "operation": op,
		"child": string(m.Ns) + "-child", "taken": string(m.Ns), "path": "src/a.txt", "effect": "e1", "remote": "own-remote",
	}
	offices := map[string]string{"key": "revoke-key", "hook": "drop-webhook", "schedule": "drop-schedule", "deletion": "cancel-deletion", "delivery": "replay"}
	for kind := range offices {
		first[kind] = m.Names[kind]
	}
	second = maps.Clone(first)
	for kind, provide := range offices {
		if err := m.Provide(provide); err != nil {
			return nil, nil, err
		}
		second[kind] = m.Names[kind]
	}
	second["ws"], second["fork"], second["cp"], second["pin"] = string(m.Other), string(m.Other), got["bait"], m.Names["name"]
	second["session"], second["dir"], second["namespace"] = "s-none", "elsewhere", "nobody"
	second["child"], second["taken"], second["path"], second["effect"] = "nobody", "nobody", "b.txt", "e2"
	second["remote"] = "other-remote"
	second["cursor"], second["digest"], second["object"] = strings.Repeat("A", 60), strings.Repeat("0", 64), elsewhere("object", first["object"])
	if second["operation"], err = b.startOperation(m.Keys[retake.KeyAgent], string(m.Home)); err != nil {
		return nil, nil, err
	}
	for kind, id := range first {
		if id == "" || second[kind] == "" || second[kind] == id {
			return nil, nil, fmt.Errorf("no two ids of kind %s", kind)
		}
	}
	return first, second, nil
}

// startOperation begins a save that does not wait, and returns the id of the operation.
func (b *Bed) startOperation(secret, ws string) (string, error) {
	a := b.hall.Ask(serverbed.Asked{
		Key: secret, Method: http.MethodPost, Path: "/v1/workspaces/" + ws + "/checkpoints", Body: []byte(`{"if_changed":true}`),
		Header: map[string]string{"Prefer": "respond-async"},
	})
	if a.Status != http.StatusAccepted {
		return "", fmt.Errorf("start an operation: %s", a.Say())
	}
	a = b.hall.Ask(serverbed.Asked{Key: secret, Method: http.MethodGet, Path: "/v1/operations/" + a.Pick("id") + "?wait=60s"})
	return a.Pick("id"), nil
}

// furnishVault makes the workspace that keys of another one must not reach.
func (b *Bed) furnishVault() error {
	a := b.hall.Ask(serverbed.Asked{
		Key: b.own.Keys[retake.KeyOperator], Method: http.MethodPost, Path: "/v1/import?name=" + vaultName + "&intent=" + vaultName,
		Body: serverbed.SmallTar(vaultName+".txt", vaultName+"\n"), Header: map[string]string{"Content-Type": "application/x-tar"},
	})
	if !a.Good() {
		return fmt.Errorf("import: %s", a.Say())
	}
	b.vault = retake.WorkspaceID(a.Pick("workspace.id"))
	b.beside = maps.Clone(b.mine)
	b.beside["ws"], b.beside["cp"], b.beside["dir"] = string(b.vault), a.Pick("checkpoint.id"), filepath.Join(b.hall.Files(ownName), vaultName, "src")
	f, err := b.hall.Must(b.own.Keys[retake.KeyOperator], http.MethodPost, "/v1/workspaces/"+string(b.own.Home)+"/forks", `{"ref":"2","name":"`+vaultName+`-fork"}`)
	if err != nil {
		return err
	}
	b.beside["fork"] = f.Pick("workspace.id")
	if err := serverbed.PlantFile(filepath.Join(f.Pick("workspace.root"), vaultName+".txt"), vaultName); err != nil {
		return err
	}
	_, err = b.hall.Must(b.own.Keys[retake.KeyOperator], http.MethodPut, "/v1/workspaces/"+string(b.vault)+"/pins/"+vaultName+"-pin", `{"ref":"1"}`)
	b.beside["pin"] = vaultName + "-pin"
	return err
}

// idForm finds what names an object.
var idForm = regexp.MustCompile(`\b(?:(?:ws|cp|key|wh|del|sch|op|evt|msg|vf|sig)_[0-9A-Za-z-]{16,64}|(?:rtk|whsec|whpk)_[0-9A-Za-z_+/=-]{20,}|[a-z][0-9a-f]{32})\b`)

// learnIDs reads all ids of the other namespace from the rows, so that also those that no request
// names are known when a response shows one.
func (b *Bed) learnIDs() error {
	rows, err := b.rowsOf(otherName, otherName+"-child")
	if err != nil {
		return err
	}
	ours, err := b.rowsOf(ownName, ownName+"-child")
	if err != nil {
		return err
	}
	b.hidden, b.siblings = map[string]bool{}, map[string]bool{}
	for _, all := range rows {
		for _, id := range idForm.FindAllString(strings.Join(all, "\n"), -1) {
			b.hidden[id] = true
		}
	}
	for _, secret := range b.other.Keys {
		b.hidden[secret] = true
	}
	b.hidden[b.provisioner[otherName].Secret] = true
	for _, id := range b.theirs {
		b.hidden[id] = idForm.MatchString(id)
	}
	for _, all := range ours {
		b.unhide(strings.Join(all, "\n"))
	}
	b.unhide(b.spec.text)
	for _, id := range b.bait {
		delete(b.hidden, id)
	}
	for _, kind := range []string{"ws", "cp", "fork"} {
		b.siblings[b.beside[kind]] = true
	}
	b.siblings[string(b.own.Other)] = true
	if len(b.hidden) < 20 {
		return fmt.Errorf("only %d ids of the other namespace are known", len(b.hidden))
	}
	return nil
}

// rowsOf reads the rows of namespaces by table, without those that are nobody's.
func (b *Bed) rowsOf(names ...retake.NamespaceID) (map[string][]string, error) {
	out := map[string][]string{}
	for _, ns := range names {
		rows, err := b.hall.Rows.Dump(ns)
		if err != nil {
			return nil, err
		}
		for table, all := range rows {
			if slices.Contains(b.hall.Rows.Tables[table], "ns") {
				out[table] = append(out[table], all...)
			}
		}
	}
	return out, nil
}

// unhide removes ids that are not of the other namespace alone.
func (b *Bed) unhide(text string) {
	for _, id := range idForm.FindAllString(text, -1) {
		delete(b.hidden, id)
	}
}

// plantRows writes a SQLite database with one more row.
func plantRows(path, text string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v TEXT)`)
	if err == nil {
		_, err = db.Exec(`INSERT INTO t (v) VALUES (?)`, text)
	}
	return errors.Join(err, db.Close())
}
