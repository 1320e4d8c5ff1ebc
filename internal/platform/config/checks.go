package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// checks say whether a value makes sense for a key; one that is not here takes any.
var checks = map[string]func(string) error{
	"agents":        oneOf("on", "off"),
	"budget":        sizes,
	"daemon-cgroup": oneOf("stay", "leave"),
	"daemon-idle":   func(v string) error { _, err := parseIdle(v); return err },
	"drill":         oneOf("on", "off"),
	"floor":         sizes,
	"gitignore":     truths,
	"gone-after":    func(v string) error { _, err := parseWithin(v); return err },
	"granularity":   oneOf(string(retake.GranularityTurn), string(retake.GranularityCall)),
	"keep-within":   func(v string) error { _, err := parseWithin(v); return err },
	"max-new-file":  sizes,
	"paused":        pauses,
	"quiet":         oneOf("on", "off"),
	"tracker":       oneOf(trackers...),
	"trust-unseen":  truths,
	"verify-limit":  func(v string) error { _, err := parseLimit(v); return err },
}

// checkOf finds the check of a key, also of one that the user named.
func checkOf(base string) func(string) error {
	if strings.HasPrefix(base, standingPrefix) {
		return standingCommand
	}
	return checks[base]
}

func sizes(v string) error  { _, err := ParseSize(v); return err }
func truths(v string) error { _, err := strconv.ParseBool(v); return err }

func pauses(v string) error {
	if _, err := time.Parse(time.RFC3339, v); v != "" && err != nil {
		return errors.New("it is a time, as retake pause writes it")
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(v string) error {
		switch {
		case slices.Contains(words, v):
			return nil
		case len(words) == 2:
			return errors.New("it is " + strings.Join(words, " or "))
		}
		return errors.New("it is one of " + strings.Join(words, ", "))
	}
}
