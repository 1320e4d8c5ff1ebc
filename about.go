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

	Namespace NamespaceID `json:"namespace,omitempty"` // empty on a machine of one's own
	Key       *AboutKey   `json:"key,omitempty"`       // what let the asker in
	Powers    []Power     `json:"powers,omitempty"`    // what the asker may do; none are named where all are his
}

// AboutKey is what a key says of itself to who has it.
type AboutKey struct {
	Kind       KeyKind  `json:"kind"`
	Name       string   `json:"name"`
	Workspaces []string `json:"workspaces"` // ids that it is good for; none: all
}
