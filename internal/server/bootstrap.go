package server

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server/adminapi"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// FirstNamespace is the namespace that Bootstrap creates.
const FirstNamespace retake.NamespaceID = "main"

// Bootstrap creates the first namespace of a server. It returns nil if the server has one.
func (s *Server) Bootstrap(ctx context.Context, webhook string) (*retake.NewNamespace, error) {
	all, err := s.ledger.Namespaces(ctx)
	if err != nil || len(all) > 0 {
		return nil, err
	}
	b, err := s.AddNamespace(ctx, retake.Namespace{ID: FirstNamespace, Limits: retake.DefaultLimits()}, webhook)
	if retake.IsKind(err, retake.Exists) { // another server was faster
		return nil, nil
	}
	return &b, err
}

// AddNamespace creates a namespace with one key of each role, and a webhook if an address is
// given.
func (s *Server) AddNamespace(ctx context.Context, row retake.Namespace, webhook string) (retake.NewNamespace, error) {
	if _, known := retake.ActorOf(ctx); !known {
		ctx = retake.WithActor(ctx, retake.Actor{Name: "server"})
	}
	ns, err := s.pool.Create(ctx, row)
	b := retake.NewNamespace{Namespace: ns}
	if err != nil {
		return b, err
	}
	o, release, err := s.openOffice(ctx, ns.ID)
	if err != nil {
		return b, err
	}
	defer release()
	for _, kind := range retake.KeyKinds {
		k, err := o.MakeKey(ctx, retake.KeyRequest{Kind: kind, Name: "first " + string(kind)})
		if err != nil {
			return b, err
		}
		b.Keys = append(b.Keys, k)
	}
	if webhook != "" {
		w, err := o.MakeWebhook(ctx, retake.WebhookRequest{URL: webhook})
		if err != nil {
			return b, err
		}
		b.Webhook = &w
	}
	return b, s.scheduler.EnrollNamespace(ctx, ns.ID)
}

// openOffice opens the office of a namespace on behalf of the machine's operator.
func (s *Server) openOffice(ctx context.Context, ns retake.NamespaceID) (*adminapi.Office, func(), error) {
	t, release, err := s.pool.Open(ctx, ns)
	if err != nil {
		return nil, nil, err
	}
	return t.Attachment.(*namespaceHandler).office, release, nil
}

// AddKey creates a key of a namespace. A key for all workspaces needs no open namespace, so
// that it can be created while another server has the namespace open.
func (s *Server) AddKey(ctx context.Context, ns retake.NamespaceID, req retake.KeyRequest) (retake.NewKey, error) {
	if len(req.Workspaces) == 0 { // there is no workspace to look up
		if _, err := s.ledger.Namespace(ctx, ns); err != nil {
			return retake.NewKey{}, &retake.Error{Kind: retake.NotFound, What: "there is no such namespace", Safe: "Nothing was changed.", Err: err}
		}
		return s.keysOf(ns).MakeKey(ctx, req)
	}
	o, release, err := s.openOffice(ctx, ns)
	if err != nil {
		return retake.NewKey{}, err
	}
	defer release()
	return o.MakeKey(ctx, req)
}

// keysOf returns the office of a namespace that is not open, which can make keys.
func (s *Server) keysOf(ns retake.NamespaceID) *adminapi.Office {
	return adminapi.New(adminapi.Options{Namespace: ns, Ledger: s.ledger, Sealer: s.sealer, Clock: s.opts.Clock})
}

// AddProvisionerKey creates a key of a namespace that creates other namespaces. Only the owner of
// the server can.
func (s *Server) AddProvisionerKey(ctx context.Context, ns retake.NamespaceID, req retake.KeyRequest) (retake.NewKey, error) {
	if _, err := s.ledger.Namespace(ctx, ns); err != nil {
		return retake.NewKey{}, &retake.Error{Kind: retake.NotFound, What: "there is no such namespace", Safe: "Nothing was changed.", Err: err}
	}
	return s.keysOf(ns).MakeProvisionerKey(ctx, req)
}

// Namespaces lists all namespaces.
func (s *Server) Namespaces(ctx context.Context) ([]retake.Namespace, error) {
	return s.ledger.Namespaces(ctx)
}

// SetRoots sets the directories of this machine in which a namespace may have workspaces.
func (s *Server) SetRoots(ctx context.Context, ns retake.NamespaceID, roots []string) (retake.Namespace, error) {
	return s.changeNamespace(ctx, ns, func(row *retake.Namespace) { row.Roots = roots })
}

// SetLimits changes the limits of a namespace. The operator is not bound by maxTenantLimits.
func (s *Server) SetLimits(ctx context.Context, ns retake.NamespaceID, change func(*retake.Limits)) (retake.Namespace, error) {
	return s.changeNamespace(ctx, ns, func(row *retake.Namespace) { change(&row.Limits) })
}

func (s *Server) changeNamespace(ctx context.Context, ns retake.NamespaceID, change func(*retake.Namespace)) (retake.Namespace, error) {
	row, err := s.ledger.ChangeNamespace(ctx, ns, func(row *retake.Namespace) error {
		change(row)
		return nil
	})
	if errors.Is(err, serverdb.ErrNotFound) {
		return row, &retake.Error{Kind: retake.NotFound, What: "there is no such namespace", Safe: "Nothing was changed."}
	}
	return row, err
}
