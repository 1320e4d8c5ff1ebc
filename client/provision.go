package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// WriteFile replaces or creates a file of a workspace. It is sent only once, because the content
// cannot be read again.
func (c *admin) WriteFile(ctx context.Context, req retake.FileRequest, content io.Reader) (retake.FileWritten, error) {
	a := newRequest(http.MethodPut, nil, "workspaces", string(req.Workspace), "file")
	a.query = url.Values{"path": {req.Path}}
	if req.Mode != 0 {
		a.query.Set("mode", strconv.FormatUint(uint64(req.Mode), 8))
	}
	a.stream = io.NopCloser(content) // the caller closes it
	return callJSON[retake.FileWritten](ctx, c.conn, a)
}

// RemoveFile removes a file of a workspace.
func (c *admin) RemoveFile(ctx context.Context, req retake.FileRequest) error {
	a := newRequest(http.MethodDelete, nil, "workspaces", string(req.Workspace), "file")
	a.query = url.Values{"path": {req.Path}}
	return c.conn.sendDelete(ctx, a)
}

// CreateNamespace creates a namespace. The key must be a provisioner.
func (c *admin) CreateNamespace(ctx context.Context, req retake.NamespaceRequest) (retake.NewNamespace, error) {
	b := wire.NamespaceBody{ID: req.ID, Webhook: req.Webhook}
	if req.Limits != nil {
		l := wire.NewLimitsBody(*req.Limits)
		b.Limits = &l
	}
	return callJSON[retake.NewNamespace](ctx, c.conn, newRequest(http.MethodPost, b, "namespaces"))
}

// Provisioned lists the namespaces that the namespace of the key created.
func (c *admin) Provisioned(ctx context.Context) ([]retake.Namespace, error) {
	return listAll[retake.Namespace](ctx, c.conn, "namespaces")
}

// ProvisionedNamespace returns one of them.
func (c *admin) ProvisionedNamespace(ctx context.Context, ns retake.NamespaceID) (retake.Namespace, error) {
	return callJSON[retake.Namespace](ctx, c.conn, newGet(nil, "namespaces", string(ns)))
}

// SetNamespaceLimits replaces the limits of one of them.
func (c *admin) SetNamespaceLimits(ctx context.Context, ns retake.NamespaceID, q retake.LimitsRequest) (retake.Namespace, error) {
	return c.putLimits(ctx, q, "namespaces", string(ns), "limits")
}

// CreateNamespaceKey creates a key of one of them.
func (c *admin) CreateNamespaceKey(ctx context.Context, ns retake.NamespaceID, req retake.KeyRequest) (retake.NewKey, error) {
	b := wire.NamespaceKeyBody{Kind: req.Kind, Name: req.Name, Expires: req.Expires}
	return callJSON[retake.NewKey](ctx, c.conn, newRequest(http.MethodPost, b, "namespaces", string(ns), "keys"))
}
