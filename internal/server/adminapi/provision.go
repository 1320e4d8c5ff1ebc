package adminapi

import (
	"context"

	"github.com/retake-dev/retake"
)

// CreateNamespace creates a namespace that belongs to this one's provisioner keys.
func (o *Office) CreateNamespace(ctx context.Context, req retake.NamespaceRequest) (retake.NewNamespace, error) {
	row := retake.Namespace{ID: req.ID, Limits: retake.DefaultLimits(), Creator: o.Options.Namespace}
	if req.Limits != nil {
		row.Limits = *req.Limits
	}
	out, err := o.Provision(ctx, row, req.Webhook)
	if err == nil {
		err = o.book.Note(ctx, "create namespace", string(req.ID))
	}
	return out, err
}

// Provisioned lists the namespaces that this one created.
func (o *Office) Provisioned(ctx context.Context) ([]retake.Namespace, error) {
	all, err := o.Ledger.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	out := []retake.Namespace{}
	for i := range all {
		if all[i].Creator == o.Options.Namespace {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// ProvisionedNamespace returns a namespace that this one created. Any other is not found.
func (o *Office) ProvisionedNamespace(ctx context.Context, ns retake.NamespaceID) (retake.Namespace, error) {
	row, err := o.Ledger.Namespace(ctx, ns)
	if err == nil && row.Creator != o.Options.Namespace {
		return retake.Namespace{}, &retake.Error{Kind: retake.NotFound, What: "there is no such namespace", Safe: unchanged}
	}
	return row, notFoundError("namespace", err)
}

// SetNamespaceLimits sets the limits of a namespace that this one created.
func (o *Office) SetNamespaceLimits(ctx context.Context, ns retake.NamespaceID, q retake.LimitsRequest) (retake.Namespace, error) {
	if _, err := o.ProvisionedNamespace(ctx, ns); err != nil {
		return retake.Namespace{}, err
	}
	row, err := o.Ledger.ChangeNamespace(ctx, ns, func(row *retake.Namespace) error {
		if q.IfVersion != "" {
			ctx = retake.IfVersion(ctx, q.IfVersion)
		}
		if err := retake.CheckVersion(ctx, "the limits", row.Limits.Version()); err != nil {
			return err
		}
		row.Limits = q.Limits
		return nil
	})
	return row, notFoundError("namespace", err)
}

// CreateNamespaceKey creates a key of a namespace that this one created.
func (o *Office) CreateNamespaceKey(ctx context.Context, ns retake.NamespaceID, req retake.KeyRequest) (retake.NewKey, error) {
	if _, err := o.ProvisionedNamespace(ctx, ns); err != nil {
		return retake.NewKey{}, err
	}
	req.Workspaces = nil
	return o.ProvisionKey(ctx, ns, req)
}
