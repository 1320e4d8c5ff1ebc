package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

const (
	defaultBudget     = 20e9
	budgetShare       = 10 // 10 % of a small disk
	day               = 24 * time.Hour
	defaultKeepWithin = 30 * day
)

// Budget returns how many bytes the store may use on a disk of that size.
func (s *Settings) Budget(total int64) int64 {
	if s.keepsAll() {
		return math.MaxInt64
	}
	v, _ := s.Value("budget") // the key exists
	if n, err := ParseSize(v); v != "" && err == nil && n > 0 {
		return n
	}
	return min(int64(defaultBudget), total/budgetShare)
}

// KeepWithin returns how long the checkpoints of a workspace are kept at least; 0 means
// forever.
func (s *Settings) KeepWithin(ws retake.WorkspaceID) time.Duration {
	if s.keepsAll() {
		return 0
	}
	d, err := parseRetention(s.workspaceValue(ws, "keep-within"))
	if err != nil { // Set validates, but the file may have been edited by hand
		return defaultKeepWithin
	}
	return d
}

// GoneAfter returns after how long all checkpoints of a workspace are deleted; 0 means never.
func (s *Settings) GoneAfter(ws retake.WorkspaceID) time.Duration {
	d, err := parseRetention(s.workspaceValue(ws, "gone-after"))
	if err != nil { // the file may have been edited by hand, and a typo must not delete anything
		return 0
	}
	return d
}

// parseRetention parses 30d, 12w, 48h and 0.
func parseRetention(s string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a time such as 30d, 12w or 48h", s)
	text, unit := strings.TrimSpace(s), time.Duration(0)
	for suffix, u := range map[string]time.Duration{"h": time.Hour, "d": day, "w": 7 * day} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = rest, u
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil || n < 0 || unit == 0 && n != 0:
		return 0, bad
	case n > int64(100*365*day/max(unit, 1)):
		return 0, bad
	}
	return time.Duration(n) * unit, nil
}
