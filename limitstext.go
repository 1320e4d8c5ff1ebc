package retake

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ShareBytes returns what a share of the store is in bytes; 0: no bound.
func (l Limits) ShareBytes(percent int64) int64 {
	if l.Store <= 0 || percent <= 0 || percent >= 100 {
		return 0
	}
	return l.Store/100*percent + l.Store%100*percent/100
}

// LimitsRequest changes the limits of a namespace.
type LimitsRequest struct {
	Limits    Limits
	IfVersion string // only if the limits have this version; empty: in any case
}

// Version identifies these values, for changes of what was read.
func (l Limits) Version() string {
	return versionOf(plainLimits(l))
}

type plainLimits Limits

// MarshalJSON adds the durations as texts: nanoseconds of more than 104 days are not exact in
// JavaScript.
func (l Limits) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainLimits
		Within    string `json:"within_text"`
		GoneAfter string `json:"gone_after_text"`
		Grace     string `json:"grace_text"`
	}{plainLimits(l), FormatDuration(l.Within), FormatDuration(l.GoneAfter), FormatDuration(l.Grace)})
}

const day = 24 * time.Hour

// FormatDuration writes a duration as 30d, 36h, 1m30s or 0.
func FormatDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	case d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	default:
		return d.String()
	}
}

// ParseDuration reads what FormatDuration writes, and weeks, such as 12w.
func ParseDuration(text string) (time.Duration, error) {
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		number, ok := strings.CutSuffix(text, suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if most := int64(1<<63-1) / int64(unit); err != nil || n > most || n < -most {
			return 0, fmt.Errorf("%q is not a duration such as 30d, 12w or 36h", text)
		}
		return time.Duration(n) * unit, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 30d, 12w or 36h", text)
	}
	return d, nil
}
