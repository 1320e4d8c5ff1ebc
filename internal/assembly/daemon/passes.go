package daemon

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net"
	"time"

	"github.com/retake-dev/retake/internal/platform/proc"
)

// maxTokens is far more than one person opens.
const maxTokens = 1000

// tokenSet maps digests of secrets to the time until which each is valid.
type tokenSet map[[sha256.Size]byte]time.Time

// issue makes a secret. The oldest go when there are too many.
func (p tokenSet) issue(now time.Time, age time.Duration) string {
	for digest, until := range p {
		if !now.Before(until) {
			delete(p, digest)
		}
	}
	for len(p) >= maxTokens {
		var oldest [sha256.Size]byte
		var first time.Time
		for digest, until := range p {
			if first.IsZero() || until.Before(first) {
				oldest, first = digest, until
			}
		}
		delete(p, oldest)
	}
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails: the process ends instead
	secret := base64.RawURLEncoding.EncodeToString(b)
	p[sha256.Sum256([]byte(secret))] = now.Add(age)
	return secret
}

// isValid looks a secret up by its digest, so that timing reveals nothing about it.
func (p tokenSet) isValid(secret string, now time.Time) bool {
	until, ok := p[sha256.Sum256([]byte(secret))]
	return ok && now.Before(until)
}

// redeem is isValid for a secret that can be used once.
func (p tokenSet) redeem(secret string, now time.Time) bool {
	ok := p.isValid(secret, now)
	delete(p, sha256.Sum256([]byte(secret)))
	return ok
}

// sameUserListener closes connections of other users of the machine, where the kernel can
// tell: they may have seen an address or a cookie that was not for them.
type sameUserListener struct {
	net.Listener
	owner int
	log   *slog.Logger
}

func (l sameUserListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := proc.TCPPeerUID(c)
		if err != nil || uid == l.owner || uid == 0 {
			return c, nil
		}
		l.log.Warn("hung up on a stranger at the console", "uid", uid)
		_ = c.Close() // nothing was said
	}
}
