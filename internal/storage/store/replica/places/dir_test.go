package places_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
	"github.com/retake-dev/retake/internal/storage/store/replica/placetest"
)

func TestDir(t *testing.T) {
	t.Parallel()
	placetest.Run(t, func(t *testing.T) replica.Place {
		p, err := places.OpenDir(fsx.OS(), t.TempDir(), clock.Wall.Now)
		if err != nil {
			t.Fatal(err)
		}
		return p
	})
}
