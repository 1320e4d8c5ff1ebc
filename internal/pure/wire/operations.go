package wire

import (
	"encoding/json"
	"time"
)

// AsyncPreference is the value of the Prefer header with which long work is answered at once, with
// an Operation.
const AsyncPreference = "respond-async"

// OperationStatus says whether an operation has ended, and how.
type OperationStatus string

// The states of an operation.
const (
	OperationRunning   OperationStatus = "running"
	OperationSucceeded OperationStatus = "succeeded"
	OperationFailed    OperationStatus = "failed"
	OperationCanceled  OperationStatus = "canceled"
)

// Operation is a request that goes on after its response.
type Operation struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Status   OperationStatus `json:"status" enum:"running,succeeded,failed,canceled"`
	Progress Progress        `json:"progress"`
	Created  time.Time       `json:"created"`
	Ended    *time.Time      `json:"ended,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Problem  *Problem        `json:"problem,omitempty"`
}
