//go:build s3 && ssh

package real_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/real"
)

// A remote that does not let us in, or is not there, is not added, and nothing of its keys is kept.
func TestRemotesThatAreNotAdded(t *testing.T) {
	t.Parallel()
	s, host := real.StartS3(t), real.StartSshd(t)
	wrongKey, noBucket, password := s3Remote(s), s3Remote(s), s3Remote(s)
	wrongKey.Access.Secret = "not-" + s.SecretKey
	noBucket.URL = "s3://nowhere/below"
	password.URL = "s3://user:hush@" + s.Name + "/below"
	stranger, unknown := sftpRemote(t, host, host.Port), sftpRemote(t, host, host.Port)
	stranger.Access.KnownHosts = strings.Replace(stranger.Access.KnownHosts, "AAAAC3", "AAAAC4", 1)
	unknown.Access.KnownHosts = "another.example " + host.Key + "\n"
	notLetIn := sftpRemote(t, host, host.Port)
	host.LetInSFTP("") // nobody
	dav := davRemote(t, "of-the-yard")
	dav.Access.Secret = "of-the-garden"
	noParent := davRemote(t, "of-the-yard")
	noParent.URL += "/not/there"
	m := newMachine(t)
	for what, try := range map[string]struct {
		req  retake.RemoteRequest
		kind retake.ErrorKind
	}{
		"a wrong secret key": {wrongKey, retake.Denied}, "no such bucket": {noBucket, ""}, "a password in the address": {password, retake.Invalid},
		"a wrong password":        {dav, retake.Denied},
		"another key of the host": {stranger, ""}, "an unknown host": {unknown, retake.Denied}, "a key that is not let in": {notLetIn, retake.Denied},
	} {
		_, err := m.s.AddRemote(t.Context(), try.req)
		if err == nil || try.kind != "" && !retake.IsKind(err, try.kind) {
			t.Errorf("%s: %v", what, err)
		}
		if strings.Contains(fmt.Sprint(err), "hush") {
			t.Errorf("%s: the password is told: %v", what, err)
		}
		m.wantNoKeys(what)
	}
	if all, err := m.s.Remotes(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("remotes: %v %v", all, err)
	}
}

// wantNoKeys fails if anything of a remote is kept. The name of this store may be.
func (m *machine) wantNoKeys(what string) {
	m.Helper()
	kept, err := os.ReadDir(filepath.Join(m.data(), "remotes"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.Error(err)
	}
	for _, f := range kept {
		b, err := os.ReadFile(filepath.Join(m.data(), "remotes", f.Name()))
		if f.Name() != "store" || err != nil || len(bytes.TrimSpace(b)) != 16 {
			m.Errorf("%s: %s is left: %v", what, f.Name(), err)
		}
	}
}

// Keys that were right are not any more. That is shown, delays no save, and is over when they are right again.
func TestKeysThatEnd(t *testing.T) {
	t.Parallel()
	host, m := real.StartSshd(t), newMachine(t)
	req := sftpRemote(t, host, host.Port)
	_, err := m.s.AddRemote(t.Context(), req)
	must(t, err)
	m.save()
	_, err = m.s.SyncRemotes(t.Context(), retake.SyncQuery{})
	must(t, err)
	through := m.uploaded()
	must(t, m.s.Close())
	m.open()
	m.save()
	usual := m.save()

	host.LetInSFTP("") // nobody
	for range 4 {
		if took := m.save(); took > 10*usual+2*time.Second {
			t.Errorf("a save took %v, and usually %v", took, usual)
		}
	}
	if _, err := m.s.SyncRemotes(t.Context(), retake.SyncQuery{}); !retake.IsKind(err, retake.Denied) {
		t.Errorf("nobody is let in: %v", err)
	}
	r := m.remote()
	if r.Trouble == nil || r.Trouble.Kind != retake.Denied || r.Trouble.Next == nil || m.uploaded() != through || r.Pending != 6 {
		t.Errorf("trouble: %+v of %+v", r.Trouble, r)
	}

	letInAgain(t, host, req)
	_, err = m.s.SyncRemotes(t.Context(), retake.SyncQuery{})
	must(t, err)
	if r := m.remote(); r.Trouble != nil || r.Pending != 0 {
		t.Errorf("after it is put right: %+v", r)
	}
	last := int64(len(m.texts) - 1)
	if failed := m.compare(findCopy(t, m.lose(), req), last); len(failed) > 0 {
		t.Error(failed)
	}
}

func letInAgain(t *testing.T, host *real.Sshd, req retake.RemoteRequest) {
	t.Helper()
	key, err := ssh.ParsePrivateKey([]byte(req.Access.PrivateKey))
	must(t, err)
	host.LetInSFTP(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
}
