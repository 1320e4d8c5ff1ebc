//go:build !unix

package script_test

import "errors"

func makeDevice(string) error { return errors.ErrUnsupported }
