package kopia

import (
	"context"
	"slices"
	"time"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/repo/object"
)

func sortNumbers(n []int64) []int64 {
	slices.Sort(n)
	return n
}

// session is a writer of the repository that nobody shares: what it wrote and did not flush is
// dropped with it, without affecting the writes of others. It uses one view of the index.
type session struct {
	repo.DirectRepositoryWriter // of the store; what is not overridden below needs no view
	blobs                       blobStore
	shared                      *content.SharedManager
	contents                    *content.WriteManager
	objects                     *object.Manager
	manifests                   *manifest.Manager
	release                     func(context.Context) error // gives the view back; nil: nothing to give
}

// Close drops what was not flushed.
func (v *session) Close(ctx context.Context) error {
	if v.release == nil {
		return nil
	}
	return v.release(ctx)
}

func (v *session) BlobStorage() blob.Storage             { return v.blobs }
func (v *session) ContentManager() *content.WriteManager { return v.contents }
func (v *session) ContentReader() content.Reader         { return v.contents }

func (v *session) ContentInfo(ctx context.Context, id content.ID) (content.Info, error) {
	return v.contents.ContentInfo(ctx, id)
}

func (v *session) NewObjectWriter(ctx context.Context, o object.WriterOptions) object.Writer {
	return v.objects.NewWriter(ctx, o)
}

func (v *session) OpenObject(ctx context.Context, id object.ID) (object.Reader, error) {
	return object.Open(ctx, v.contents, id)
}

func (v *session) VerifyObject(ctx context.Context, id object.ID) ([]content.ID, error) {
	return object.VerifyObject(ctx, v.contents, id)
}

func (v *session) PutManifest(ctx context.Context, labels map[string]string, payload any) (manifest.ID, error) {
	return v.manifests.Put(ctx, labels, payload)
}

func (v *session) DeleteManifest(ctx context.Context, id manifest.ID) error {
	return v.manifests.Delete(ctx, id)
}

func (v *session) GetManifest(ctx context.Context, id manifest.ID, payload any) (*manifest.EntryMetadata, error) {
	return v.manifests.Get(ctx, id, payload)
}

func (v *session) FindManifests(ctx context.Context, labels map[string]string) ([]*manifest.EntryMetadata, error) {
	return v.manifests.Find(ctx, labels)
}

// ReplaceManifests replaces all manifests with these labels by one.
func (v *session) ReplaceManifests(ctx context.Context, labels map[string]string, payload any) (manifest.ID, error) {
	old, err := v.FindManifests(ctx, labels)
	if err != nil {
		return "", err
	}
	for _, m := range old {
		if err := v.DeleteManifest(ctx, m.ID); err != nil {
			return "", err
		}
	}
	return v.PutManifest(ctx, labels, payload)
}

// reloadManifests makes the session read the manifests again, with what it has not flushed.
func (v *session) reloadManifests(ctx context.Context, now func() time.Time) (err error) {
	v.manifests, err = manifest.NewManager(ctx, v.contents, manifest.ManagerOptions{TimeNow: now, AutoCompactionThreshold: neverPack}, nil)
	return err
}

func (v *session) Refresh(ctx context.Context) error { return v.contents.Refresh(ctx) }

func (v *session) Flush(ctx context.Context) error {
	if err := v.manifests.Flush(ctx); err != nil {
		return err
	}
	return v.contents.Flush(ctx)
}
