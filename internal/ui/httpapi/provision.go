package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type provisionedPath struct {
	Namespace retake.NamespaceID `path:"namespace" doc:"The namespace's name."`
}

type provisionedLimits struct {
	Namespace retake.NamespaceID `path:"namespace" doc:"The namespace's name."`
	IfMatch
	Body wire.LimitsBody
}

type provisionedKey struct {
	Namespace retake.NamespaceID `path:"namespace" doc:"The namespace's name."`
	Body      wire.NamespaceKeyBody
}

// registerProvisioning registers the routes that create namespaces and their keys.
func (a *api) registerProvisioning() {
	handleOffice(a, withStatusCreated(newOperation(http.MethodPost, "/v1/namespaces", "create-namespace", "Create a namespace")), createNamespace)
	handleOffice(a, newOperation(http.MethodGet, "/v1/namespaces", "list-namespaces", "List namespaces"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Namespace], error) {
		all, err := o.Provisioned(ctx)
		for i := range all {
			all[i] = fillNamespace(all[i])
		}
		return pageFromList(a, "namespaces", in, all, err, func(ns *retake.Namespace) string { return string(ns.ID) })
	})
	handleNamespace(a, newOperation(http.MethodGet, "/v1/namespaces/{namespace}", "provisioned-namespace", "Get a namespace"), func(ctx context.Context, o retake.Office, in *provisionedPath) (retake.Namespace, error) {
		return o.ProvisionedNamespace(ctx, in.Namespace)
	})
	handleNamespace(a, newOperation(http.MethodPut, "/v1/namespaces/{namespace}/limits", "set-namespace-limits", "Change the limits of a namespace"), func(ctx context.Context, o retake.Office, in *provisionedLimits) (retake.Namespace, error) {
		return changeLimitsOf(ctx, &in.Body,
			func() (retake.Namespace, error) { return o.ProvisionedNamespace(ctx, in.Namespace) },
			func(q retake.LimitsRequest) (retake.Namespace, error) {
				return o.SetNamespaceLimits(ctx, in.Namespace, q)
			})
	})
	handleOffice(a, withStatusCreated(newOperation(http.MethodPost, "/v1/namespaces/{namespace}/keys", "create-namespace-key", "Create an API key of a namespace")), func(ctx context.Context, o retake.Office, in *provisionedKey) (retake.NewKey, error) {
		k, err := o.CreateNamespaceKey(ctx, in.Namespace, retake.KeyRequest{Kind: in.Body.Kind, Name: in.Body.Name, Expires: in.Body.Expires})
		k.Key.Workspaces = nonNil(k.Key.Workspaces)
		return k, err
	})
}

func createNamespace(ctx context.Context, o retake.Office, in *body[wire.NamespaceBody]) (retake.NewNamespace, error) {
	req := retake.NamespaceRequest{ID: in.Body.ID, Webhook: in.Body.Webhook}
	if in.Body.Limits != nil {
		l, err := in.Body.Limits.ApplyTo(retake.DefaultLimits())
		if err != nil {
			return retake.NewNamespace{}, requestProblem(http.StatusUnprocessableEntity, "body.limits."+err.Error())
		}
		req.Limits = &l
	}
	out, err := o.CreateNamespace(ctx, req)
	out.Keys, out.Namespace = nonNil(out.Keys), fillNamespace(out.Namespace)
	for i := range out.Keys {
		out.Keys[i].Key.Workspaces = nonNil(out.Keys[i].Key.Workspaces)
	}
	return out, err
}
