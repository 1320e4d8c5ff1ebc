package backup

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"unicode/utf16"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/pure/ignore"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/pure/token"
)

// What a file may be, and how text is looked at.
const (
	maxFileBytes = 50_000_000
	scanWindow   = 1 << 20 // of text that is looked at in one piece
	scanOverlap  = 8 << 10 // so that a secret is never cut by an edge
	sniffLen     = 8000    // bytes by which text is recognized, as git does
	maxIgnore    = 1 << 20
)

// contentCache remembers facts about stored objects, which never change.
type contentCache struct {
	mu     sync.Mutex
	secret map[retake.ObjectID]bool   // guarded by mu
	rules  map[retake.ObjectID][]byte // guarded by mu
}

const (
	maxSecretResults = 500_000
	maxRules         = 2000
)

func newContentCache() *contentCache {
	return &contentCache{secret: map[retake.ObjectID]bool{}, rules: map[retake.ObjectID][]byte{}}
}

// ruleReason returns why an entry is excluded whatever it contains, or "".
func ruleReason(rules ignore.Rules, path string, e *retake.Entry, top bool) retake.LeaveReason {
	dir := e.Kind == retake.KindDir
	switch {
	case isGitName(e.Name):
		return retake.LeaveGit
	case isBadName(e.Name), e.Kind != retake.KindFile && isModulesName(e.Name):
		return retake.LeaveName
	case top && dir && e.Name == marker.Dir:
		return retake.LeaveMark
	case dir && secretDirs[e.Name], !dir && isSecretFile(e.Name):
		return retake.LeaveSecret
	case rules.Ignored(path, dir):
		return retake.LeaveIgnored
	case e.Kind == retake.KindFIFO, e.Kind == retake.KindSocket:
		return retake.LeaveSpecial
	case e.Kind == retake.KindFile && e.Size > maxFileBytes:
		return retake.LeaveBig
	}
	return ""
}

// readContent reads a file or link that no rule excludes, and reports whether it contains a
// likely secret.
func (t *contentCache) readContent(ctx context.Context, src Source, e *retake.Entry) ([]byte, bool, error) {
	b, err := readObject(ctx, src, e.Object, maxFileBytes)
	if err != nil {
		return nil, false, err
	}
	t.mu.Lock()
	is, known := t.secret[e.Object]
	t.mu.Unlock()
	if !known {
		is = textHasSecret(b)
		t.putSecret(e.Object, is)
	}
	return b, is, nil
}

// containsSecret reports the same without returning the bytes, and reads them only if the
// result is not cached.
func (t *contentCache) containsSecret(ctx context.Context, src Source, e *retake.Entry) (bool, error) {
	t.mu.Lock()
	is, known := t.secret[e.Object]
	t.mu.Unlock()
	if known {
		return is, nil
	}
	_, is, err := t.readContent(ctx, src, e)
	return is, err
}

func (t *contentCache) putSecret(id retake.ObjectID, is bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.secret) >= maxSecretResults {
		clear(t.secret)
	}
	t.secret[id] = is
}

// readIgnoreFile reads an ignore file, from the cache if possible.
func (t *contentCache) readIgnoreFile(ctx context.Context, src Source, e *retake.Entry) ([]byte, error) {
	t.mu.Lock()
	b, ok := t.rules[e.Object]
	t.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := readObject(ctx, src, e.Object, maxIgnore)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rules) >= maxRules {
		clear(t.rules)
	}
	t.rules[e.Object] = b
	return b, nil
}

func readObject(ctx context.Context, src Source, id retake.ObjectID, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := src.File(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open stored file: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, fmt.Errorf("read stored file: %w", err)
	}
	return b, nil
}

// textHasSecret searches text in overlapping windows. Binary content is not searched.
func textHasSecret(b []byte) bool {
	b = decodeUTF16(b)
	if bytes.IndexByte(b[:min(len(b), sniffLen)], 0) >= 0 {
		return false
	}
	for len(b) > scanWindow {
		if hasSecret(b[:scanWindow]) {
			return true
		}
		b = b[scanWindow-scanOverlap:]
	}
	return hasSecret(b)
}

// hasSecret reports whether text contains a likely secret or one of our own API keys.
func hasSecret(b []byte) bool { return secrets.FindKinds(b) != nil || token.CountKeys(b) > 0 }

// decodeUTF16 converts UTF-16, which some editors write, to UTF-8.
func decodeUTF16(b []byte) []byte {
	if len(b) < 2 || len(b) > 4*scanWindow {
		return b
	}
	high := 0
	switch {
	case b[0] == 0xff && b[1] == 0xfe:
		high = 1
	case b[0] == 0xfe && b[1] == 0xff:
	default:
		return b
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 2; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i+high])<<8|uint16(b[i+1-high]))
	}
	return []byte(string(utf16.Decode(units)))
}
