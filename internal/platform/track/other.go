//go:build !linux

package track

import (
	"errors"

	"github.com/retake-dev/retake"
)

const changes = 0

type host struct{}

type armed struct{}

func (w *Watch) arm() error { return errors.New("this system has no tracker yet") }

func (w *Watch) mode() retake.TrackingMode { return retake.TrackingScan }

func (w *Watch) drain(d *Dirt) { d.doubt("this system has no tracker yet") }

func (w *Watch) disarm() error { return nil }
