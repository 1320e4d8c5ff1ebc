package term_test

import "time"

var now = time.Date(2026, 11, 3, 11, 42, 0, 0, time.UTC)
