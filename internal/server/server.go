// Package server is the shared process for tenants. It connects the database, the stores, the
// namespaces, the gateway and the background jobs, and serves requests until it is stopped.
//
// It owns one data directory. Several servers may share it, with one database and one
// bucket. Each may be killed at any time: its claims expire, and another server takes them.
//
//	V1  Nothing is lost with a server: rows are in the database, bytes in the store, and
//	    follow-up work is queued before a request is acknowledged.
//	V2  Every request needs a key, except the two health checks and the files of the
//	    console, which are the same for everybody and contain no data.
package server

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/pure/token"
	"github.com/retake-dev/retake/internal/server/gateway"
	"github.com/retake-dev/retake/internal/server/jobs"
	"github.com/retake-dev/retake/internal/server/metrics"
	"github.com/retake-dev/retake/internal/server/probe"
	"github.com/retake-dev/retake/internal/server/scheduler"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/tracing"
	"github.com/retake-dev/retake/internal/server/transit"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// Options configure a server.
type Options struct {
	DataDir               string
	ListenAddress         string // address that the API listens on
	PublicURL             string // URL of the API as clients know it, for messages
	MetricsAddress        string // address that metrics are served on; "": they are not served
	CertFile              string // TLS certificate and key; "": plain HTTP
	CertKeyFile           string
	Postgres              string         // "": SQLite in the data directory
	Bucket                *kopia.Bucket  // nil: stores are on disk
	EncryptionKeys        [][]byte       // key-encryption keys, the first one seals; none: a key file in the data directory
	KeyServer             *KeyServer     // nil: the keys above are all
	TakeOver              bool           // claim the database and the bucket even if another data directory owns them
	AllowAddresses        []netip.Prefix // addresses that are not public, to which webhooks and backups may go
	AllowInsecureWebhooks bool           // webhooks may use plain HTTP and local addresses, for development
	TraceEndpoint         string         // URL of an OpenTelemetry collector; "": no tracing
	Version               string
	MaxOpen               int // namespaces that may be open at once

	Clock      clock.Clock
	Log        *slog.Logger
	Readers    func(keyFile string) *xray.Pool
	Floor      func(total int64) int64
	Boot       string
	SearchPath string // PATH in which git and ssh are found

	Derivation string // see kopia.Options; for tests
}

// Server is an open server.
type Server struct {
	opts          Options
	sealer        secretbox.Keeper
	keyServer     *transit.Keeper // nil: there is none
	db            *sql.DB
	openCatalog   catalogOpener
	ledger        serverdb.Ledger
	pool          *tenant.Pool
	sender        *webhook.Sender
	dispatcher    *webhooks.Dispatcher
	scheduler     *scheduler.Scheduler
	alarm         *jobs.Alarm
	listenQueue   func(ctx context.Context, connected func(), note func(queue string, at time.Time)) error // nil: the database announces nothing
	metrics       *metrics.Meter
	tracer        *tracing.Tracer
	gateway       *gateway.Gateway
	cursors       *token.Cursors
	anchorKey     ed25519.PrivateKey
	ownerID       string // ID of the data directory
	peerSocket    string
	started       time.Time
	cancelWork    context.CancelFunc // ends work whose client is gone
	workCtx       context.Context
	cancelStreams context.CancelFunc // ends event streams, which never end by themselves
	streamCtx     context.Context
	operations    sync.Map // *httpapi.Operations by namespace
	scrubs        *probe.Probe[scrubSummary]
	readiness     map[string]*probe.Probe[struct{}] // by part
}

// Open creates a server from its options. It does not listen yet.
func Open(ctx context.Context, o Options) (*Server, error) {
	s := &Server{opts: o, started: o.Clock.Now()}
	if o.Bucket != nil {
		b := *o.Bucket
		b.Observe = func(operation, result string, took time.Duration) {
			if s.metrics != nil { // else the server is starting
				s.metrics.CountS3(operation, result, took)
			}
		}
		s.opts.Bucket = &b
	}
	s.workCtx, s.cancelWork = context.WithCancel(context.Background())
	s.streamCtx, s.cancelStreams = context.WithCancel(context.Background())
	if err := os.MkdirAll(filepath.Join(o.DataDir, "run"), 0o700); err != nil {
		return nil, &retake.Error{Kind: retake.Away, What: "the data directory cannot be made", Safe: "Nothing was changed.", Err: err}
	}
	if err := s.loadKeys(ctx); err != nil {
		return nil, err
	}
	if err := s.readOwnerID(); err != nil {
		return nil, err
	}
	if err := s.checkBucket(ctx); err != nil {
		return nil, err
	}
	if err := s.openDatabase(ctx); err != nil {
		return nil, err
	}
	if err := s.claimBucket(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.assembleParts(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// loadKeys reads the server's keys, and creates those that do not exist.
func (s *Server) loadKeys(ctx context.Context) error {
	if err := s.openKeeper(ctx); err != nil {
		return err
	}
	text, err := s.readOrCreateSecret("server.key", func() string { return secretbox.FormatKey(secretbox.NewKey()) })
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
			panic(err) // HKDF fails only for longer keys
		}
		return b
	}
	s.cursors = token.NewCursors(derive("cursors"))
	s.anchorKey = ed25519.NewKeyFromSeed(derive("anchors"))
	return nil
}

// readOrCreateSecret returns the secret in a file of the data directory, and creates it first if
// there is none.
func (s *Server) readOrCreateSecret(name string, create func() string) (string, error) {
	b, err := fsx.ReadOrCreate(filepath.Join(s.opts.DataDir, name), func() ([]byte, error) { return []byte(create() + "\n"), nil })
	return string(b), err
}

// anchorPublicKey returns the key that anchors are verified with.
func (s *Server) anchorPublicKey() string {
	return base64.StdEncoding.EncodeToString(s.anchorKey.Public().(ed25519.PublicKey))
}

// Close closes everything, the namespaces first.
func (s *Server) Close() error {
	s.cancelWork()
	s.operations.Range(func(_, o any) bool {
		o.(*httpapi.Operations).Wait()
		return true
	})
	if s.gateway != nil {
		s.gateway.Close()
	}
	var errs []error
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	if s.tracer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		errs = append(errs, s.tracer.Close(ctx))
	}
	if s.ledger != nil {
		errs = append(errs, s.ledger.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// runJobs runs the background jobs until ctx ends.
func (s *Server) runJobs(ctx context.Context) {
	var wg sync.WaitGroup
	for name, run := range map[string]func(context.Context) error{"courier": s.dispatcher.Run, "timetable": s.scheduler.Run, "alarm": s.alarm.Run} {
		wg.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				s.opts.Log.Error("jobs ended", "which", name, "err", err)
			}
		})
	}
	wg.Wait()
}
