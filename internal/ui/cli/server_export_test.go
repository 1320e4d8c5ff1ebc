package cli

import (
	"github.com/retake-dev/retake"
)

// The screens of a server, and how things are found in it.
var (
	RenderKeys       = renderKeys
	RenderWebhooks   = renderWebhooks
	RenderDeliveries = renderDeliveries
	RenderDelivery   = renderDelivery
	RenderSchedules  = renderSchedules
	RenderScheduled  = renderSchedule
	RenderAudit      = renderAudit
	RenderRewrap     = renderRewrap
	RenderProven     = renderAuditProof
	RenderDeletions  = renderDeletions
	RenderUsage      = renderUsage
	RenderNewKey     = renderNewKey
	RenderUnpacked   = renderUnpacked
	NewestEvent      = newestEvent
)

// RenderHeard draws an event that was answered with a status, or not at all.
func RenderHeard(l Look, e retake.Event, name string, d retake.EventData, status int, why string) string {
	return renderEvent(l, e, eventDetails{d, name}, &forwardAnswer{Status: status, Why: why})
}

// PickKey finds a key as it is typed.
func PickKey(all []retake.Key, typed string) (retake.Key, error) {
	return findByID(all, func(k retake.Key) string { return string(k.ID) }, "key", typed, "retake keys list")
}
