// Package rewrap seals every stored secret again with the current key-encryption key, so that the
// one before can be removed.
//
// It reads and replaces sealed bytes where they are stored, and stores nothing of its own: what is
// sealed says with which key. It may be stopped at any point and run again, beside servers and
// beside another run.
//
//	W1  A secret is replaced only if it is still what was read: a newer one is never lost.
//	W2  What is counted as sealed with the current key was opened with it.
//	W3  What is not sealed with it in the end is named.
package rewrap

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Options say what is sealed where.
type Options struct {
	Ledger  serverdb.Ledger
	Keeper  secretbox.Keeper
	Backups func(retake.NamespaceID) *backup.Worker
	Clock   clock.Clock
}

// Result is what is sealed with which key after a run.
type Result struct {
	Key        string   `json:"key"`         // ID of the current key
	KeyVersion string   `json:"key_version"` // of the key server's key that seals it; "": there is no key server
	Secrets    int      `json:"secrets"`     // that are sealed with the current key
	Resealed   int      `json:"resealed"`    // of them, by this run
	Responses  int      `json:"responses"`   // stored responses that this run sealed again; they expire after a day
	Others     []string `json:"others"`      // what is not sealed with the current key, and why
	Servers    []string `json:"servers"`     // servers that still seal with another key
}

// secret is one sealed value.
type secret struct {
	name     string
	purpose  string
	sealed   []byte
	response bool
	// replace returns errChanged if the value is another by now.
	replace func(ctx context.Context, sealed []byte) error
}

var errChanged = errors.New("it was changed meanwhile")

// maxPasses limits how often the values that changed meanwhile are looked at again.
const maxPasses = 5

// Run seals everything again. An error means that not everything was looked at.
func Run(ctx context.Context, o Options) (Result, error) {
	ctx = retake.WithActor(ctx, retake.Actor{Name: "rewrap"})
	ids, err := o.Keeper.KeyIDs(ctx)
	if err != nil {
		return Result{}, err
	}
	r := &run{Options: o, Result: Result{Key: ids[0], Others: []string{}, Servers: []string{}}}
	for range maxPasses {
		r.open, r.Secrets, r.Others = nil, 0, []string{}
		if err := r.pass(ctx); err != nil || len(r.open) == 0 {
			return r.Result, err
		}
	}
	for _, s := range r.open {
		r.addOther(s, errChanged)
	}
	return r.Result, nil
}

type run struct {
	Options
	Result
	open []secret // what the next pass looks at again: it was replaced, by us or by somebody else
}

// pass looks at every secret. Its counts are true if it leaves nothing open.
func (r *run) pass(ctx context.Context) error {
	all, err := r.Ledger.Namespaces(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		for _, each := range sources {
			if err := each(ctx, r, all[i].ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// look seals a secret again unless it is sealed with the current key.
func (r *run) look(ctx context.Context, s secret) error {
	id, err := secretbox.KeyID(s.sealed)
	if err != nil {
		r.addOther(s, err)
		return nil
	}
	plain, err := r.Keeper.Open(ctx, s.purpose, s.sealed)
	switch {
	case errors.Is(err, secretbox.ErrKey) || errors.Is(err, secretbox.ErrDamaged):
		r.addOther(s, fmt.Errorf("key %s: %w", id, err))
		return nil
	case err != nil:
		return err
	}
	defer clear(plain)
	if id == r.Key {
		if !s.response {
			r.Secrets++
		}
		return nil
	}
	sealed, err := r.Keeper.Seal(ctx, s.purpose, plain)
	if err != nil {
		return err
	}
	err = s.replace(ctx, sealed)
	switch {
	case err == nil && s.response:
		r.Responses++
	case err == nil:
		r.Resealed++
	case errors.Is(err, errChanged):
	case retake.IsKind(err, retake.Busy) && ctx.Err() == nil:
		r.addOther(s, err)
		return nil
	default:
		return fmt.Errorf("replace %s: %w", s.name, errors.Join(ctx.Err(), err))
	}
	s.sealed = nil
	r.open = append(r.open, s)
	return nil
}

func (r *run) addOther(s secret, why error) {
	r.Others = append(r.Others, fmt.Sprintf("%s: %v", s.name, why))
}
