package places

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/blob/azure"
	"github.com/kopia/kopia/repo/blob/sftp"
	"github.com/kopia/kopia/repo/blob/webdav"
	"github.com/studio-b12/gowebdav"

	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// SFTP says where a directory of another host is. The host is known by its key.
type SFTP struct {
	Host       string
	Port       int
	User       string
	Path       string
	PrivateKey []byte // PEM
	KnownHosts []byte // lines of known_hosts
}

// OpenSFTP returns the place in a directory of another host, which must exist.
func OpenSFTP(ctx context.Context, at SFTP) (replica.Place, error) {
	return openEngine(ctx, fmt.Sprintf("sftp %s@%s:%d%s", at.User, at.Host, at.Port, at.Path), func(ctx context.Context) (blob.Storage, error) {
		return sftp.New(ctx, &sftp.Options{Host: at.Host, Port: at.Port, Username: at.User, Path: at.Path, KeyData: string(at.PrivateKey), KnownHostsData: string(at.KnownHosts)}, true)
	})
}

// WebDAV says where a directory of a WebDAV server is.
type WebDAV struct {
	URL      string
	User     string
	Password string
}

// OpenWebDAV returns the place in a directory of a WebDAV server.
func OpenWebDAV(ctx context.Context, at WebDAV) (replica.Place, error) {
	return openEngine(ctx, "webdav "+at.URL, func(ctx context.Context) (blob.Storage, error) {
		return webdav.New(ctx, &webdav.Options{URL: at.URL, Username: at.User, Password: at.Password}, true)
	})
}

// makeCollection makes the directory of a copy, but not what that is in. The engine's client makes only those
// below it, and tries for minutes if it is not there.
func makeCollection(ctx context.Context, at WebDAV) error {
	c := gowebdav.NewClient(at.URL, at.User, at.Password)
	c.SetInterceptor(func(_ string, r *http.Request) { *r = *r.WithContext(ctx) })
	err := c.Mkdir("/", 0)
	if gowebdav.IsErrCode(err, http.StatusConflict) || gowebdav.IsErrCode(err, http.StatusNotFound) {
		return errors.Join(fs.ErrNotExist, err)
	}
	return refused(err)
}

// Azure says where a container of Azure Blob Storage is.
type Azure struct {
	Container string
	Prefix    string
	Account   string
	Key       string
}

// OpenAzure returns the place in a container of Azure Blob Storage.
func OpenAzure(ctx context.Context, at Azure) (replica.Place, error) {
	return openEngine(ctx, "azure "+at.Account+" "+at.Container+" "+at.Prefix, func(ctx context.Context) (blob.Storage, error) {
		return azure.New(ctx, &azure.Options{Container: at.Container, Prefix: at.Prefix, StorageAccount: at.Account, StorageKey: at.Key}, true)
	})
}

// engine is a place that a client of the engine reaches. None of them puts under a condition: two who put
// one name at once replace each other.
type engine struct {
	st   blob.Storage
	name string // of the place, for late
}

var _ replica.Place = (*engine)(nil)

func openEngine(ctx context.Context, name string, open func(context.Context) (blob.Storage, error)) (replica.Place, error) {
	if err := late.wait(ctx, name); err != nil {
		return nil, fmt.Errorf("open place: %w", err)
	}
	st, err := await(ctx, name, func() (blob.Storage, error) {
		st, err := open(context.WithoutCancel(ctx)) // it outlives the request
		if err == nil && ctx.Err() != nil {
			err = errors.Join(ctx.Err(), st.Close(context.WithoutCancel(ctx))) // nobody waits for it any more
		}
		return st, err
	})
	if err != nil {
		return nil, fmt.Errorf("open place: %w", refused(err))
	}
	return &engine{st, name}, nil
}

// refused marks an error that says that our keys do not do. The clients have no error for it.
func refused(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	isDenied := strings.Contains(text, "unable to authenticate") || strings.Contains(text, "knownhosts:")
	var p *fs.PathError // of WebDAV: it ends with the number of the answer
	if errors.As(err, &p) {
		end := " " + p.Err.Error()
		isDenied = isDenied || strings.HasSuffix(end, " 401") || strings.HasSuffix(end, " 403")
	}
	if isDenied {
		return errors.Join(replica.ErrDenied, err)
	}
	return err
}

func (e *engine) Put(ctx context.Context, name string, data []byte) error {
	_, err := await(ctx, e.name, func() (struct{}, error) { return struct{}{}, e.put(ctx, name, data) })
	return refused(err)
}

func (e *engine) put(ctx context.Context, name string, data []byte) error {
	switch _, err := e.st.GetMetadata(ctx, blob.ID(name)); {
	case err == nil:
		return replica.ErrExists
	case !errors.Is(err, blob.ErrBlobNotFound):
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // the one who asked may have put another meanwhile
	}
	return e.st.PutBlob(ctx, blob.ID(name), blobBytes(data), blob.PutOptions{})
}

func (e *engine) Get(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	out, err := await(ctx, e.name, func() ([]byte, error) { return e.get(ctx, name, offset, length) })
	return out, refused(err)
}

func (e *engine) get(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if length < 0 && offset > 0 { // they know no range without an end
		m, err := e.st.GetMetadata(ctx, blob.ID(name))
		if err != nil {
			return nil, notFound(err)
		}
		if length = m.Length - offset; length < 0 {
			return nil, fmt.Errorf("read %s from %d: %w", name, offset, io.ErrUnexpectedEOF)
		}
	}
	var out outBuffer
	if err := e.st.GetBlob(ctx, blob.ID(name), offset, length, &out); err != nil {
		return nil, notFound(err)
	}
	return out.Bytes(), nil
}

func notFound(err error) error {
	if errors.Is(err, blob.ErrBlobNotFound) {
		return errors.Join(replica.ErrMissing, err)
	}
	return err
}

func (e *engine) List(ctx context.Context, prefix string) ([]replica.Object, error) {
	out, err := await(ctx, e.name, func() (out []replica.Object, err error) {
		err = e.st.ListBlobs(ctx, blob.ID(prefix), func(m blob.Metadata) error {
			out = append(out, replica.Object{Name: string(m.BlobID), Size: m.Length, Since: m.Timestamp})
			return ctx.Err()
		})
		return out, err
	})
	slices.SortFunc(out, func(a, b replica.Object) int { return strings.Compare(a.Name, b.Name) })
	return out, refused(err)
}

func (e *engine) Delete(ctx context.Context, name string) error {
	_, err := await(ctx, e.name, func() (struct{}, error) { return struct{}{}, e.st.DeleteBlob(ctx, blob.ID(name)) })
	if errors.Is(err, blob.ErrBlobNotFound) {
		return nil
	}
	return refused(err)
}

func (e *engine) Traits(context.Context) (replica.Traits, error) {
	return replica.Traits{}, nil
}

// Close does not wait for a host that does not answer.
func (e *engine) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), closeWait)
	defer stop()
	_, err := await(ctx, e.name, func() (struct{}, error) { return struct{}{}, e.st.Close(context.Background()) })
	return err
}

// outBuffer is a buffer that a blob is read into.
type outBuffer struct{ bytes.Buffer }

func (b *outBuffer) Length() int { return b.Len() }

// blobBytes is a blob in memory.
type blobBytes []byte

func (b blobBytes) Length() int { return len(b) }
func (b blobBytes) WriteTo(w io.Writer) (n int64, err error) {
	m, err := w.Write(b)
	return int64(m), err
}
func (b blobBytes) Reader() io.ReadSeekCloser { return blobReader{bytes.NewReader(b)} }

type blobReader struct{ *bytes.Reader }

func (blobReader) Close() error { return nil }
