package kopiastore

import (
	"context"

	"github.com/retake-dev/retake"
)

// Place answers the file in which the first bytes of an object lie, and where in it.
func (s *Store) Place(ctx context.Context, id retake.ObjectID) (name string, offset int64, err error) {
	if err := s.refresh(ctx); err != nil {
		return "", 0, err
	}
	oid, err := parseObject(id)
	if err != nil {
		return "", 0, err
	}
	r, release, err := s.reading(ctx)
	if err != nil {
		return "", 0, err
	}
	defer release()
	parts, err := r.VerifyObject(ctx, oid)
	if err != nil {
		return "", 0, err
	}
	i, err := r.ContentInfo(ctx, parts[0])
	if err != nil {
		return "", 0, err
	}
	return string(i.PackBlobID) + suffix, int64(i.PackOffset) + int64(i.PackedLength)/2, nil
}

// Retire makes the next session begin on a new view.
func (s *Store) Retire(ctx context.Context) error { return s.retire(ctx) }
