package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// keyPurpose binds a sealed key to its workspace.
const keyPurpose = "backup key "

// Set sets the remote of a workspace and makes a key for it. If a host is involved and req
// does not name its key, nothing is set, and the result contains the key that the host
// presents.
func (w *Worker) Set(ctx context.Context, ws retake.Workspace, req retake.BackupRequest) (retake.Backup, error) {
	to, err := parseRemote(req.URL, w.opts.AllowPaths)
	if err != nil {
		return retake.Backup{}, err
	}
	if err := w.checkVersion(ctx, ws.ID); err != nil { // before a host is asked
		return retake.Backup{}, err
	}
	b := retake.Backup{Workspace: ws.ID, URL: to.text, Branch: branchName(ws), Left: []retake.LeftOut{}}
	if to.host != "" {
		host, err := w.chooseHostKey(ctx, to, req.Host)
		if err != nil {
			return b, err
		}
		b.Host = &host
		if req.Host == "" {
			return b, nil
		}
	}
	release, err := w.lockWorkspace(ctx, ws.ID)
	if err != nil {
		return b, err
	}
	defer release()
	if err := w.checkVersion(ctx, ws.ID); err != nil { // now nobody else can change it
		return b, err
	}
	if err := os.MkdirAll(w.workspaceDir(ws.ID), 0o700); err != nil {
		return b, fmt.Errorf("make backup: %w", err)
	}
	b.Set, b.Created = true, w.opts.Clock.Now().UTC()
	s := &state{Backup: b}
	if old, err := w.loadState(ws.ID); err == nil && old.Backup.URL == b.URL && old.Backup.Public != "" {
		s.Backup.Public, s.Backup.Created, s.Backup.Left, s.Counted = old.Backup.Public, old.Backup.Created, old.Backup.Left, old.Counted
	} else if to.host != "" {
		if s.Backup.Public, err = w.makeKey(ctx, ws); err != nil {
			return b, err
		}
	}
	return s.Backup, w.saveState(s)
}

// makeKey makes a separate key for every remote: hosts accept one key at one place only.
func (w *Worker) makeKey(ctx context.Context, ws retake.Workspace) (public string, err error) {
	private, public, err := newKeyPair(strings.ReplaceAll(branchName(ws), "/", "-"))
	if err == nil && w.opts.Seal != nil {
		private, err = w.opts.Seal.Seal(ctx, keyPurpose+string(ws.ID), private)
	}
	if err == nil {
		err = fsx.ReplaceFile(filepath.Join(w.workspaceDir(ws.ID), keyFile), private, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keep key: %w", err)
	}
	return public, nil
}

// openKeyFile returns the name of the file that ssh reads the key from.
func (r *repo) openKeyFile(ctx context.Context, ws retake.WorkspaceID) (string, error) {
	if r.w.opts.Seal == nil {
		return keyFile, nil
	}
	sealed, err := os.ReadFile(filepath.Join(r.dir, keyFile))
	var private []byte
	if err == nil {
		private, err = r.w.opts.Seal.Open(ctx, keyPurpose+string(ws), sealed)
	}
	at := filepath.Join(r.dir, plainKeyFile)
	if err == nil {
		err = fsx.ReplaceFile(at, private, 0o600)
	}
	if err != nil {
		return "", newFault(retake.Damaged, ErrState, err, "the key of the backup cannot be read", "set it again: retake help backup set")
	}
	r.cleanup = func() { _ = os.Remove(at) } // the next run removes it too
	return plainKeyFile, nil
}

// chooseHostKey returns the key to accept for a host: the named key, the one with the named
// fingerprint, or, if nothing is named, the best one that the host presents.
func (w *Worker) chooseHostKey(ctx context.Context, to remoteAddr, named string) (retake.HostKey, error) {
	if k, ok := parseHostKey(named); ok {
		_, err := w.resolveHost(ctx, to.host) // or the first push would find out
		return k, err
	}
	if named != "" && !strings.HasPrefix(named, fingerprintPrefix) {
		return retake.HostKey{}, newFault(retake.Invalid, ErrHost, nil, "that is no key of a host, and no fingerprint", "as ssh-keyscan prints it, or SHA256:…")
	}
	keys, err := w.scanHostKeys(ctx, to)
	if err != nil {
		return retake.HostKey{}, err
	}
	if named == "" {
		return keys[0], nil
	}
	i := slices.IndexFunc(keys, func(k retake.HostKey) bool { return k.Print == named })
	if i < 0 {
		return retake.HostKey{}, newFault(retake.Denied, ErrHost, nil, to.host+" says that it is "+keys[0].Print+", which is not what was named", "don't continue before you know why")
	}
	return keys[i], nil
}

// resolveHost returns the address to connect to. A host that the server does not connect to is
// refused, which trying again does not change.
func (w *Worker) resolveHost(ctx context.Context, host string) (string, error) {
	if host == "" || w.opts.ResolveHost == nil {
		return host, nil
	}
	at, err := w.opts.ResolveHost(ctx, host)
	switch {
	case errors.Is(err, ErrRefusedHost):
		return "", newFault(retake.Denied, ErrRefusedHost, err, "this server makes no backups to "+host, "the server's owner can allow it: retake help serve")
	case err != nil:
		return "", newFault(retake.Away, ErrAway, err, host+" cannot be spoken to", "")
	}
	return at, nil
}

// scanHostKeys asks a host for its keys, the best first. They are not authenticated; a person
// confirms them.
func (w *Worker) scanHostKeys(ctx context.Context, to remoteAddr) ([]retake.HostKey, error) {
	at, err := w.resolveHost(ctx, to.host)
	if err != nil {
		return nil, err
	}
	ctx, moved, stop := w.watchProgress(ctx)
	defer stop()
	var out, errs bytes.Buffer
	end, err := proc.RunIsolated(ctx, proc.IsolatedCommand{
		Args: []string{"ssh-keyscan", "-T", "20", "-t", "ed25519,ecdsa,rsa", "-p", strconv.Itoa(to.port), "--", at},
		Dir:  "/", Env: []string{"PATH=" + w.opts.Path, "LC_ALL=C"}, Out: progressWriter{&boundedBuffer{b: &out}, moved}, Err: progressWriter{&boundedBuffer{b: &errs}, moved},
	})
	if err != nil {
		return nil, fmt.Errorf("ask %s for its key: %w", to.host, err)
	}
	if end.Exit == 126 || end.Exit == 127 {
		return nil, newFault(retake.Invalid, ErrProgram, nil, "ssh-keyscan cannot be run: "+summarizeErrors(errs.String()), "install git and ssh")
	}
	var keys []retake.HostKey
	for line := range strings.Lines(out.String()) {
		if k, ok := parseHostKey(line); ok && !strings.HasPrefix(line, "#") {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, newFault(retake.Away, ErrAway, nil, to.host+" does not answer as a host for ssh", "look whether it is the right one")
	}
	slices.SortStableFunc(keys, func(a, b retake.HostKey) int {
		return slices.Index(hostKeyTypes, a.Kind) - slices.Index(hostKeyTypes, b.Kind)
	})
	return keys, nil
}

// checkVersion returns an error if the caller wants to replace another version than this one. A
// backup that is not set, or can't be read, has none.
func (w *Worker) checkVersion(ctx context.Context, ws retake.WorkspaceID) error {
	version := ""
	if s, err := w.loadState(ws); err == nil {
		version = s.Backup.Version()
	}
	return retake.CheckVersion(ctx, "the backup", version)
}
