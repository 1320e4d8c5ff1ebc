// Package server is the shared process for tenants: it puts database, stores, namespaces,
// front and jobs together, and answers until it is told to leave.
//
// It owns one data directory. Several servers may share it, with one database and one
// bucket; each may be killed at any time, and what it had claimed comes back.
//
//	V1  Nothing is lost with a server: rows are in the database, bytes in the store, and
//	    what must follow is a row before it is acknowledged.
//	V2  No port is opened without a key, but for the two that tell whether we live and the
//	    files of the console, which are the same for everybody and hold nothing.
package server

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/pure/token"
	"github.com/retake-dev/retake/internal/server/gateway"
	"github.com/retake-dev/retake/internal/server/metrics"
	"github.com/retake-dev/retake/internal/server/scheduler"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/tracing"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// Options say what a server stands on.
type Options struct {
	Data     string
	Listen   string // address of the API
	Public   string // address of the API as others know it, for messages
	Admin    string // address of the metrics; "": they are not told
	Cert     string // files of a certificate and its key; "": plain HTTP
	CertKey  string
	Postgres string        // "": SQLite in the data directory
	Bucket   *kopia.Bucket // nil: the disk
	Keys     [][]byte      // key-encryption keys, the first seals; none: a file in the data directory
	TakeOver bool          // make the database and the bucket ours, whoever had them
	Lenient  bool          // webhooks may be plain HTTP and at home, for development
	Trace    string        // address of a collector; "": nobody is told
	Version  string
	Most     int // namespaces open at once

	Clock   clock.Clock
	Log     *slog.Logger
	Readers func(keyFile string) *xray.Pool
	Floor   func(total int64) int64
	Boot    string
	Path    string // where git and ssh are looked for

	Derivation string // see kopia.Options; for harnesses
}

// Server is one that is open.
type Server struct {
	o       Options
	seal    secretbox.Keeper
	db      *sql.DB
	rows    rows
	ledger  serverdb.Ledger
	pool    *tenant.Pool
	courier *webhooks.Courier
	table   *scheduler.Timetable
	meter   *metrics.Meter
	trace   *tracing.Tracer
	front   *gateway.Front
	cursors *token.Cursors
	signer  ed25519.PrivateKey
	owner   string // id of the data directory
	socket  string
	started time.Time
	stop    context.CancelFunc // ends what askers left behind
	carried context.Context
	leave   context.CancelFunc // ends streams, which have no end of their own
	leaving context.Context
}

// Open puts a server together. It listens to nobody yet.
func Open(ctx context.Context, o Options) (*Server, error) {
	s := &Server{o: o, started: o.Clock.Now()}
	s.carried, s.stop = context.WithCancel(context.Background())
	s.leaving, s.leave = context.WithCancel(context.Background())
	if err := os.MkdirAll(filepath.Join(o.Data, "run"), 0o700); err != nil {
		return nil, &retake.Error{Kind: retake.Away, What: "the data directory cannot be made", Safe: "Nothing was changed.", Err: err}
	}
	if err := s.secrets(); err != nil {
		return nil, err
	}
	if err := s.readOwner(); err != nil {
		return nil, err
	}
	if err := s.checkBucket(ctx); err != nil {
		return nil, err
	}
	if err := s.openRows(ctx); err != nil {
		return nil, err
	}
	if err := s.claimBucket(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.assemble(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// secrets reads the keys, and makes those that are not there.
func (s *Server) secrets() error {
	keys := s.o.Keys
	if len(keys) == 0 {
		text, err := keyFile(filepath.Join(s.o.Data, "kek"), func() string { return secretbox.FormatKey(secretbox.NewKey()) })
		if err != nil {
			return err
		}
		key, err := secretbox.ParseKey(text)
		if err != nil {
			return fmt.Errorf("read the key-encryption key: %w", err)
		}
		keys = [][]byte{key}
	}
	local, err := secretbox.Local(keys...)
	if err != nil {
		return fmt.Errorf("use the key-encryption key: %w", err)
	}
	s.seal = local
	text, err := keyFile(filepath.Join(s.o.Data, "server.key"), func() string { return secretbox.FormatKey(secretbox.NewKey()) })
	if err != nil {
		return err
	}
	own, err := secretbox.ParseKey(text)
	if err != nil {
		return fmt.Errorf("read the server's key: %w", err)
	}
	derive := func(what string) []byte {
		b, err := hkdf.Key(sha256.New, own, nil, what, 32)
		if err != nil {
			panic(err) // 32 bytes are never too many
		}
		return b
	}
	s.cursors = token.NewCursors(derive("cursors"))
	s.signer = ed25519.NewKeyFromSeed(derive("anchors"))
	return nil
}

// keyFile reads a secret of the server, or makes it; of two that try at once one does.
func keyFile(path string, make func() string) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		return string(b), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	tmp := path + "." + rand.Text()
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	defer os.Remove(tmp) //nolint:errcheck // its other name stays
	if _, err = f.WriteString(make() + "\n"); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Link(tmp, path) // never over one that is there
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	b, err = os.ReadFile(path)
	return string(b), err
}

// public is the key that anchors are checked with.
func (s *Server) public() string {
	return base64.StdEncoding.EncodeToString(s.signer.Public().(ed25519.PublicKey))
}

// Close shuts everything, the namespaces first.
func (s *Server) Close() error {
	s.stop()
	var errs []error
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	if s.trace != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		errs = append(errs, s.trace.Close(ctx))
	}
	if s.ledger != nil {
		errs = append(errs, s.ledger.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// jobs runs what is due until ctx ends.
func (s *Server) jobs(ctx context.Context) {
	var wg sync.WaitGroup
	for name, run := range map[string]func(context.Context) error{"courier": s.courier.Run, "timetable": s.table.Run} {
		wg.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				s.o.Log.Error("jobs ended", "which", name, "err", err)
			}
		})
	}
	wg.Wait()
}
