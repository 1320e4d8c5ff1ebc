//go:build !linux

package main

import (
	"context"
	"errors"
)

func soak(context.Context, options) (result, error) {
	return result{}, errors.New("a run needs Linux; -plot works everywhere")
}
