package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// servers makes and runs servers for the command line.
type servers struct {
	conf     config.Config
	settings *config.Settings
}

// options are what the flags and the environment say, flags first.
func (s servers) options(p cli.ServerOptions) (server.Options, error) {
	env := config.ReadServer()
	level := slog.LevelInfo
	if p.Verbose {
		level = slog.LevelDebug
	}
	o := server.Options{
		DataDir: p.Data, ListenAddress: p.Listen, PublicURL: p.Public, MetricsAddress: p.Admin, CertFile: p.Cert, CertKeyFile: p.CertKey,
		Postgres: first(p.Postgres, env.Postgres), AllowInsecureWebhooks: p.Lenient, TakeOver: p.TakeOver, TraceEndpoint: env.Trace, Version: version,
		Clock: clock.Wall, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
		Readers: assemble.ReaderPools(s.conf), Floor: s.settings.Floor, Boot: s.conf.BootID, SearchPath: s.conf.SearchPath(),
	}
	for _, text := range p.Allow {
		a, err := netip.ParsePrefix(text)
		if err != nil {
			return o, &retake.Error{Kind: retake.Invalid, What: "--allow-address takes a range of addresses, not " + text, Safe: "Nothing was changed.", Hint: "one network: --allow-address 10.1.0.0/16\none address: --allow-address 10.1.2.3/32"}
		}
		o.AllowAddresses = append(o.AllowAddresses, a.Masked())
	}
	if at := first(p.S3, env.S3); at != "" {
		b, err := config.ParseBucket(at)
		if err != nil {
			return o, &retake.Error{Kind: retake.Invalid, What: err.Error(), Safe: "Nothing was changed."}
		}
		o.Bucket = &kopia.Bucket{Endpoint: b.Endpoint, Name: b.Name, Prefix: b.Prefix, Region: b.Region, Insecure: b.PlainHTTP, AccessKey: env.AccessKey, SecretKey: env.SecretKey}
	}
	err := addKeys(&o, p, env.KEK)
	return o, err
}

// addKeys sets what seals secrets and what only opens them.
func addKeys(o *server.Options, p cli.ServerOptions, keys []string) error {
	if p.KEKURL != "" {
		o.KeyServer = &server.KeyServer{URL: p.KEKURL, TokenFile: p.KEKToken, CAFile: p.KEKCA}
	}
	if p.KEK != "" {
		text, err := os.ReadFile(p.KEK)
		if err != nil {
			return &retake.Error{Kind: retake.NotFound, What: "the key-encryption key cannot be read", Safe: "Nothing was changed.", Err: err}
		}
		keys = append([]string{string(text)}, keys...)
	}
	for _, text := range keys {
		if at := strings.TrimSpace(text); strings.HasPrefix(at, "http") && o.KeyServer == nil { // the key was at a key server before
			o.KeyServer = &server.KeyServer{URL: at, TokenFile: p.KEKToken, CAFile: p.KEKCA, OnlyOpens: true}
			continue
		}
		key, err := secretbox.ParseKey(text)
		if err != nil {
			return fmt.Errorf("read the key-encryption key: %w", err)
		}
		o.EncryptionKeys = append(o.EncryptionKeys, key)
	}
	return nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// with opens a server for the length of one command.
func (s servers) with(ctx context.Context, p cli.ServerOptions, f func(*server.Server) error) error {
	o, err := s.options(p)
	if err != nil {
		return err
	}
	srv, err := server.Open(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(f(srv), srv.Close())
}

func (s servers) Serve(ctx context.Context, p cli.ServerOptions, ready func(string, *cli.ServerBeginning)) error {
	return s.with(ctx, p, func(srv *server.Server) error {
		var begun *retake.NewNamespace
		begin := func() (err error) {
			begun, err = srv.Bootstrap(ctx, p.Webhook)
			return err
		}
		return srv.Serve(ctx, begin, func(address string) { ready(address, (*cli.ServerBeginning)(begun)) })
	})
}

func (s servers) Bootstrap(ctx context.Context, p cli.ServerOptions) (b *cli.ServerBeginning, err error) {
	err = s.with(ctx, p, func(srv *server.Server) error {
		begun, err := srv.Bootstrap(ctx, p.Webhook)
		b = (*cli.ServerBeginning)(begun)
		return err
	})
	return b, err
}

func (s servers) AddNamespace(ctx context.Context, p cli.ServerOptions, ns retake.NamespaceID) (b cli.ServerBeginning, err error) {
	err = s.with(ctx, p, func(srv *server.Server) error {
		begun, err := srv.AddNamespace(ctx, retake.Namespace{ID: ns, Limits: retake.DefaultLimits()}, "")
		b = cli.ServerBeginning(begun)
		return err
	})
	return b, err
}

func (s servers) Namespaces(ctx context.Context, p cli.ServerOptions) (all []retake.Namespace, err error) {
	err = s.with(ctx, p, func(srv *server.Server) error {
		all, err = srv.Namespaces(ctx)
		return err
	})
	return all, err
}

func (s servers) SetRoots(ctx context.Context, p cli.ServerOptions, ns retake.NamespaceID, roots []string) (out retake.Namespace, err error) {
	err = s.with(ctx, p, func(srv *server.Server) error {
		out, err = srv.SetRoots(ctx, ns, roots)
		return err
	})
	return out, err
}

func (s servers) AddKey(ctx context.Context, p cli.ServerOptions, ns retake.NamespaceID, req retake.KeyRequest) (k retake.NewKey, err error) {
	err = s.with(ctx, p, func(srv *server.Server) error {
		add := srv.AddKey
		if req.Kind == retake.KeyProvisioner {
			add = srv.AddProvisionerKey
		}
		k, err = add(ctx, ns, req)
		return err
	})
	return k, err
}

func (s servers) Rewrap(ctx context.Context, p cli.ServerOptions) (r cli.RewrapResult, err error) {
	if _, err := os.Stat(filepath.Join(p.Data, "owner")); err != nil { // a server there has written it; a new one would have no secrets
		return r, &retake.Error{Kind: retake.NotFound, What: "no server has used the data directory " + p.Data, Safe: "Nothing was changed.", Hint: "see its usage: retake help admin rewrap", Err: err}
	}
	err = s.with(ctx, p, func(srv *server.Server) error {
		res, err := srv.Rewrap(ctx)
		r = cli.RewrapResult(res)
		return err
	})
	return r, err
}
