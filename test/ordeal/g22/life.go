//go:build linux

package g22

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/webhooks"
	books "github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// served is a process of retake serve with an environment full of secrets.
type served struct {
	cmd   *exec.Cmd
	log   string
	ended chan error
}

func fresh(name string) string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails; the runtime ends the process instead
	return name + "-" + hex.EncodeToString(b)
}

func newLifetime(r *harness.Run, exe, dsn string) (*lifetime, error) {
	l := &lifetime{secrets: map[string][]string{}, things: map[string][]byte{}, token: "ghp_" + hex.EncodeToString([]byte(rand.Text()))[:36], deploy: fresh("deploy")}
	var err error
	if l.sink, err = serverbed.NewReceiver(nil); err != nil {
		return nil, err
	}
	if l.traces, err = serverbed.NewReceiver(func(*http.Request) int { return http.StatusOK }); err != nil {
		return nil, err
	}
	if l.metrics, err = freePort(); err != nil {
		return nil, err
	}
	kek := secretbox.FormatKey(secretbox.NewKey())
	l.learn("key-encryption key", kek)
	l.learn("token in a file", l.token)
	l.learn("deploy key", l.deploy)
	env := []string{"RETAKE_KEK=" + kek, "OTEL_EXPORTER_OTLP_ENDPOINT=" + l.traces.URL, "OTEL_BSP_SCHEDULE_DELAY=200"}
	for _, name := range []string{"RETAKE_S3_SECRET_KEY", "PGPASSWORD"} {
		secret := fresh("env")
		l.learn(name, secret)
		env = append(env, name+"="+secret)
	}
	if dsn != "" { // the server asks for no password, and we give one
		secret := fresh("dsn")
		l.learn("password of the database", secret)
		dsn = strings.Replace(dsn, "@", ":"+secret+"@", 1)
		env = append(env, "RETAKE_POSTGRES="+dsn)
	}
	l.h = &serverbed.Hall{Dir: r.Scratch("data"), Stop: func() error { return nil }}
	begun, err := l.start(exe, r.Scratch("served"), env, "--data", l.h.Dir, "--listen", "127.0.0.1:0", "--admin-listen", l.metrics, "--lenient-webhooks", "--verbose", "--json", "--first-webhook", l.sink.URL)
	if err != nil {
		return nil, err
	}
	return l, l.move(begun, kek, dsn)
}

func freePort() (string, error) {
	n, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return n.Addr().String(), n.Close()
}

// begun is the first line of a new server.
type begun struct {
	Address string
	Begun   struct {
		Namespace retake.Namespace
		Keys      []retake.NewKey
		Webhook   retake.NewWebhook
	}
}

func (l *lifetime) start(exe, dir string, env []string, args ...string) (begun, error) {
	var b begun
	s := &served{log: filepath.Join(dir, "log"), ended: make(chan error, 1)}
	log, err := os.Create(s.log)
	if err != nil {
		return b, err
	}
	defer log.Close() //nolint:errcheck // the child has its own
	s.cmd = exec.Command(exe, append([]string{"serve"}, args...)...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = dir, append([]string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "RETAKE_HOME=" + dir}, env...), log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return b, err
	}
	if err := s.cmd.Start(); err != nil {
		return b, err
	}
	l.proc = s
	in := bufio.NewReader(out)
	line, err := in.ReadBytes('\n')
	go func() {
		rest, _ := io.ReadAll(in)
		l.keep("second line", rest)
		s.ended <- s.cmd.Wait()
	}()
	if err != nil {
		text, _ := os.ReadFile(s.log)
		return b, fmt.Errorf("start a server: %w: %.500s", err, text)
	}
	return b, json.Unmarshal(line, &b)
}

// move in: learn what the server made.
func (l *lifetime) move(b begun, kek, dsn string) error {
	l.h.URL = b.Address
	g := &serverbed.Guest{Ns: b.Begun.Namespace.ID, Keys: map[retake.KeyKind]string{}, Ids: map[retake.KeyKind]retake.KeyID{}, Home: b.Begun.Namespace.Default}
	for _, k := range b.Begun.Keys {
		g.Keys[k.Key.Kind], g.Ids[k.Key.Kind] = k.Secret, k.Key.ID
		l.learn("key of kind "+string(k.Key.Kind), k.Secret)
	}
	l.learn("secret of the first webhook", b.Begun.Webhook.Secret)
	own, err := os.ReadFile(filepath.Join(l.h.Dir, "server.key"))
	l.learn("server key", strings.TrimSpace(string(own)))
	if err != nil {
		return err
	}
	if l.h.Rows, err = serverbed.ViewRows(l.h.Dir, dsn); err != nil {
		return err
	}
	if err := errors.Join(l.h.Rows.Learn(context.Background()), l.h.Rows.Enter(g.Ns), l.password(g.Ns, kek)); err != nil {
		return err
	}
	if _, err := l.h.Must(g.Keys[retake.KeyAdmin], http.MethodPut, "/v1/namespace/limits", `{"per_second":0,"restore_hour":0}`); err != nil {
		return err
	}
	l.h.Heard = l.hear
	if err := serverbed.PlantFile(filepath.Join(l.h.Files(g.Ns), "default", ".env"), "TOKEN="+l.token+"\nexport API_KEY='"+l.token+"'\n"); err != nil {
		return err
	}
	l.m, err = serverbed.FurnishGuest(l.h, g, l.sink)
	return err
}

// password opens what the rows keep sealed, as only who has the key can.
func (l *lifetime) password(ns retake.NamespaceID, kek string) error {
	key, err := secretbox.ParseKey(kek)
	if err != nil {
		return err
	}
	keeper, err := secretbox.NewLocalKeeper(key)
	if err != nil {
		return err
	}
	l.keeper = keeper
	var sealed []byte
	if err := l.h.Rows.Conn.QueryRowContext(context.Background(), `SELECT sealed FROM password WHERE ns = $1`, string(ns)).Scan(&sealed); err != nil {
		return err
	}
	plain, err := keeper.Open(context.Background(), "store of "+string(ns), sealed)
	if err != nil {
		return fmt.Errorf("open the password: %w", err)
	}
	l.learn("password of the store", string(plain))
	return nil
}

// pairs opens the private keys of webhooks, which are told to nobody.
func (l *lifetime) pairs() error {
	rows, err := l.h.Rows.List(`SELECT body FROM hook`, 1)
	if err != nil {
		return err
	}
	for i, row := range rows {
		var h books.Hook
		if err := json.Unmarshal([]byte(strings.TrimSuffix(row, " | ")), &h); err != nil {
			return err
		}
		for _, sealed := range [][]byte{h.Secret, h.Old} {
			if len(sealed) == 0 {
				continue
			}
			plain, err := l.keeper.Open(context.Background(), webhooks.SecretPurpose(l.m.Ns, h.ID), sealed)
			if err != nil {
				return fmt.Errorf("open the secret of a webhook: %w", err)
			}
			l.learn(fmt.Sprintf("private secret %d of a webhook", i), hex.EncodeToString(plain))
		}
	}
	return nil
}

// ownContent are answers that give a file back.
var ownContent = []string{"/file?", "/archive", "/diff?", "/blame?", "/objects/", "/search?", "/story?", "/chronicle?"}

// hear keeps an answer; a secret that is told in it is told this once.
func (l *lifetime) hear(q serverbed.Asked, a serverbed.Answer) {
	l.mu.Lock()
	l.count++
	name := fmt.Sprintf("answer %d", l.count)
	l.mu.Unlock()
	if slices.ContainsFunc(ownContent, func(s string) bool { return strings.Contains(q.Path, s) }) {
		name = "own content " + name
	}
	body := a.Body
	if secret := a.Pick("secret"); a.Good() && !strings.HasPrefix(secret, "whpk_") && secret != "" { // that one is public
		kind := "key"
		if strings.HasPrefix(q.Path, "/v1/webhooks") {
			kind = "webhook"
		}
		l.learn(fmt.Sprintf("secret of a %s, told in %s", kind, name), secret)
		body = bytes.ReplaceAll(body, []byte(secret), []byte("(told this once)"))
	}
	l.keep(name, fmt.Appendf(nil, "%v\n%s", a.Header, body))
}
