package adminapi

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
)

// MakeKey creates a key and returns its secret.
func (o *Office) MakeKey(ctx context.Context, req retake.KeyRequest) (retake.NewKey, error) {
	if !slices.Contains(retake.KeyKinds, req.Kind) {
		return retake.NewKey{}, invalidError("%q is not a key role", req.Kind)
	}
	return o.addKey(ctx, req)
}

// MakeProvisionerKey creates a key that creates namespaces. No request leads here.
func (o *Office) MakeProvisionerKey(ctx context.Context, req retake.KeyRequest) (retake.NewKey, error) {
	req.Kind, req.Workspaces = retake.KeyProvisioner, nil
	return o.addKey(ctx, req)
}

func (o *Office) addKey(ctx context.Context, req retake.KeyRequest) (retake.NewKey, error) {
	now := o.Clock.Now()
	if req.Expires != nil && !req.Expires.After(now) {
		return retake.NewKey{}, invalidError("the key would be expired already")
	}
	if len(req.Name) > 200 {
		return retake.NewKey{}, invalidError("the name is longer than 200 bytes")
	}
	for _, ws := range req.Workspaces {
		if _, err := o.Service.Log(ctx, retake.LogQuery{Workspace: retake.WorkspaceID(ws), Limit: 1}); err != nil {
			return retake.NewKey{}, err
		}
	}
	id, err := newID("key_")
	if err != nil {
		return retake.NewKey{}, err
	}
	secret, digest, tail := token.New(req.Kind)
	k := retake.Key{ID: retake.KeyID(id), Kind: req.Kind, Name: req.Name, Tail: tail, Workspaces: req.Workspaces, Created: now, Expires: req.Expires}
	if k.Workspaces == nil {
		k.Workspaces = []string{}
	}
	if err := o.book.AddKey(ctx, k, digest); err != nil {
		return retake.NewKey{}, err
	}
	return retake.NewKey{Key: k, Secret: secret}, nil
}

// Keys lists all keys, including expired and revoked ones.
func (o *Office) Keys(ctx context.Context) ([]retake.Key, error) { return o.book.Keys(ctx) }

// RevokeKey revokes a key at once. The last admin key cannot be revoked, because no other key
// could create a new one.
func (o *Office) RevokeKey(ctx context.Context, id retake.KeyID) (retake.Key, error) {
	all, err := o.book.Keys(ctx)
	if err != nil {
		return retake.Key{}, err
	}
	now := o.Clock.Now()
	admins, last := 0, false
	for i := range all {
		if all[i].Kind == retake.KeyAdmin && all[i].Live(now) {
			admins++
			last = last || all[i].ID == id
		}
	}
	if last && admins == 1 {
		return retake.Key{}, &retake.Error{Kind: retake.Denied, What: "this is the last key that can make others", Safe: unchanged, Hint: "make another admin key first"}
	}
	k, err := o.book.RevokeKey(ctx, id, now)
	return k, notFoundError("key", err)
}
