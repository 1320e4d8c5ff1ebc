package places

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// ErrAddress means that a text is not the address of a place.
var ErrAddress = errors.New("not the address of a remote")

// address is a replica.Address: each copy has a directory or a prefix of its own.
type address struct {
	scheme string
	u      url.URL
	now    func() time.Time
}

// ParseAddress reads the address of a remote: /path, or s3:, gs:, sftp:, webdav: (https), webdav+http: and azure: with
// //HOST/PATH.
func ParseAddress(text string, now func() time.Time) (replica.Address, error) {
	if filepath.IsAbs(text) {
		return address{"file", url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Clean(text))}, now}, nil
	}
	u, err := url.Parse(text)
	if err != nil && strings.Contains(text, "@") { // it may have a password, which is not repeated
		return nil, ErrAddress
	}
	if err == nil {
		if _, ok := u.User.Password(); ok {
			return nil, fmt.Errorf("%w: a password does not belong into it", ErrAddress)
		}
	}
	if err != nil || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: %q", ErrAddress, text)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if !isPlace(u) {
		return nil, fmt.Errorf("%w: %q", ErrAddress, text)
	}
	return address{u.Scheme, *u, now}, nil
}

// isPlace reports whether a URL has what its kind of place needs.
func isPlace(u *url.URL) bool {
	switch u.Scheme {
	case "file":
		return u.Host == "" && u.Path != ""
	case "sftp":
		return u.Host != "" && u.Path != ""
	case "s3", "gs", "azure", "webdav", "webdav+http":
		return u.Host != "" && u.User == nil
	}
	return false
}

func (a address) String() string {
	if a.scheme == "file" {
		return filepath.FromSlash(a.u.Path)
	}
	return a.u.String()
}

func (a address) Name() string {
	text := a.u.Hostname()
	if a.scheme == "file" {
		text = path.Base(a.u.Path)
	}
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(text)), "-")
}

func (a address) Open(ctx context.Context, name string, access retake.RemoteAccess) (replica.Place, error) {
	below := path.Join(a.u.Path, name)
	switch a.scheme {
	case "file":
		return openBelow(filepath.FromSlash(a.u.Path), name, a.now)
	case "s3", "gs":
		return a.openBucket(strings.TrimPrefix(below, "/"), access)
	case "azure":
		return OpenAzure(ctx, Azure{Container: a.u.Host, Prefix: strings.TrimPrefix(below, "/") + "/", Account: access.User, Key: access.Secret})
	case "sftp":
		return a.openSFTP(ctx, below, access)
	default:
		u := a.u
		u.Scheme, u.Path = "https", below
		if a.scheme == "webdav+http" {
			u.Scheme = "http"
		}
		at := WebDAV{URL: u.String(), User: access.User, Password: access.Secret}
		if err := makeCollection(ctx, at); err != nil {
			return nil, fmt.Errorf("open directory of remote %s: %w", a, err)
		}
		return OpenWebDAV(ctx, at)
	}
}

func openBelow(dir, name string, now func() time.Time) (replica.Place, error) {
	if i, err := os.Stat(dir); err != nil || !i.IsDir() {
		return nil, fmt.Errorf("open directory of remote %s: %w", dir, fs.ErrNotExist)
	}
	at := filepath.Join(dir, name)
	if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	d, err := OpenDir(fsx.OS(), at, now)
	if err != nil {
		return nil, err // and not a place that is none
	}
	return d, nil
}

const (
	amazon = "s3.amazonaws.com"
	google = "storage.googleapis.com"
)

func (a address) openBucket(prefix string, access retake.RemoteAccess) (replica.Place, error) {
	at := S3{Endpoint: amazon, Region: access.Region, Bucket: a.u.Host, Prefix: prefix, AccessKey: access.User, SecretKey: access.Secret}
	if a.scheme == "gs" {
		at.Endpoint = google
	}
	if access.Endpoint != "" {
		u, err := url.Parse(access.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return nil, fmt.Errorf("%w: the endpoint %q is none: https://HOST", ErrAddress, access.Endpoint)
		}
		at.Endpoint, at.Insecure = u.Host, u.Scheme == "http"
	}
	return OpenS3(at)
}

func (a address) openSFTP(ctx context.Context, dir string, access retake.RemoteAccess) (replica.Place, error) {
	port := 22
	if p := a.u.Port(); p != "" {
		var err error
		if port, err = strconv.Atoi(p); err != nil {
			return nil, fmt.Errorf("%w: the port %q", ErrAddress, p)
		}
	}
	user := a.u.User.Username()
	if user == "" {
		user = access.User
	}
	return OpenSFTP(ctx, SFTP{Host: a.u.Hostname(), Port: port, User: user, Path: dir, PrivateKey: []byte(access.PrivateKey), KnownHosts: []byte(access.KnownHosts)})
}
