package adminapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/edit"
)

// WriteFile replaces or creates a file. The content is received outside of the workspace first:
// no checkpoint has a part of a file that arrives slowly.
func (o *Office) WriteFile(ctx context.Context, req retake.FileRequest, content io.Reader) (retake.FileWritten, error) {
	root, err := o.OpenRoot(ctx, req.Workspace)
	if err != nil {
		return retake.FileWritten{}, err
	}
	defer root.Close() //nolint:errcheck // a directory handle
	received, err := o.receive(ctx, content)
	if err != nil {
		return retake.FileWritten{}, err
	}
	defer received.Close() //nolint:errcheck // it has no name any more
	return edit.Write(ctx, root, req.Path, req.Mode, received)
}

// RemoveFile removes a file, a link or an empty directory.
func (o *Office) RemoveFile(ctx context.Context, req retake.FileRequest) error {
	root, err := o.OpenRoot(ctx, req.Workspace)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // a directory handle
	return edit.Remove(root, req.Path)
}

const receiveStep = 8 << 20

// receive reads content into a file without a name. It asks for room as it goes.
func (o *Office) receive(ctx context.Context, content io.Reader) (*os.File, error) {
	f, err := os.CreateTemp(o.UploadDir, "upload-")
	if err != nil {
		return nil, fmt.Errorf("receive a file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("receive a file: %w", err), f.Close())
	}
	if err := o.receiveInto(ctx, f, content); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("receive a file: %w", err), f.Close())
	}
	return f, nil
}

func (o *Office) receiveInto(ctx context.Context, f *os.File, content io.Reader) error {
	most := o.CurrentNamespace().Limits.Checkpoint
	for total := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		room, err := o.AvailableBytes()
		if err != nil {
			return err
		}
		if room < total+2*receiveStep { // it is written twice: here and in the workspace
			return &retake.Error{Kind: retake.Limit, What: "there is no room for the file", Safe: unchanged}
		}
		n, err := io.CopyN(f, content, receiveStep)
		total += n
		if most > 0 && total > most {
			return &retake.Error{Kind: retake.Limit, What: fmt.Sprintf("the file is larger than a checkpoint may be: %d bytes", most), Safe: unchanged}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &retake.Error{Kind: retake.Invalid, What: "the file did not arrive", Safe: unchanged, Hint: "send it again", Err: err}
		}
	}
}
