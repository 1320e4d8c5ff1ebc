package cli

import "github.com/retake-dev/retake"

// RenderSpace is the answer to retake space.
func RenderSpace(l Look, all []retake.WorkspaceState, p *retake.SpacePlan) string {
	return renderSpace(l, spaceAnswer{V: 1, Workspaces: all, Store: p.Store, Plan: p})
}

// The rest as it is.
var (
	RenderSpacePlan = renderSpacePlan
	RenderThin      = renderThin
)
