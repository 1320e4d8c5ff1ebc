package kopia

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/format"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/repo/object"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
)

// Bytes that are stored and cannot be read any more would be damage for ever: a save that has the
// same bytes finds them in the index and does not store them again. So a content that was found
// damaged is deleted from the index. The next writer who has its bytes stores them anew, and every
// checkpoint that needs them is whole again.

// damageList is what is known of damage in a store.
type damageList struct {
	s        *Store
	working  sync.Mutex // held while contents are dropped, or taken back
	mu       sync.Mutex
	seq      int64                       // incremented whenever contents are deleted as damaged
	contents map[content.ID]damagedEntry // deleted, and not written again
	objects  map[retake.ObjectID]bool    // a read of them failed; not looked into yet
	packs    map[blob.ID]bool            // the same for packs
}

// damagedEntry is a line of contentsFile.
type damagedEntry struct {
	Content string    `json:"content"`
	Pack    blob.ID   `json:"pack"`
	Found   time.Time `json:"found"`
}

// contentsFile lists the damaged contents, in the directory of damaged files.
const contentsFile = "contents"

// suspectObject notes that an object could not be read.
func (d *damageList) suspectObject(id retake.ObjectID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.objects == nil {
		d.objects = map[retake.ObjectID]bool{}
	}
	d.objects[id] = true
}

// suspectPack notes that a pack could not be read.
func (d *damageList) suspectPack(id blob.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.packs == nil {
		d.packs = map[blob.ID]bool{}
	}
	d.packs[id] = true
}

func (d *damageList) takeSuspects() (objects map[retake.ObjectID]bool, packs map[blob.ID]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	objects, packs = d.objects, d.packs
	d.objects, d.packs = nil, nil
	return objects, packs
}

func (d *damageList) has(id content.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.contents[id]
	return ok
}

func (d *damageList) isEmpty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.contents) == 0
}

// touchesPart reports whether an object needs a damaged content. The parts of a large file are
// asked one by one.
func (d *damageList) touchesPart(id retake.ObjectID) bool {
	if !d.touches(id) || !strings.HasPrefix(string(id), "I") {
		return d.touches(id)
	}
	ctx := context.Background()
	r, release, err := d.s.acquireReader(ctx)
	if err != nil {
		return true
	}
	defer release()
	v, ok := r.(*session)
	oid, err := parseObject(id)
	if !ok || err != nil {
		return true
	}
	parts, err := partsOf(ctx, v, oid)
	return err != nil || slices.ContainsFunc(parts, d.has)
}

// partsOf lists the contents of an object, whether they can be read or not. The lists of a large
// object must be readable.
func partsOf(ctx context.Context, v *session, id object.ID) ([]content.ID, error) {
	if c, _, ok := id.ContentID(); ok {
		return []content.ID{c}, nil
	}
	list, _ := id.IndexObjectID()
	out, err := partsOf(ctx, v, list)
	if err != nil {
		return nil, err
	}
	entries, err := object.LoadIndexObject(ctx, v.contents, list)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		parts, err := partsOf(ctx, v, entries[i].Object)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	return out, nil
}

// touches reports whether an object may need a damaged content. Of a large file it does not know.
func (d *damageList) touches(id retake.ObjectID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.contents) == 0 {
		return false
	}
	if strings.HasPrefix(string(id), "I") {
		return true
	}
	c, err := content.ParseID(string(id))
	if err != nil { // compressed by the object layer, as older engines did
		return true
	}
	_, ok := d.contents[c]
	return ok
}

// Damage returns what is known to be damaged.
func (s *Store) Damage() store.Damage {
	d := &s.damage
	d.mu.Lock()
	defer d.mu.Unlock()
	return store.Damage{Seq: d.seq, Parts: len(d.contents), Touches: d.touchesPart}
}

// note remembers an object that could not be read, and returns the error. A content that is
// gone after it was found damaged is damage, and not an object that never was.
func (d *damageList) note(id retake.ObjectID, err error) error {
	if errors.Is(err, store.ErrNotFound) && d.touches(id) {
		err = asDamaged(err)
	}
	if errors.Is(err, store.ErrDamaged) {
		d.suspectObject(id)
	}
	return err
}

// drop looks into the packs of objects that could not be read, and deletes what is damaged
// in them from the index.
func (d *damageList) drop(ctx context.Context) (err error) {
	d.working.Lock()
	defer d.working.Unlock()
	s := d.s
	objects, packs := d.takeSuspects()
	if len(objects)+len(packs) == 0 {
		return nil
	}
	defer func() {
		for id := range objects {
			if err != nil { // another time
				d.suspectObject(id)
			}
		}
	}()
	if err := d.checkStorage(ctx); err != nil {
		return err
	}
	release, err := s.lockShared(ctx)
	if err != nil {
		return err
	}
	defer release()
	v, err := s.newSession(ctx)
	if err != nil {
		return err
	}
	if packs == nil {
		packs = map[blob.ID]bool{}
	}
	for id := range objects {
		addPacksOf(ctx, v, id, packs)
	}
	bad, err := findDamaged(ctx, v, func(i content.Info) bool { return packs[i.PackBlobID] })
	return errors.Join(err, d.delete(ctx, v, bad), v.Close(context.WithoutCancel(ctx)), s.retireView(ctx))
}

// checkStorage makes sure that the storage itself is there: an empty directory in its place would
// look like damage of everything.
func (d *damageList) checkStorage(ctx context.Context) error {
	if _, err := d.s.blobs.GetMetadata(ctx, format.KopiaRepositoryBlobID); err != nil {
		return fmt.Errorf("look into damage: %w", err)
	}
	return nil
}

// addPacksOf adds the packs of all contents of an object. Of an object whose list of contents
// cannot be read, it adds that of the list.
func addPacksOf(ctx context.Context, v *session, id retake.ObjectID, packs map[blob.ID]bool) {
	var ids []content.ID
	if oid, err := parseObject(id); err == nil {
		ids, _ = partsOf(ctx, v, oid) // without the lists of a large object only its own pack is known
	}
	if c, err := content.ParseID(strings.TrimLeft(string(id), "IZ")); err == nil {
		ids = append(ids, c)
	}
	for _, c := range ids {
		if i, err := v.contents.ContentInfo(ctx, c); err == nil {
			packs[i.PackBlobID] = true
		}
	}
}

// findDamaged reads the contents that are asked for, and returns those whose bytes are damaged. Of
// what the disk refuses to read nothing is known; that is the error. Heads are never among them:
// without its head a history would go on from an older one.
func findDamaged(ctx context.Context, v *session, want func(content.Info) bool) ([]content.Info, error) {
	var asked []content.Info
	err := v.contents.IterateContents(ctx, content.IterateOptions{}, func(i content.Info) error {
		if want(i) && i.ContentID.Prefix() != manifest.ContentPrefix {
			asked = append(asked, i)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look into damage: %w", err)
	}
	return damagedOf(ctx, v, asked)
}

// damagedOf reads contents, and returns those whose bytes are damaged.
func damagedOf(ctx context.Context, v *session, asked []content.Info) ([]content.Info, error) {
	var bad []content.Info
	var unknown error
	for _, i := range asked {
		var err error
		for range 2 { // what can be read the second time is not damaged
			if _, err = v.contents.GetContent(ctx, i.ContentID); err == nil {
				break
			}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !mayBeDamage(ctx, err):
			unknown = fmt.Errorf("look into damage: %w", err)
		default:
			bad = append(bad, i)
		}
	}
	return bad, unknown
}

// delete deletes contents from the index. What they were is written down before.
func (d *damageList) delete(ctx context.Context, v *session, bad []content.Info) error {
	if len(bad) == 0 {
		return nil
	}
	d.mu.Lock()
	if d.contents == nil {
		d.contents = map[content.ID]damagedEntry{}
	}
	for _, i := range bad {
		d.contents[i.ContentID] = damagedEntry{i.ContentID.String(), i.PackBlobID, d.s.clock.Now()}
	}
	err := d.writeLocked()
	d.mu.Unlock()
	for _, i := range bad {
		if now, nerr := v.contents.ContentInfo(ctx, i.ContentID); nerr != nil || now.PackBlobID != i.PackBlobID || now.Deleted {
			continue // somebody has written it again
		}
		if err == nil {
			err = v.contents.DeleteContent(ctx, i.ContentID)
		}
	}
	if err == nil {
		err = v.contents.Flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("drop damaged contents: %w", err)
	}
	d.mu.Lock()
	d.seq++
	d.mu.Unlock()
	d.s.reportRepair(fmt.Sprintf("%d pieces of stored bytes are damaged; saves store them again if they have them", len(bad)))
	return nil
}

// forgetHealed removes contents from the list that were written again, or whose pack came back.
func (d *damageList) forgetHealed(ctx context.Context) error {
	d.working.Lock()
	defer d.working.Unlock()
	if d.isEmpty() {
		return nil
	}
	release, err := d.s.lockShared(ctx)
	if err != nil {
		return err
	}
	defer release()
	v, err := d.s.newSession(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	listed := slices.Collect(maps.Keys(d.contents))
	d.mu.Unlock()
	healed := slices.DeleteFunc(listed, func(id content.ID) bool { return !isHealed(ctx, v, id) })
	if len(healed) > 0 {
		err = errors.Join(v.contents.Flush(ctx), d.forget(healed))
	}
	return errors.Join(err, v.Close(ctx))
}

// isHealed reports whether a content can be read, and takes back its deletion.
func isHealed(ctx context.Context, v *session, id content.ID) bool {
	i, err := v.contents.ContentInfo(ctx, id)
	if err != nil || !i.Deleted {
		return err == nil
	}
	return v.contents.UndeleteContent(ctx, id) == nil
}

// forget removes contents from the list.
func (d *damageList) forget(healed []content.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range healed {
		delete(d.contents, id)
	}
	d.s.reportRepair(fmt.Sprintf("%d damaged pieces of stored bytes can be read again", len(healed)))
	return d.writeLocked()
}

// writeLocked writes the list. The caller holds the lock of the list.
func (d *damageList) writeLocked() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	entries := make([]damagedEntry, 0, len(d.contents))
	for _, e := range d.contents {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b damagedEntry) int { return strings.Compare(a.Content, b.Content) })
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if err := d.s.homeDir.Mkdir(mirror.DamagedDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, done, err := openBelow(d.s.homeDir, mirror.DamagedDir)
	if err != nil {
		return err
	}
	defer done()
	return fsx.ReplaceIn(dir, contentsFile, b.Bytes())
}

// read reads the list. Lines that make no sense are passed over: the list only explains.
func (d *damageList) read() {
	dir, done, err := openBelow(d.s.homeDir, mirror.DamagedDir)
	if err != nil {
		return
	}
	defer done()
	f, err := dir.OpenFile(contentsFile)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // nothing was written
	d.mu.Lock()
	defer d.mu.Unlock()
	d.contents = map[content.ID]damagedEntry{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e damagedEntry
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if id, err := content.ParseID(e.Content); err == nil {
			d.contents[id] = e
		}
	}
	if len(d.contents) > 0 {
		d.seq++
	}
}
