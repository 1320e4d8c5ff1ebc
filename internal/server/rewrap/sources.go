package rewrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/gateway"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// sources are all kinds of sealed values. TestEverySealedValueIsKnown fails for a new one.
//
// Cookies of the console are sealed, too, and are in browsers for at most 12 hours. Once the key
// that sealed them is removed, their owners sign in again.
var sources = []func(context.Context, *run, retake.NamespaceID) error{passwords, hooks, responses, backupKeys}

func passwords(ctx context.Context, r *run, ns retake.NamespaceID) error {
	sealed, err := r.Ledger.Password(ctx, ns)
	if err != nil {
		return err
	}
	return r.look(ctx, secret{
		name: fmt.Sprintf("store password of namespace %s", ns), purpose: tenant.PasswordPurpose(ns), sealed: sealed,
		replace: func(ctx context.Context, again []byte) error {
			return changed(r.Ledger.PutPassword(ctx, ns, sealed, again))
		},
	})
}

// hooks are webhooks, each with the current secret and the one before.
func hooks(ctx context.Context, r *run, ns retake.NamespaceID) error {
	book := r.Ledger.Book(ns)
	all, err := book.Hooks(ctx)
	if err != nil {
		return err
	}
	for _, h := range all {
		for _, field := range []struct {
			which string
			of    func(*serverdb.Hook) *[]byte
		}{
			{"secret", func(h *serverdb.Hook) *[]byte { return &h.Secret }},
			{"previous secret", func(h *serverdb.Hook) *[]byte { return &h.Old }},
		} {
			was := *field.of(&h)
			if len(was) == 0 {
				continue
			}
			if err := r.look(ctx, secret{
				name: fmt.Sprintf("%s of webhook %s of namespace %s", field.which, h.ID, ns), purpose: webhooks.SecretPurpose(ns, h.ID), sealed: was,
				replace: func(ctx context.Context, again []byte) error {
					_, err := book.ChangeHook(ctx, h.ID, func(now *serverdb.Hook) error {
						at := field.of(now)
						if string(*at) != string(was) { // it was rotated
							return serverdb.ErrChanged
						}
						*at = again
						return nil
					})
					return changed(err)
				},
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// responsesPerPage is small, because a response may have a megabyte.
const responsesPerPage = 20

// responses are those to requests with an idempotency key.
func responses(ctx context.Context, r *run, ns retake.NamespaceID) error {
	book := r.Ledger.Book(ns)
	head, err := secretbox.Header(r.Key)
	if err != nil {
		return err
	}
	for after := ""; ; {
		page, err := book.OtherReplies(ctx, head, after, r.Clock.Now(), responsesPerPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			after = p.Key
			if err := r.look(ctx, secret{
				name: fmt.Sprintf("stored response of namespace %s, which expires within a day", ns), purpose: gateway.ReplyPurpose(ns, p.Key), sealed: p.Body, response: true,
				replace: func(ctx context.Context, again []byte) error {
					return changed(book.PutReplyBody(ctx, p.Key, p.Body, again))
				},
			}); err != nil {
				return err
			}
		}
	}
}

// backupWait is how long a backup that is under way is waited for.
const backupWait = 30 * time.Second

// backupKeys are the private keys of git backups, in the data directory.
func backupKeys(ctx context.Context, r *run, ns retake.NamespaceID) error {
	worker := r.Backups(ns)
	all, err := worker.SealedKeys()
	if err != nil {
		return err
	}
	for _, k := range all {
		if err := r.look(ctx, secret{
			name: fmt.Sprintf("backup key of workspace %s of namespace %s", k.Workspace, ns), purpose: k.Purpose, sealed: k.Sealed,
			replace: func(ctx context.Context, again []byte) error {
				ctx, cancel := context.WithTimeout(ctx, backupWait)
				defer cancel()
				err := worker.ReplaceKey(ctx, k, again)
				if errors.Is(err, backup.ErrKeyChanged) {
					return errChanged
				}
				return err
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

// changed makes errChanged of a row that is another by now, or gone.
func changed(err error) error {
	if errors.Is(err, serverdb.ErrChanged) || errors.Is(err, serverdb.ErrNotFound) {
		return errChanged
	}
	return err
}
