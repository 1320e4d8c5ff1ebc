package retake

import "time"

// APIVersion is the number of the HTTP API. Within one number it only grows: an
// older client is always understood.
const APIVersion = 1

// About says who answers at the other end.
type About struct {
	Version string    `json:"version"`
	API     int       `json:"api"`
	Stamp   int64     `json:"stamp"` // when the executable was made, in nanoseconds; tells builds of one version apart
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Home    string    `json:"home"` // the directory whose store it looks after
}
