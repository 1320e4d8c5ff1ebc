package service

import "time"

// Resting is what is known of the changes since the last rest.
type Resting = resting

// Due takes in how many changes there were so far.
func Due(r *Resting, now time.Time, events int64) (save, moving bool) { return r.due(now, events) }

// OwnFacts are those of the machine that are told with a checkpoint.
var OwnFacts = ownFacts
