// Package cron parses when something is due, in the five fields of cron, and computes the
// times. It works with times that it is given and touches nothing.
//
//	C1  All is UTC: no hour comes twice, none is left out.
//	C2  What can be parsed recurs: a date that does not exist is refused.
//	C3  Every call takes bounded time, whatever was parsed.
package cron

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/retake-dev/retake"
)

const (
	fieldCount    = 5
	maxTextLength = 256
	allowedChars  = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*,-/ \t"
	// The library gives up after five years; the 29th of February may be eight away.
	searchYears = 5
	maxSearches = 3
)

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// Schedule is when something is due. The zero value is never due.
type Schedule struct {
	text     string
	schedule cron.Schedule
}

// Parse parses five fields: minute, hour, day of month, month, day of week.
func Parse(text string) (Schedule, error) {
	if len(text) > maxTextLength {
		return Schedule{}, invalidError("it is too long")
	}
	// This also refuses time zones, names that begin with @, and seconds, which the library
	// supports and we do not; on some of them it reads beyond the end of the text.
	if i := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(allowedChars, r) }); i >= 0 {
		return Schedule{}, invalidError(fmt.Sprintf("%q has no meaning in it", []rune(text[i:])[0]))
	}
	fields := strings.Fields(text)
	if len(fields) != fieldCount {
		return Schedule{}, invalidError(fmt.Sprintf("it has %d fields, not %d", len(fields), fieldCount))
	}
	for _, f := range fields {
		if err := checkField(f); err != nil {
			return Schedule{}, err
		}
	}
	c := Schedule{text: strings.Join(fields, " ")}
	when, err := parser.Parse(c.text)
	if err != nil {
		return Schedule{}, invalidError(findBadField(fields))
	}
	c.schedule = when
	if c.Next(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, invalidError("no such day ever comes")
	}
	return c, nil
}

// checkField refuses what the library reads differently from what it says.
func checkField(field string) error {
	for item := range strings.SplitSeq(field, ",") {
		base, _, _ := strings.Cut(item, "/")
		switch {
		case item == "":
			return invalidError(fmt.Sprintf("%q has an empty item", field))
		case strings.Contains(base, "*") && base != "*":
			return invalidError(fmt.Sprintf("%q has a star where a number belongs", field))
		}
	}
	return nil
}

var fieldNames = [fieldCount]string{"minute", "hour", "day of month", "month", "day of week"}

// findBadField returns which field is wrong. The message of the library is not for users.
func findBadField(fields []string) string {
	for i, f := range fields {
		alone := [fieldCount]string{"*", "*", "*", "*", "*"}
		alone[i] = f
		if _, err := parser.Parse(strings.Join(alone[:], " ")); err != nil {
			return fmt.Sprintf("%q is no %s", f, fieldNames[i])
		}
	}
	return "it cannot be read"
}

// String returns the five fields, separated by one space.
func (c Schedule) String() string { return c.text }

// Next returns the first due time after a time, in UTC.
func (c Schedule) Next(after time.Time) time.Time {
	if c.schedule == nil {
		return time.Time{}
	}
	after = after.UTC()
	for range maxSearches {
		if next := c.schedule.Next(after); !next.IsZero() {
			return next
		}
		after = after.AddDate(searchYears, 0, 0)
	}
	return time.Time{}
}

// CountBetween returns the number of due times after from and not after to, at most limit.
func (c Schedule) CountBetween(from, to time.Time, limit int) int {
	n := 0
	for at := c.Next(from); n < limit && !at.IsZero() && !at.After(to); at = c.Next(at) {
		n++
	}
	return n
}

// Jitter returns how much later than its time a run begins: less than maximum, and the same
// for the same run on every server, so that servers need not agree on it.
func Jitter(id string, at time.Time, maximum time.Duration) time.Duration {
	if maximum <= 0 {
		return 0
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(at.Unix()))
	sum := sha256.Sum256(append(b, id...))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(maximum))
}

func invalidError(why string) error {
	return &retake.Error{
		Kind: retake.Invalid, What: "the cadence makes no sense: " + why, Safe: "Nothing was changed.",
		Hint: "Write five fields in UTC: minute, hour, day of month, month, day of week; 0 3 * * * is every night at three.",
	}
}
