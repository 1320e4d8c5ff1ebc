package kopia

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/content/index"
	"github.com/kopia/kopia/repo/content/indexblob"

	"github.com/retake-dev/retake/internal/storage/store/replica"
)

const (
	maxCopyPack    = 20 << 20 // as large as the engine's own
	maxCopyEntries = 50_000   // of one pack
	joinedPack     = 4 << 20  // up to this size data and metadata go into one pack
)

// packer collects contents, encrypted as they are in the store, for one pack of a copy.
type packer struct {
	buf     bytes.Buffer
	entries []content.Info // with offsets into buf
}

func (p *packer) add(i content.Info, raw []byte) {
	i.PackOffset = uint32(p.buf.Len()) //nolint:gosec // a pack is small
	p.buf.Write(raw)
	p.entries = append(p.entries, i)
}

// addDeleted adds the mark that a content is no longer there.
func (p *packer) addDeleted(id content.ID, at int64) {
	p.entries = append(p.entries, content.Info{ContentID: id, Deleted: true, TimestampSeconds: at})
}

func (p *packer) isFull(size int) bool {
	return p.buf.Len() >= size || len(p.entries) >= maxCopyEntries
}

// absorb moves the contents of another packer here.
func (p *packer) absorb(o *packer) {
	at := uint32(p.buf.Len()) //nolint:gosec // a pack is small
	for _, i := range o.entries {
		i.PackOffset += at
		p.entries = append(p.entries, i)
	}
	p.buf.Write(o.buf.Bytes())
	*o = packer{}
}

// takePack makes the pack and empties the packer. At its end is its index, in the form in which the
// engine finds it when all other indexes are lost, and by name a blob of its own.
func (c *replicaCopy) takePack(ctx context.Context, p *packer, kind string) (replica.Pack, []content.Info, error) {
	entries, data := p.entries, p.buf.Bytes()
	*p = packer{}
	var r [16]byte
	_, _ = rand.Read(r[:]) // it never returns an error
	id := blob.ID(kind + hex.EncodeToString(r[:]))
	for i := range entries {
		entries[i].PackBlobID = id
	}
	blobs, err := c.encodeIndex(ctx, entries)
	if err != nil {
		return replica.Pack{}, nil, err
	}
	if len(blobs) != 1 {
		return replica.Pack{}, nil, fmt.Errorf("make pack: its index has %d parts", len(blobs))
	}
	x := blobs[0].Index
	x.Pack, x.Offset = string(id), int64(len(data))
	data = append(data, blobs[0].Data...)
	tail, err := indexTail(x)
	if err != nil {
		return replica.Pack{}, nil, err
	}
	return replica.Pack{Name: string(id), Data: append(data, tail...), Index: x}, entries, nil
}

// encodeIndex makes an index of entries, in parts if it is large.
func (c *replicaCopy) encodeIndex(ctx context.Context, entries []content.Info) ([]replica.Blob, error) {
	mp, err := c.s.rep.FormatManager().GetMutableParameters(ctx)
	if err != nil {
		return nil, fmt.Errorf("make index: %w", err)
	}
	b := index.NewOneUseBuilder()
	for _, i := range entries {
		b.Add(i)
	}
	shards, cleanup, err := b.BuildShards(mp.IndexVersion, true, indexblob.DefaultIndexShardSize)
	if err != nil {
		return nil, fmt.Errorf("make index: %w", err)
	}
	defer cleanup()
	var r [8]byte
	_, _ = rand.Read(r[:]) // it never returns an error
	suffix := blob.ID(fmt.Sprintf("s%x-c%d", r, len(shards)))
	c.blobs.takeAdded()
	var out []replica.Blob
	for _, shard := range shards {
		m, err := c.encryption().EncryptAndWriteBlob(ctx, shard, copyIndexPrefix, suffix)
		if err != nil {
			return nil, fmt.Errorf("make index: %w", err)
		}
		data := c.blobs.takeAdded()[m.BlobID]
		out = append(out, replica.Blob{Data: data, Index: replica.Index{Name: string(m.BlobID), Length: int64(len(data)), Entries: len(entries) / len(shards)}})
	}
	return out, nil
}

// indexTail says where in its pack an index is, as the engine looks for it: version, key, offset and
// length, a checksum, and the length of all that.
func indexTail(x replica.Index) ([]byte, error) {
	hash, _, _ := strings.Cut(strings.TrimPrefix(x.Name, copyIndexPrefix), "-")
	key, err := hex.DecodeString(hash)
	if err != nil || len(key) < indexKeySize {
		return nil, fmt.Errorf("make pack: the index has the name %s", x.Name)
	}
	key = key[len(key)-indexKeySize:]
	out := binary.AppendUvarint(nil, 1)
	out = binary.AppendUvarint(out, uint64(len(key)))
	out = append(out, key...)
	out = binary.AppendUvarint(out, uint64(x.Offset))
	out = binary.AppendUvarint(out, uint64(x.Length))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	return append(out, byte(len(out))), nil
}

// indexKeySize is how much of the hash in its name an index is encrypted with.
const indexKeySize = 16
