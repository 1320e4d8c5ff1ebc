//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/parts"
)

func join(errs ...error) error { return errors.Join(errs...) }

// build makes the command once for all servers.
func build(ctx context.Context, dir string) (string, error) {
	at := filepath.Join(dir, "retake")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", dir+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build retake: %w\n%s", err, out)
	}
	return at, nil
}

// bed is all that a fleet stands on, and the fleet.
type bed struct {
	o       *options
	dir     string
	pg      *parts.Postgres
	s3      *parts.S3
	counter *parts.Counter // before the S3 server
	proxy   *parts.Proxy   // before the servers
	servers []*parts.Server
	serving parts.Serving
	hooks   *receiver
	caller  *caller
	tenants []*tenant
	desks   []*desk
	counts  bool // statements can be counted
	sums    sums
}

// tenant is a namespace with its keys.
type tenant struct {
	ns   string
	keys map[retake.KeyKind]string
}

const database = "fleet"

// lay starts everything in dir, whose directory data may be a disk of its own already.
func (o *options) lay(ctx context.Context, dir string) (b *bed, err error) {
	b = &bed{o: o, dir: dir}
	defer func() {
		if err != nil {
			err = join(err, b.close())
		}
	}()
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		return b, err
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return b, err
	}
	if err := b.layParts(); err != nil {
		return b, err
	}
	note("parts are up: %d namespaces", o.namespaces)
	for i := range o.namespaces {
		t, err := b.addTenant(ctx, fmt.Sprintf("team-%d", i))
		if err != nil {
			return b, err
		}
		b.tenants = append(b.tenants, t)
	}
	var targets []string
	for i := range o.servers {
		s, err := parts.StartServer(b.serving, fmt.Sprintf("server-%d", i))
		if err != nil {
			return b, err
		}
		b.servers = append(b.servers, s)
		targets = append(targets, s.Address)
	}
	if b.proxy, err = parts.StartProxy(targets...); err != nil {
		return b, err
	}
	b.caller = newCaller("http://" + b.proxy.Address())
	return b, b.furnish(ctx)
}

func (b *bed) layParts() (err error) {
	settings := []string{"max_connections=150"}
	if b.counts = parts.CountsStatements(); b.counts {
		settings = append(settings, "shared_preload_libraries='pg_stat_statements'")
	}
	if b.pg, err = parts.StartPostgres(filepath.Join(b.dir, "pg"), settings...); err != nil {
		return err
	}
	dsn, err := b.pg.Database(database)
	if err != nil {
		return err
	}
	if b.counts {
		if err := b.pg.Run("postgres", database, "CREATE EXTENSION pg_stat_statements"); err != nil {
			return err
		}
	}
	if b.s3, err = parts.StartS3(filepath.Join(b.dir, "s3")); err != nil {
		return err
	}
	if b.counter, err = parts.StartCounter(b.s3.Endpoint); err != nil {
		return err
	}
	if b.hooks, err = startReceiver(); err != nil {
		return err
	}
	b.serving = parts.Serving{
		Program: b.o.program, Dir: filepath.Join(b.dir, "servers"), Data: filepath.Join(b.dir, "data", "retake"), Postgres: dsn,
		S3: "http://" + b.counter.Address() + "/" + b.s3.Name, AccessKey: b.s3.AccessKey, SecretKey: b.s3.SecretKey,
		Flags: []string{"--lenient-webhooks"},
	}
	return os.MkdirAll(b.serving.Dir, 0o700)
}

func (b *bed) close() error {
	var errs []error
	if b.proxy != nil {
		errs = append(errs, b.proxy.Close())
	}
	for _, s := range b.servers {
		s.Thaw()
		s.Kill()
	}
	if b.hooks != nil {
		errs = append(errs, b.hooks.close())
	}
	if b.counter != nil {
		errs = append(errs, b.counter.Close())
	}
	if b.s3 != nil {
		errs = append(errs, b.s3.Close())
	}
	if b.pg != nil {
		errs = append(errs, b.pg.Close())
	}
	return join(append(errs, b.copyLogs())...)
}

// copyLogs keeps what the parts wrote, for who wants to know why.
func (b *bed) copyLogs() error {
	if b.o.logs == "" {
		return nil
	}
	to := filepath.Join(b.o.logs, filepath.Base(b.dir))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	found, _ := filepath.Glob(filepath.Join(b.dir, "*", "*log"))
	for _, at := range found {
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(filepath.Dir(at))+"-"+filepath.Base(at)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addTenant makes a namespace by the command line, as an operator of a server does.
func (b *bed) addTenant(ctx context.Context, ns string) (*tenant, error) {
	out, err := b.serving.Admin(ctx, "add", ns)
	if err != nil {
		return nil, err
	}
	var begun struct {
		Begun struct{ Keys []retake.NewKey } `json:"begun"`
	}
	if err := json.Unmarshal(out, &begun); err != nil {
		return nil, fmt.Errorf("read the keys of a namespace: %w", err)
	}
	t := &tenant{ns: ns, keys: map[retake.KeyKind]string{}}
	for _, k := range begun.Begun.Keys {
		t.keys[k.Key.Kind] = k.Secret
	}
	return t, nil
}

// furnish gives namespaces room for a crowd, a webhook, and workspaces.
func (b *bed) furnish(ctx context.Context) error {
	for _, t := range b.tenants {
		limits := map[string]any{"per_second": 1_000_000, "restore_hour": 1_000_000, "workspaces": 1_000_000}
		if _, err := b.caller.must(ctx, deed{method: http.MethodPut, path: "/v1/namespace/limits", key: t.keys[retake.KeyAdmin], body: limits}); err != nil {
			return err
		}
		hook := map[string]any{"url": b.hooks.url(t.ns), "types": []string{string(retake.EventCreated)}}
		a, err := b.caller.must(ctx, deed{method: http.MethodPost, path: "/v1/webhooks", key: t.keys[retake.KeyAdmin], body: hook})
		if err != nil {
			return err
		}
		var made retake.NewWebhook
		if err := json.Unmarshal(a.body, &made); err != nil {
			return fmt.Errorf("read a webhook: %w", err)
		}
		b.hooks.expect(t.ns, made.Secret)
	}
	return b.addDesks(ctx)
}

func (b *bed) addDesks(ctx context.Context) error {
	errs := make(chan error, b.o.workspaces)
	b.desks = make([]*desk, b.o.workspaces)
	room := make(chan struct{}, 4)
	var all sync.WaitGroup
	for i := range b.desks {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			d, err := b.addDesk(ctx, i)
			b.desks[i] = d
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	var err error
	for e := range errs {
		err = join(err, e)
	}
	return err
}

func (b *bed) addDesk(ctx context.Context, i int) (*desk, error) {
	t := b.tenants[i%len(b.tenants)]
	name := fmt.Sprintf("work-%d", i)
	a, err := b.caller.must(ctx, deed{method: http.MethodPost, path: "/v1/workspaces", key: t.keys[retake.KeyOperator], body: map[string]any{"name": name}})
	if err != nil {
		return nil, err
	}
	var made retake.SaveResult
	if err := json.Unmarshal(a.body, &made); err != nil {
		return nil, fmt.Errorf("read a workspace: %w", err)
	}
	d := newDesk(b, t, made.Workspace, uint64(b.o.seed), uint64(i))
	return d, d.begin()
}
