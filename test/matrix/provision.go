//go:build linux

package matrix

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// asOwner does what only the owner of a server can: it makes a key that creates namespaces. Two
// servers with one data directory act as one, so a second one can do it.
func (b *Bed) asOwner(do func(*server.Server) error) error {
	srv, err := server.Open(context.Background(), server.Options{
		DataDir: b.hall.Dir, ListenAddress: "127.0.0.1:0", Version: "test", Clock: clock.Wall, Derivation: harness.Derivation,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Floor: func(int64) int64 { return 0 },
	})
	if err != nil {
		return err
	}
	return errors.Join(do(srv), srv.Close())
}

// provision gives both namespaces a provisioner, and a namespace that it created.
func (b *Bed) provision() error {
	err := b.asOwner(func(s *server.Server) error {
		for _, ns := range []retake.NamespaceID{ownName, otherName} {
			k, err := s.AddProvisionerKey(context.Background(), ns, retake.KeyRequest{Name: string(ns) + " platform"})
			if err != nil {
				return err
			}
			b.provisioner[ns] = k
		}
		return nil
	})
	for ns, k := range b.provisioner {
		_, merr := b.hall.Must(k.Secret, http.MethodPost, "/v1/namespaces", `{"id":"`+string(ns)+`-child"}`)
		err = errors.Join(err, merr)
	}
	return err
}

// addProvisioners adds the callers that create namespaces: one that may, one whose key was revoked
// and one whose key expires.
func (b *Bed) addProvisioners(expires time.Time) error {
	var expired, revoked retake.NewKey
	err := b.asOwner(func(s *server.Server) error {
		var err, err2 error
		expired, err = s.AddProvisionerKey(context.Background(), ownName, retake.KeyRequest{Name: "soon over", Expires: &expires})
		revoked, err2 = s.AddProvisionerKey(context.Background(), ownName, retake.KeyRequest{Name: "ends"})
		return errors.Join(err, err2)
	})
	if err != nil {
		return err
	}
	const role = retake.KeyProvisioner
	b.callers = append(b.callers,
		caller{name: string(role), secret: b.provisioner[ownName].Secret, role: role},
		caller{name: string(role) + ", revoked", secret: revoked.Secret, role: role, dead: true},
		caller{name: string(role) + ", expired", secret: expired.Secret, role: role, dead: true})
	a := b.hall.Ask(serverbed.Asked{Key: b.own.Keys[retake.KeyAdmin], Method: http.MethodDelete, Path: "/v1/keys/" + string(revoked.Key.ID)})
	if !a.Good() {
		return errors.New("revoke: " + a.Say())
	}
	return nil
}
