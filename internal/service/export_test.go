package service

import "time"

// ChangeActivity is what is known of the changes since the last rest.
type ChangeActivity = changeActivity

// IsDue takes in how many changes there were so far.
func IsDue(r *ChangeActivity, now time.Time, events int64) (save, moving bool) {
	return r.isDue(now, events)
}

// OwnFacts are those of the machine that are told with a checkpoint.
var OwnHostFacts = ownHostFacts
