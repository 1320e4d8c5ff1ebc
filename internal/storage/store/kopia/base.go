package kopia

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// A store may begin as what a copy has: it has the indexes of the copy from the first moment, and a pack comes
// when somebody needs it, or in the background. It writes packs and indexes of its own, and never to the copy.
// Once it has all packs that its histories reach it stands alone.

// baseFile lists the packs of the copy. It does not change until it is removed: what is here counts first.
const baseFile = "base"

const (
	maxBaseList   = 256 << 20
	baseDownloads = 8
)

// Base is the copy that a store begins as.
type Base struct {
	Format  map[string][]byte // the blobs that open it
	Indexes []replica.Index
	Packs   map[string]int64 // and their sizes
	Head    *replica.Head
	Get     replica.GetFunc
}

// CreateFrom makes the store of a copy in an empty directory. Options have the password of the copy.
func CreateFrom(ctx context.Context, o Options, b Base) (err error) {
	release, err := o.Locks.Lock(ctx, "create", true)
	if err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	defer release()
	if there, err := hasPassword(o.FS, o.Dir); err != nil || there {
		return errors.Join(err, fmt.Errorf("create store: %w", fs.ErrExist))
	}
	s, err := openStorage(ctx, o, true)
	if err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.blobs.removePartial(ctx); err != nil { // of one that was cut off
		return fmt.Errorf("create store: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Format)) {
		if err := s.blobs.PutBlob(ctx, blob.ID(name), plainBytes(b.Format[name]), blob.PutOptions{}); err != nil {
			return fmt.Errorf("create store: %w", err)
		}
	}
	if err := pullIndexes(ctx, s, b); err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	list, err := json.Marshal(b.Packs)
	if err == nil {
		err = fsx.ReplaceIn(s.homeDir, baseFile, list)
	}
	if err == nil {
		s.clock.RaiseTo(b.Head.Clock)
		err = s.blobs.saveClockMark(ctx, b.Head.Clock)
	}
	if err == nil {
		err = writePassword(s.homeDir, o.Password)
	}
	if err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	return nil
}

// pullIndexes copies the indexes of a copy, which are small, several at a time.
func pullIndexes(ctx context.Context, s *Store, b Base) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(baseDownloads)
	for _, x := range b.Indexes {
		g.Go(func() error {
			name := x.Pack
			if name == "" {
				name = x.Name
			}
			data, err := b.Get(ctx, name, x.Offset, x.Length)
			if err != nil {
				return fmt.Errorf("read index %s: %w", x.Name, err)
			}
			return s.blobs.PutBlob(ctx, blob.ID(x.Name), plainBytes(data), blob.PutOptions{})
		})
	}
	return g.Wait()
}

// baseBlobs is the storage of a store that began as a copy.
type baseBlobs struct {
	*disk
	open  func(ctx context.Context) (replica.GetFunc, error)
	calls singleflight.Group

	mu    sync.Mutex
	packs map[blob.ID]int64 // guarded by mu; of the copy, that are not here
	get   replica.GetFunc   // guarded by mu; nil: the copy is not open
	ended bool              // guarded by mu; all that is needed is here
}

// withBase returns d, or if the store began as a copy, d with what the copy has.
func withBase(d *disk, home fsx.Dir, open func(ctx context.Context) (replica.GetFunc, error)) (blobStore, error) {
	f, err := home.OpenFile(baseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of the copy: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	var packs map[blob.ID]int64
	if err := json.NewDecoder(io.LimitReader(f, maxBaseList)).Decode(&packs); err != nil {
		return nil, fmt.Errorf("read the list of the copy: %w", err)
	}
	maps.DeleteFunc(packs, func(id blob.ID, size int64) bool {
		_, err := d.GetMetadata(context.Background(), id)
		return err == nil || size <= 0 || !isPackName(id)
	})
	return &baseBlobs{disk: d, open: open, packs: packs}, nil
}

func isPackName(id blob.ID) bool {
	return len(id) < 200 && (id[0] == 'p' || id[0] == 'q') && strings.Trim(string(id), "0123456789abcdefghijklmnopqrstuvwxyz_-") == ""
}

// lacks reports whether a pack is in the copy only, and its size.
func (b *baseBlobs) lacks(id blob.ID) (int64, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	size, ok := b.packs[id]
	return size, ok
}

func (b *baseBlobs) GetBlob(ctx context.Context, id blob.ID, offset, length int64, out blob.OutputBuffer) error {
	if _, ok := b.lacks(id); ok {
		if err := b.fetch(ctx, id); err != nil {
			return err
		}
	}
	return b.disk.GetBlob(ctx, id, offset, length, out)
}

func (b *baseBlobs) GetMetadata(ctx context.Context, id blob.ID) (blob.Metadata, error) {
	if size, ok := b.lacks(id); ok {
		return blob.Metadata{BlobID: id, Length: size}, nil
	}
	return b.disk.GetMetadata(ctx, id)
}

// DeleteBlob deletes what is here. What is in the copy stays there and is not seen any more.
func (b *baseBlobs) DeleteBlob(ctx context.Context, id blob.ID) error {
	b.mu.Lock()
	delete(b.packs, id)
	b.mu.Unlock()
	return b.disk.DeleteBlob(ctx, id)
}

// fetch downloads a pack. Several that want it wait for one download.
func (b *baseBlobs) fetch(ctx context.Context, id blob.ID) error {
	_, err, _ := b.calls.Do(string(id), func() (any, error) {
		size, ok := b.lacks(id)
		if !ok {
			return nil, nil
		}
		get, err := b.reader(ctx)
		if err != nil {
			return nil, err
		}
		data, err := get(ctx, string(id), 0, -1)
		if err == nil && int64(len(data)) != size {
			err = fmt.Errorf("%d bytes of %d: %w", len(data), size, io.ErrUnexpectedEOF)
		}
		if err == nil {
			err = b.PutBlob(ctx, id, plainBytes(data), blob.PutOptions{})
		}
		if err == nil { // it must last: the list of the copy goes one day
			err = b.syncPacksAnd(nil)
		}
		if err != nil {
			return nil, &retake.Error{Kind: retake.Away, What: "a part of this history is at its remote only, which does not answer", Safe: "Nothing was changed.", Err: fmt.Errorf("fetch %s: %w", id, err)}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.packs, id)
		return nil, nil
	})
	return err
}

func (b *baseBlobs) reader(ctx context.Context) (replica.GetFunc, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.get != nil {
		return b.get, nil
	}
	if b.open == nil {
		return nil, errors.New("the copy that this store began as can't be opened here")
	}
	get, err := b.open(ctx)
	if err == nil {
		b.get = get
	}
	return get, err
}

// FetchRequest says which packs of its base a store should have. Progress may be nil.
type FetchRequest struct {
	Tree     retake.ObjectID // what this tree needs; "": all that any history reaches
	Progress func(retake.Progress)
}

// FetchBase downloads packs of the copy that a store began as, several at a time. A store that has all it needs
// stands alone from then on.
func FetchBase(ctx context.Context, s *Store, req FetchRequest) error {
	b, ok := s.blobs.(*baseBlobs)
	if !ok || !b.isUsed() {
		return nil
	}
	if err := b.fetchAll(ctx, b.metadataPacks(), nil); err != nil { // directories say what is needed
		return err
	}
	var need []blob.ID
	var err error
	if req.Tree != "" {
		need, err = packsOfTree(ctx, s, req.Tree)
	} else {
		need, err = packsOfHistories(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("look for what is needed of the copy: %w", err)
	}
	if err := b.fetchAll(ctx, need, req.Progress); err != nil || req.Tree != "" {
		return err
	}
	if err := b.dir.Sync(); err != nil {
		return fmt.Errorf("keep what was fetched: %w", err)
	}
	b.mu.Lock()
	b.ended = true
	clear(b.packs)
	b.mu.Unlock()
	if err := s.homeDir.Remove(baseFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the use of the copy: %w", err)
	}
	return s.homeDir.Sync()
}

// NeedsBase reports whether a store still needs the copy that it began as.
func NeedsBase(s *Store) bool {
	b, ok := s.blobs.(*baseBlobs)
	return ok && b.isUsed()
}

func (b *baseBlobs) isUsed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.ended
}

// metadataPacks are those with directories and heads.
func (b *baseBlobs) metadataPacks() (out []blob.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.packs {
		if id[0] == 'q' {
			out = append(out, id)
		}
	}
	return out
}

func (b *baseBlobs) fetchAll(ctx context.Context, ids []blob.ID, progress func(retake.Progress)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(baseDownloads)
	var mu sync.Mutex
	p := retake.Progress{Total: int64(len(ids))}
	for _, id := range ids {
		g.Go(func() error {
			size, _ := b.lacks(id)
			if err := b.fetch(ctx, id); err != nil || progress == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			p.Files, p.Bytes = p.Files+1, p.Bytes+size
			progress(p)
			return nil
		})
	}
	return g.Wait()
}

// packsOfTree lists the packs with the files of a tree.
func packsOfTree(ctx context.Context, s *Store, root retake.ObjectID) ([]blob.ID, error) {
	r, release, err := s.acquireReader(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	v, seen := r.(*session), map[blob.ID]bool{}
	var packs []blob.ID // in the order in which files are written
	var walk func(id retake.ObjectID) error
	add := func(id retake.ObjectID) error {
		oid, err := parseObject(id)
		if err != nil {
			return err
		}
		parts, err := allPartsOf(ctx, v, oid)
		for _, p := range parts {
			i, err := v.contents.ContentInfo(ctx, p)
			if err != nil {
				return err
			}
			if !seen[i.PackBlobID] {
				seen[i.PackBlobID], packs = true, append(packs, i.PackBlobID)
			}
		}
		return err
	}
	walk = func(id retake.ObjectID) error {
		entries, err := readDir(ctx, v, id)
		for _, e := range entries {
			switch {
			case err != nil || e.Object == "":
			case e.Kind == retake.KindDir:
				err = walk(e.Object)
			default:
				err = add(e.Object)
			}
		}
		return err
	}
	err = walk(root)
	return packs, err
}

// packsOfHistories lists the packs with what any history reaches.
func packsOfHistories(ctx context.Context, s *Store) ([]blob.ID, error) {
	m, err := s.markReachable(ctx)
	if err != nil {
		return nil, err
	}
	defer m.close(ctx)
	r, release, err := s.acquireReader(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	packs := map[blob.ID]bool{}
	err = r.(*session).contents.IterateContents(ctx, content.IterateOptions{}, func(i content.Info) error {
		if m.isReachable(i.ContentID) {
			packs[i.PackBlobID] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(packs)), err
}

// plainBytes is a blob in memory.
type plainBytes []byte

func (b plainBytes) Length() int { return len(b) }
func (b plainBytes) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(b)
	return int64(n), err
}
func (b plainBytes) Reader() io.ReadSeekCloser { return plainReader{bytes.NewReader(b)} }

type plainReader struct{ *bytes.Reader }

func (plainReader) Close() error { return nil }
