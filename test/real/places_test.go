//go:build s3 && ssh

package real_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"golang.org/x/crypto/ssh"
	"golang.org/x/net/webdav"

	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
	"github.com/retake-dev/retake/internal/storage/store/replica/placetest"
	"github.com/retake-dev/retake/test/real"
)

func TestPlacesInS3(t *testing.T) {
	t.Parallel()
	s := real.StartS3(t)
	n := 0
	placetest.Run(t, func(t *testing.T) replica.Place {
		n++
		p, err := places.OpenS3(places.S3{
			Endpoint: s.Endpoint, Region: s.Region, Bucket: s.Name, Prefix: fmt.Sprintf("stores/%d", n), AccessKey: s.AccessKey, SecretKey: s.SecretKey, Insecure: true,
		})
		must(t, err)
		return p
	})
}

// A bucket that keeps versions, or that nobody can delete from, is told from one that does not.
func TestTraitsOfBuckets(t *testing.T) {
	t.Parallel()
	s := real.StartS3(t)
	c, err := minio.New(s.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: s.Region})
	must(t, err)
	must(t, c.MakeBucket(t.Context(), "locked", minio.MakeBucketOptions{Region: s.Region, ObjectLocking: true}))
	mode, days, unit := minio.Governance, uint(3), minio.Days
	must(t, c.SetObjectLockConfig(t.Context(), "locked", &mode, &days, &unit))
	for name, want := range map[string]replica.Traits{s.Name: {Refuses: true}, "locked": {Refuses: true, Locked: 72 * time.Hour}} {
		p, err := places.OpenS3(places.S3{Endpoint: s.Endpoint, Bucket: name, AccessKey: s.AccessKey, SecretKey: s.SecretKey, Insecure: true})
		must(t, err)
		got, err := p.Traits(t.Context())
		got.Versioned = false // the server keeps versions only if it is told to
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	p, err := places.OpenS3(places.S3{Endpoint: s.Endpoint, Bucket: "nowhere", AccessKey: s.AccessKey, SecretKey: s.SecretKey, Insecure: true})
	must(t, err)
	if _, err := p.Traits(t.Context()); err == nil {
		t.Error("a bucket that is not there has traits")
	}
}

func TestPlacesOverSFTP(t *testing.T) {
	t.Parallel()
	host := real.StartSshd(t)
	at := sftpOf(t, host, host.Root)
	placetest.Run(t, func(t *testing.T) replica.Place {
		dir := filepath.Join(host.Root, t.Name())
		must(t, os.MkdirAll(dir, 0o700))
		below := at
		below.Path = dir
		p, err := places.OpenSFTP(t.Context(), below)
		must(t, err)
		return p
	})
	stranger := at
	stranger.KnownHosts = bytes.Replace(at.KnownHosts, []byte("AAAAC3"), []byte("AAAAC4"), 1)
	if _, err := places.OpenSFTP(t.Context(), stranger); err == nil {
		t.Error("another host is spoken to")
	}
}

// sftpOf lets a new key in, and returns the directory as a place.
func sftpOf(t *testing.T, host *real.Sshd, dir string) places.SFTP {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	must(t, err)
	key, err := ssh.NewPublicKey(public)
	must(t, err)
	host.LetInSFTP(string(ssh.MarshalAuthorizedKey(key)))
	return places.SFTP{
		Host: "127.0.0.1", Port: host.Port, User: host.User, Path: dir, PrivateKey: pem.EncodeToMemory(block),
		KnownHosts: []byte(fmt.Sprintf("[127.0.0.1]:%d %s\n", host.Port, host.Key)),
	}
}

func TestPlacesOverWebDAV(t *testing.T) {
	t.Parallel()
	placetest.Run(t, func(t *testing.T) replica.Place {
		s := httptest.NewServer(&webdav.Handler{FileSystem: webdav.Dir(t.TempDir()), LockSystem: webdav.NewMemLS()})
		t.Cleanup(s.Close)
		p, err := places.OpenWebDAV(t.Context(), places.WebDAV{URL: s.URL + "/"})
		must(t, err)
		return p
	})
}
