package service

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/story"
)

// Bounds of the bytes that are kept while one story is told.
const (
	mostKept = 64 << 10 // of one file
	allKept  = 4 << 20
)

// opened keeps small files while one story is told: several readers want them, and the
// lines are counted too. It is for one goroutine.
type opened struct {
	open story.Bytes
	kept map[retake.ObjectID][]byte
	left int
}

// onceOpened opens each small file once.
func onceOpened(open story.Bytes) story.Bytes {
	o := &opened{open: open, kept: map[retake.ObjectID][]byte{}, left: allKept}
	return o.bytes
}

func (o *opened) bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	if b, ok := o.kept[id]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	r, err := o.open(ctx, id)
	if err != nil || r == nil || o.left < mostKept || strings.HasPrefix(string(id), liveObject) {
		return r, err
	}
	b, err := io.ReadAll(io.LimitReader(r, mostKept+1))
	if err != nil || len(b) > mostKept {
		return begun{io.MultiReader(bytes.NewReader(b), &failing{r, err}), r}, nil
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	o.kept[id], o.left = b, o.left-len(b)
	return io.NopCloser(bytes.NewReader(b)), nil
}

// begun is a file of which the beginning was read.
type begun struct {
	io.Reader
	io.Closer
}

// failing reads on, or fails as it did before.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.Read(b)
}
