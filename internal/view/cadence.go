package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/cron"
)

// shownTimes is how many times of a cadence are shown.
const shownTimes = 3

// OfCadence says when a cron line is due after a time.
func OfCadence(line string, after time.Time) (retake.Cadence, error) {
	s, err := cron.Parse(line)
	if err != nil {
		return retake.Cadence{}, err
	}
	c := retake.Cadence{Cron: s.String(), Words: cadenceWords(s.String())}
	for len(c.Next) < shownTimes {
		after = s.Next(after)
		c.Next = append(c.Next, after)
	}
	return c, nil
}

// cadenceWords are the words of what people usually write; of other lines there are none.
func cadenceWords(line string) string {
	f := strings.Fields(line)
	minute, hour, week := f[0], f[1], strings.ToLower(f[4])
	m, plainMinute := plainNumber(minute)
	h, plainHour := plainNumber(hour)
	at := fmt.Sprintf("%02d:%02d UTC", h, m)
	switch w, plainWeek := plainNumber(week); {
	case !isEvery(f[2]) || !isEvery(f[3]):
		return ""
	case plainMinute && plainHour && isEvery(week):
		return "every day at " + at
	case plainMinute && plainHour && plainWeek:
		return fmt.Sprintf("every %s at %s", time.Weekday(w), at)
	case plainMinute && plainHour && (week == "1-5" || week == "mon-fri"):
		return "Monday to Friday at " + at
	case !isEvery(week):
		return ""
	case isEvery(minute) && isEvery(hour):
		return "every minute"
	case plainMinute && isEvery(hour) && m == 0:
		return "every hour"
	case plainMinute && isEvery(hour):
		return fmt.Sprintf("every hour at :%02d", m)
	case isEvery(hour):
		return evenStep(minute, 60, "minutes")
	case plainMinute:
		return evenStep(hour, 24, "hours")
	}
	return ""
}

func isEvery(field string) bool { return field == "*" || field == "*/1" }

func plainNumber(field string) (int, bool) {
	n, err := strconv.Atoi(field)
	return n, err == nil
}

// evenStep says a step that divides its whole, so that the gaps are all the same.
func evenStep(field string, whole int, noun string) string {
	step, ok := strings.CutPrefix(field, "*/")
	if n, number := plainNumber(step); ok && number && n > 1 && whole%n == 0 {
		return fmt.Sprintf("every %d %s", n, noun)
	}
	return ""
}
