package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// valueChecks validate the value of a key. A key without one accepts any value.
var valueChecks = map[string]func(string) error{
	"agents":        oneOf("on", "off"),
	"budget":        checkSize,
	"daemon-cgroup": oneOf("stay", "leave"),
	"daemon-idle":   func(v string) error { _, err := parseIdle(v); return err },
	"drill":         oneOf("on", "off"),
	"floor":         checkSize,
	"gitignore":     checkBool,
	"gate.delete":   checkGate, "gate.deploy": checkGate, "gate.force-push": checkGate, "gate.not-saved": checkGate, "gate.publish": checkGate, "gate.repeat": checkGate,
	"gone-after":    func(v string) error { _, err := parseRetention(v); return err },
	"granularity":   oneOf(string(retake.GranularityTurn), string(retake.GranularityCall)),
	"keep-within":   func(v string) error { _, err := parseRetention(v); return err },
	"max-new-file":  checkSize,
	"paused":        checkPauseTime,
	"protect":       oneOf("ask", "auto", "off"),
	"quiet":         oneOf("on", "off"),
	"rescue-max":    checkSize,
	"rescue-time":   func(v string) error { _, err := parseRescueTime(v); return err },
	"tracker":       oneOf(trackerModes...),
	"trust-unseen":  checkBool,
	"wait-uploaded": oneOf("on", "off"),
	"verify-limit":  func(v string) error { _, err := parseVerifyLimit(v); return err },
}

// checkFor returns the validation of a key, also of one that the user named; nil if there is
// none.
func checkFor(base string) func(string) error {
	if strings.HasPrefix(base, standingPrefix) {
		return checkStandingCommand
	}
	return valueChecks[base]
}

func checkSize(v string) error { _, err := ParseSize(v); return err }
func checkBool(v string) error { _, err := strconv.ParseBool(v); return err }

func checkGate(v string) error {
	return oneOf(string(retake.GateAllow), string(retake.GateAsk), string(retake.GateDeny))(v)
}

func checkPauseTime(v string) error {
	if _, err := time.Parse(time.RFC3339, v); v != "" && err != nil {
		return errors.New("it is a time, as retake pause writes it")
	}
	return nil
}

// oneOf accepts one of the words.
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
