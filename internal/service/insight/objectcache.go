package insight

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Bounds of the bytes that are kept while one story is built.
const (
	maxCachedFile  = 64 << 10 // of one file
	maxCachedBytes = 4 << 20
	maxReadAhead   = 64 // files
)

// objectCache keeps small stored files while one story is built: several readers want them,
// and lines are counted too.
type objectCache struct {
	openObject story.ObjectOpener
	objects    map[retake.ObjectID]*cachedObject // the map itself never changes
}

// cachedObject is read once, by the first caller; data is nil if that failed.
type cachedObject struct {
	once sync.Once
	data []byte
}

// cacheObjects returns an opener that reads each small file of the changes only once.
func cacheObjects(open story.ObjectOpener, changes []retake.Change) story.ObjectOpener {
	o := &objectCache{openObject: open, objects: map[retake.ObjectID]*cachedObject{}}
	left := int64(maxCachedBytes)
	for i := range changes {
		for _, e := range []*retake.Entry{changes[i].Before, changes[i].After} {
			if !isCacheableEntry(e) || e.Size > left || o.objects[e.Object] != nil {
				continue
			}
			o.objects[e.Object] = &cachedObject{}
			left -= e.Size
		}
	}
	return o.openCached
}

// isCacheableEntry reports whether the file of an entry is small and stored. A live file
// may differ the next time.
func isCacheableEntry(e *retake.Entry) bool {
	return e != nil && e.Kind == retake.KindFile && e.Object != "" && e.Size > 0 && e.Size <= maxCachedFile && !history.IsLiveObject(e.Object)
}

// openCached opens an object from the cache. If it could not be cached it is opened
// directly, so that the caller gets the error.
func (o *objectCache) openCached(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	k := o.objects[id]
	if k == nil {
		return o.openObject(ctx, id)
	}
	k.once.Do(func() { k.data = o.readObject(ctx, id) })
	if k.data == nil {
		return o.openObject(ctx, id) // the caller gets the error
	}
	return io.NopCloser(bytes.NewReader(k.data)), nil
}

// readObject reads an object for the cache; nil if that failed or it is too large.
func (o *objectCache) readObject(ctx context.Context, id retake.ObjectID) []byte {
	r, err := o.openObject(ctx, id)
	if err != nil || r == nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(r, maxCachedFile+1))
	if closed := r.Close(); err != nil || closed != nil || len(b) > maxCachedFile {
		return nil
	}
	return b
}

// readAhead starts to read the files that readers will need, while the catalog is queried.
// The caller calls the returned function to wait for the end.
func (r *factReader) readAhead(ctx context.Context) (wait func()) {
	var ids []retake.ObjectID
	for _, after := range []int{1, 0} {
		for _, one := range r.sides {
			c := r.changes[one.Path]
			if e := [2]*retake.Entry{c.Before, c.After}[after]; isCacheableReading(one) && isCacheableEntry(e) && len(ids) < maxReadAhead {
				ids = append(ids, e.Object)
			}
		}
	}
	if len(ids) < 2 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.svc.workspaces.Diag.Run(workspace.TaskReadAhead, func() error { // the reader gets any error again
			for _, id := range ids {
				if f, err := r.input.OpenObject(ctx, id); err == nil && f != nil {
					_ = f.Close() // it is cached now
				}
			}
			return nil
		})
	}()
	return func() { <-done }
}
