package kopiastore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/repo/object"
)

func rising(n []int64) []int64 {
	slices.Sort(n)
	return n
}

// session is a writing view of the repository that nobody shares: what it wrote
// and did not flush is dropped with it, and takes nobody else's writes along. It
// stands on an index view of its own, made without deriving the key again, so
// that a long line of saves can be given a short index from time to time.
type session struct {
	repo.DirectRepositoryWriter // of the store; what is not overridden below needs no view
	disk                        *disk
	shared                      *content.SharedManager
	contents                    *content.WriteManager
	objects                     *object.Manager
	manifests                   *manifest.Manager
}

// newSession reads the index as it is now on disk.
func (s *Store) newSession(ctx context.Context) (*session, error) {
	_, base, err := s.rep.NewDirectWriter(ctx, repo.WriteSessionOptions{Purpose: "base"})
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", err)
	}
	err = s.disk.list.renew(s.disk.dir)
	if err == nil { // another process may have swept, with a clock ahead of ours
		err = startClock(ctx, s.clock, s.home, s.disk)
	}
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", errors.Join(err, base.Close(ctx)))
	}
	// No log manager: it would leave an empty log blob, with two syncs, at every close.
	shared, err := content.NewSharedManager(ctx, s.disk, base.FormatManager(), &content.CachingOptions{},
		&content.ManagerOptions{TimeNow: s.clock.Now}, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", errors.Join(err, base.Close(ctx)))
	}
	v := &session{DirectRepositoryWriter: base, disk: s.disk, shared: shared}
	v.contents = content.NewWriteManager(ctx, shared, content.SessionOptions{SessionUser: identity, SessionHost: identity}, "line")
	v.objects, err = object.NewObjectManager(ctx, v.contents, base.FormatManager().ObjectFormat(), nil)
	if err == nil {
		v.manifests, err = manifest.NewManager(ctx, v.contents, manifest.ManagerOptions{TimeNow: s.clock.Now}, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("begin session: %w", errors.Join(err, v.Close(ctx)))
	}
	return v, nil
}

// Close drops what was not flushed.
func (v *session) Close(ctx context.Context) error {
	return errors.Join(v.shared.CloseShared(ctx), v.DirectRepositoryWriter.Close(ctx))
}

func (v *session) BlobStorage() blob.Storage             { return v.disk }
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

// ReplaceManifests puts one in the place of all with these labels.
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

func (v *session) Refresh(ctx context.Context) error { return v.contents.Refresh(ctx) }

func (v *session) Flush(ctx context.Context) error {
	if err := v.manifests.Flush(ctx); err != nil {
		return err
	}
	return v.contents.Flush(ctx)
}
