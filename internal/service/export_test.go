package service

import "time"

// ChangeActivity is changeActivity for tests.
type ChangeActivity = changeActivity

// IsDue is changeActivity.isDue for tests.
func IsDue(r *ChangeActivity, now time.Time, events int64) (save, moving bool) {
	return r.isDue(now, events)
}

// OwnHostFacts is ownHostFacts for tests.
var OwnHostFacts = ownHostFacts
