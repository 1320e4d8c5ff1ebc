package tenant

import (
	"context"

	"github.com/retake-dev/retake"
)

// noRemotes refuses copies at other places: a server's own disks and buckets hold the history, and who asks
// must not send it elsewhere.
type noRemotes struct{}

var _ interface {
	retake.Carrier
	retake.Attacher
} = noRemotes{}

func refuseRemotes() error {
	return &retake.Error{Kind: retake.Denied, What: "a server has no remotes", Safe: unchanged, Hint: "they are for the history on your machine: retake help remote"}
}

func (noRemotes) AddRemote(context.Context, retake.RemoteRequest) (retake.Remote, error) {
	return retake.Remote{}, refuseRemotes()
}

func (noRemotes) Remotes(context.Context) ([]retake.Remote, error) { return []retake.Remote{}, nil }

func (noRemotes) RemoveRemote(context.Context, string) (retake.Remote, error) {
	return retake.Remote{}, refuseRemotes()
}

func (noRemotes) SyncRemotes(context.Context, retake.SyncQuery) ([]retake.Remote, error) {
	return nil, refuseRemotes()
}

func (noRemotes) Attach(context.Context, retake.AttachRequest) (retake.Receipt, error) {
	return retake.Receipt{Missing: []retake.NotArrived{}}, refuseRemotes()
}

func (noRemotes) CheckRemote(context.Context, retake.RemoteCheckQuery) (retake.RemoteCheck, error) {
	return retake.RemoteCheck{}, refuseRemotes()
}
