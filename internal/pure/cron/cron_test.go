package cron_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/cron"
)

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cron, after, want string }{
		{"* * * * *", "2026-01-01 00:00:00", "2026-01-01 00:01:00"},
		{"* * * * *", "2026-01-01 00:00:59", "2026-01-01 00:01:00"},
		{"0 3 * * *", "2026-01-01 03:00:00", "2026-01-02 03:00:00"},
		{"*/15 * * * *", "2026-01-01 00:14:00", "2026-01-01 00:15:00"},
		{"5/20 * * * *", "2026-01-01 00:05:00", "2026-01-01 00:25:00"},
		{"0 0 1 1 *", "2026-01-01 00:00:00", "2027-01-01 00:00:00"},
		{"0 0 31 * *", "2026-01-31 00:00:00", "2026-03-31 00:00:00"},
		{"0 0 29 2 *", "2024-02-29 00:00:00", "2028-02-29 00:00:00"},
		{"0 0 29 2 *", "2096-02-29 00:00:00", "2104-02-29 00:00:00"},
		{"0 0 13 * fri", "2026-01-01 00:00:00", "2026-01-02 00:00:00"}, // one of the two days is enough
		{"0 9-17/4 * * MON-FRI", "2026-01-02 17:00:00", "2026-01-05 09:00:00"},
		{"30 1 * mar,oct sun", "2026-03-28 00:00:00", "2026-03-29 01:30:00"}, // an hour that zones leave out
		{"0 0 30 2 0", "2026-01-01 00:00:00", "2026-02-01 00:00:00"},
	} {
		k, err := cron.Parse(c.cron)
		if err != nil {
			t.Errorf("%s: %v", c.cron, err)
			continue
		}
		if got := k.Next(at(c.after)); !got.Equal(at(c.want)) || got.Location() != time.UTC {
			t.Errorf("%s after %s comes %v, want %s", c.cron, c.after, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "*", "* * * *", "* * * * * *", "0 * * * * *", "@daily", "@every 1h", "@every 1s", "@reboot", "TZ=UTC * * * * *", "CRON_TZ=Europe/Berlin * * * * *", "TZ=", "CRON_TZ=UTC",
		"60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 7", "-1 * * * *", "* * * * mo", "* * * janu *", "? * * * *", "* * ? * *", "*,* L * * *", "* * L * *", "* * * * 5#3", "* * 15W * *",
		"5-1 * * * *", "1-2-3 * * * *", "*/0 * * * *", "*/-1 * * * *", "1//2 * * * *", "1/2/3 * * * *", ", * * * *", "1, * * * *", ",1 * * * *", "1,,2 * * * *", "*-5 * * * *", "5-* * * * *", "** * * * *", "*/ * * * *", "/5 * * * *", "- * * * *",
		"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 31 2 *", "1.5 * * * *", "0x1 * * * *", "٣ * * * *", "* * * * *\n", "*\n* * * *", "* * * * *\x00", "99999999999999999999 * * * *", "*/99999999999999999999 * * * *",
		strings.Repeat("1,", 200) + "1 * * * *",
	} {
		if c, err := cron.Parse(text); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q is read as %q: %v", text, c, err)
		} else if strings.Contains(err.Error(), "failed") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"60 * * * *": `"60" is no minute`, "* 24 * * *": `"24" is no hour`, "* * 32 * *": `"32" is no day of month`, "* * * 13 *": `"13" is no month`, "* * * * 7": `"7" is no day of week`,
	} {
		if _, err := cron.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestZero(t *testing.T) {
	t.Parallel()
	var c cron.Schedule
	if now := at("2026-01-01 00:00:00"); !c.Next(now).IsZero() || c.CountBetween(now, now.AddDate(1, 0, 0), 10) != 0 || c.String() != "" {
		t.Error("a cadence that nobody parsed comes")
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	c, err := cron.Parse("\t0  3 * *\tMon ")
	if err != nil || c.String() != "0 3 * * Mon" {
		t.Errorf("%q: %v", c, err)
	}
}

// numbers returns what a simple field means, by its own reading.
func numbers(field string, least, most int) map[int]bool {
	out := map[int]bool{}
	for item := range strings.SplitSeq(field, ",") {
		base, step, stepped := strings.Cut(item, "/")
		from, to, by := least, most, 1
		if base != "*" {
			a, b, ranged := strings.Cut(base, "-")
			from, _ = strconv.Atoi(a)
			if to = from; ranged {
				to, _ = strconv.Atoi(b)
			} else if stepped {
				to = most
			}
		}
		if stepped {
			by, _ = strconv.Atoi(step)
		}
		for i := from; i <= to; i += by {
			out[i] = true
		}
	}
	return out
}

func field(t *rapid.T, name string, least, most int) string {
	a := rapid.IntRange(least, most).Draw(t, name+" from")
	b := rapid.IntRange(a, most).Draw(t, name+" to")
	step := rapid.IntRange(1, most).Draw(t, name+" step")
	return rapid.SampledFrom([]string{
		"*", fmt.Sprint(a), fmt.Sprintf("%d-%d", a, b), fmt.Sprintf("*/%d", step), fmt.Sprintf("%d-%d/%d", a, b, step), fmt.Sprintf("%d,%d", a, b), fmt.Sprintf("%d/%d", a, step),
	}).Draw(t, name)
}

// Compared with a reader that looks at every minute.
func TestMinuteByMinute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := []string{field(t, "minute", 0, 59), field(t, "hour", 0, 23), field(t, "day", 1, 31), field(t, "month", 1, 12), field(t, "weekday", 0, 6)}
		c, err := cron.Parse(strings.Join(f, " "))
		if err != nil {
			t.Skip("no such day")
		}
		minute, hour, day, month, weekday := numbers(f[0], 0, 59), numbers(f[1], 0, 23), numbers(f[2], 1, 31), numbers(f[3], 1, 12), numbers(f[4], 0, 6)
		open := func(s string) bool { return s == "*" || s == "*/1" } // a star of either day leaves the other alone
		begin := at("2024-02-27 00:00:00").Add(time.Duration(rapid.IntRange(0, 60*24*400).Draw(t, "begin")) * time.Minute)
		end := begin.Add(10 * 24 * time.Hour)
		var want []time.Time
		for m := begin.Add(time.Minute); !m.After(end); m = m.Add(time.Minute) {
			d, w := day[m.Day()], weekday[int(m.Weekday())]
			if minute[m.Minute()] && hour[m.Hour()] && month[int(m.Month())] && (d && w || !open(f[2]) && !open(f[4]) && (d || w)) {
				want = append(want, m)
			}
		}
		if n := c.CountBetween(begin, end, 1<<20); n != len(want) {
			t.Fatalf("%s: %d times after %v, want %d", c, n, begin, len(want))
		}
		next := begin
		for _, w := range want[:min(len(want), 50)] {
			if next = c.Next(next); !next.Equal(w) {
				t.Fatalf("%s: %v, want %v", c, next, w)
			}
		}
	})
}

func TestBetween(t *testing.T) {
	t.Parallel()
	every, err := cron.Parse("* * * * *")
	if err != nil {
		t.Fatal(err)
	}
	from := at("2026-01-01 00:00:00")
	for _, c := range []struct {
		from, to time.Time
		limit    int
		want     int
	}{
		{from, from.Add(time.Hour), 1000, 60},
		{from, from, 1000, 0},
		{from.Add(time.Hour), from, 1000, 0},
		{from.Add(-time.Second), from, 1000, 1},
		{from, from.Add(time.Hour), 59, 59},
		{from, from.Add(time.Hour), 0, 0},
		{from, from.Add(time.Hour), -1, 0},
		{from, from.AddDate(1000, 0, 0), 500, 500}, // years of minutes, and no more work than the limit
		{time.Time{}, from, 500, 500},
	} {
		if got := every.CountBetween(c.from, c.to, c.limit); got != c.want {
			t.Errorf("from %v to %v with limit %d: %d, want %d", c.from, c.to, c.limit, got, c.want)
		}
	}
}

func TestZoneOfTheCallerDoesNotMatter(t *testing.T) {
	t.Parallel()
	c, err := cron.Parse("0 3 * * *")
	if err != nil {
		t.Fatal(err)
	}
	far := time.FixedZone("far", -11*3600)
	if got, want := c.Next(at("2026-01-01 02:00:00").In(far)), at("2026-01-01 03:00:00"); !got.Equal(want) {
		t.Errorf("comes %v, want %v", got, want)
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	const most = time.Hour
	now := at("2026-01-01 00:00:00")
	var sum time.Duration
	seen := map[time.Duration]bool{}
	for i := range 1000 {
		d := cron.Jitter(fmt.Sprint("s", i), now, most)
		if d < 0 || d >= most || d != cron.Jitter(fmt.Sprint("s", i), now.In(time.FixedZone("", 3600)), most) {
			t.Fatalf("jitter %v", d)
		}
		sum += d
		seen[d] = true
	}
	if mean := sum / 1000; mean < 25*time.Minute || mean > 35*time.Minute || len(seen) < 990 {
		t.Errorf("the mean is %v, and %d differ", mean, len(seen))
	}
	if cron.Jitter("s", now, most) == cron.Jitter("s", now.Add(time.Hour), most) {
		t.Error("two runs begin equally late")
	}
	for _, none := range []time.Duration{0, -1} {
		if d := cron.Jitter("s", now, none); d != 0 {
			t.Errorf("jitter %v of %v", d, none)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"* * * * *", "*/5 1-3,7 29 feb mon-fri", "TZ=UTC * * * * *", "@every 1s", "CRON_TZ=", "*-1 * * * *", "0 0 30 2 *", "59/9223372036854775807 * * * *"} {
		f.Add(s)
	}
	now := at("2026-01-01 00:00:00")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := cron.Parse(text)
		if err != nil {
			if !retake.IsKind(err, retake.Invalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		next := c.Next(now)
		if !next.After(now) || next.Second() != 0 || next.Nanosecond() != 0 || next.Year() > now.Year()+8 {
			t.Errorf("%q comes %v", text, next)
		}
		if again, err := cron.Parse(c.String()); err != nil || !again.Next(now).Equal(next) {
			t.Errorf("%q is read again as %q: %v", text, again, err)
		}
		if n := c.CountBetween(now, now.AddDate(20, 0, 0), 100); n < 1 || n > 100 {
			t.Errorf("%q comes %d times in twenty years", text, n)
		}
	})
}
