//go:build !linux

package track

import (
	"errors"

	"github.com/retake-dev/retake"
)

const eventMask = 0

type groupRegistry struct{}

type listenState struct{}

func (w *Watch) startListening() error { return errors.New("this system has no tracker yet") }

func (w *Watch) mode() retake.TrackingMode { return retake.TrackingScan }

func (w *Watch) drainChanges(d *DirtySet) { d.requireRescan("this system has no tracker yet") }

func (w *Watch) stopListening() error { return nil }
