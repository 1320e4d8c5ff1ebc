package termtext

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count formats a number with a comma after every three digits: 1,204.
func Count(n int64) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(n, 10), "-")
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// CountNoun returns a count with its noun: 1 file, 1,204 files, no files.
func CountNoun(n int64, one, many string) string {
	switch n {
	case 0:
		return "no " + many
	case 1:
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Bytes formats a size in powers of 1000, with one decimal below ten and none above: 9.4 MB,
// 12 MB, 512 B.
func Bytes(n int64) string {
	v, sign := float64(n), ""
	if n < 0 {
		v, sign = -v, "-"
	}
	if v < 1000 {
		return fmt.Sprintf("%s%.0f B", sign, v)
	}
	units := []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	v /= 1000
	// What rounds to 1000 belongs to the next unit.
	for len(units) > 1 && v >= 999.5 {
		v, units = v/1000, units[1:]
	}
	if v < 9.95 {
		return fmt.Sprintf("%s%.1f %s", sign, v, units[0])
	}
	return fmt.Sprintf("%s%.0f %s", sign, v, units[0])
}

// ShortTime formats t as briefly as now allows: 10:27 today, Sat 17:05 in the six days before,
// 9 Oct in the same year, else 9 Oct 2025. The time zone is that of now.
func ShortTime(t, now time.Time) string {
	t = t.In(now.Location())
	switch days := dayNumber(now) - dayNumber(t); {
	case days == 0:
		return t.Format("15:04")
	case days > 0 && days < 7:
		return t.Format("Mon 15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	}
	return t.Format("2 Jan 2006")
}

// dayNumber counts calendar days, whatever the length of each.
func dayNumber(t time.Time) int64 {
	const seconds = 24 * 60 * 60
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / seconds
}

// Ago formats how long ago something was: just now, 11 min ago, 3 h ago, 2 d ago.
func Ago(d time.Duration) string {
	const dayLength = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < dayLength:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return Count(int64(d/dayLength)) + " d ago"
}

// Duration formats how long something took: 7 ms, 0.2 s, 38 s, 2 min 41 s, 1 h 5 min.
func Duration(d time.Duration) string {
	d = max(d, 0)
	if ms := d.Round(time.Millisecond); ms < 100*time.Millisecond {
		return fmt.Sprintf("%d ms", ms.Milliseconds())
	}
	if tenths := d.Round(100 * time.Millisecond); tenths < 10*time.Second {
		return fmt.Sprintf("%.1f s", tenths.Seconds())
	}
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 60*60:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%s h %d min", Count(s/3600), s%3600/60)
}
