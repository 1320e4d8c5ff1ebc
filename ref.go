package retake

import (
	"strconv"
	"strings"
	"time"
)

// RefForm is how a ref names a checkpoint.
type RefForm int

// The forms, in the order in which they are tried.
const (
	RefNumber RefForm = iota // 14
	RefLatest                // latest, latest~2
	RefStart                 // start: the first complete checkpoint
	RefID                    // cp_0197… or a prefix of it
	RefTime                  // 10:27, yesterday 17:00, 2h, 2026-11-03 10:27
	RefName                  // the name of a pin
	RefGood                  // good, good:test: the newest that is good, or that passed one verification
	RefGit                   // git:abc1234: the first whose commit was that one
)

// Ref is a parsed ref. Only the field of its form is set.
type Ref struct {
	Form   RefForm
	Number int64     // RefNumber; RefLatest: how many back
	Text   string    // RefID, RefName; RefGood: the name of a verification; RefGit: the commit
	Time   time.Time // RefTime: the newest checkpoint not after it
}

// ParseRef reads what people type. A leading # is allowed, for prose. Times are
// read in the zone of now.
func ParseRef(s string, now time.Time) (Ref, error) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "#")
	if s == "" {
		return Ref{}, &Error{Kind: Invalid, What: "the ref is empty", Hint: "by number: 14\nby time: 10:27\nthe newest: latest"}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		return Ref{Form: RefNumber, Number: n}, nil
	}
	if back, ok := parseLatest(s); ok {
		return Ref{Form: RefLatest, Number: back}, nil
	}
	switch {
	case s == "start":
		return Ref{Form: RefStart}, nil
	case strings.HasPrefix(s, CheckpointPrefix):
		return Ref{Form: RefID, Text: s}, nil
	}
	if name, ok := strings.CutPrefix(s, "good"); ok && (name == "" || len(name) > 1 && name[0] == ':') {
		return Ref{Form: RefGood, Text: strings.TrimPrefix(name, ":")}, nil
	}
	if sha, ok := strings.CutPrefix(s, "git:"); ok {
		return parseCommit(sha)
	}
	if t, ok := parseTime(s, now); ok {
		return Ref{Form: RefTime, Time: t}, nil
	}
	return Ref{Form: RefName, Text: s}, nil
}

// parseCommit reads the beginning of the name of a commit. Four digits are the least that
// git takes too.
func parseCommit(sha string) (Ref, error) {
	sha = strings.ToLower(sha)
	if len(sha) < 4 || len(sha) > 64 || strings.Trim(sha, "0123456789abcdef") != "" {
		return Ref{}, &Error{Kind: Invalid, What: "not a commit: git:" + sha, Hint: "at least four of its digits: git:abc1234"}
	}
	return Ref{Form: RefGit, Text: sha}, nil
}

func parseLatest(s string) (int64, bool) {
	rest, ok := strings.CutPrefix(s, "latest")
	if !ok {
		return 0, false
	}
	if rest == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(rest, "~"), 10, 64)
	return n, err == nil && n >= 0 && rest[0] == '~'
}

// parseTime reads a clock time (today, or yesterday when it is still ahead), a
// day with a clock time, a date, or an age such as 2h and 3d.
func parseTime(s string, now time.Time) (time.Time, bool) {
	if d, ok := ParseAge(s); ok {
		return now.Add(-d), true
	}
	day, clock, two := strings.Cut(s, " ")
	if !two {
		day, clock = "", s
	}
	for _, form := range []string{"15:04", "15:04:05"} {
		c, err := time.Parse(form, clock)
		if err != nil {
			continue
		}
		base, ok := parseDay(day, now)
		if !ok {
			return time.Time{}, false
		}
		t := time.Date(base.Year(), base.Month(), base.Day(), c.Hour(), c.Minute(), c.Second(), 0, now.Location())
		// A clock time without seconds means the whole minute.
		if form == "15:04" {
			t = t.Add(time.Minute - time.Nanosecond)
		}
		if day == "" && t.Add(-time.Minute).After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, true
	}
	if t, err := time.ParseInLocation("2006-01-02", s, now.Location()); err == nil {
		return t.AddDate(0, 0, 1).Add(-time.Nanosecond), true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, true
	}
	return time.Time{}, false
}

func parseDay(day string, now time.Time) (time.Time, bool) {
	switch day {
	case "", "today":
		return now, true
	case "yesterday":
		return now.AddDate(0, 0, -1), true
	}
	t, err := time.ParseInLocation("2006-01-02", day, now.Location())
	return t, err == nil
}

// ParseAge reads 90s, 30m, 2h, 3d and 2w.
func ParseAge(s string) (time.Duration, bool) {
	if len(s) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 32)
	if err != nil || n < 0 {
		return 0, false
	}
	unit, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	return time.Duration(n) * unit, ok
}
