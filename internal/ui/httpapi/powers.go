package httpapi

import (
	"net/http"
	"sync"

	"github.com/retake-dev/retake"
)

// permissionExtension is the field of an operation in the description that has its permission.
const permissionExtension = "x-power"

// descriptionID is the operation that returns the description; it is not part of it.
const descriptionID = "openapi"

// requiredPermissions has the permission that each operation needs. An operation that is not
// listed is closed to all keys, and a test fails.
var requiredPermissions = map[string]retake.Power{
	descriptionID: retake.PowerNone, "about": retake.PowerNone,
	// A key sees and cancels only the operations that it began itself.
	"list-operations": retake.PowerNone, "operation": retake.PowerNone, "cancel-operation": retake.PowerNone,

	"estimate": retake.PowerSee, "locate": retake.PowerSee, "list-workspaces": retake.PowerSee, "status": retake.PowerSee, "log": retake.PowerSee, "view-timeline": retake.PowerSee,
	"find": retake.PowerSee, "diff": retake.PowerSee, "list": retake.PowerSee, "file": retake.PowerSee, "object": retake.PowerSee, "story": retake.PowerSee,
	"rows":   retake.PowerSee,
	"search": retake.PowerSee, "blame": retake.PowerSee, "chronicle": retake.PowerSee, "verifications": retake.PowerSee, "standing": retake.PowerSee,
	"effects": retake.PowerSee, "tasks": retake.PowerSee, "state": retake.PowerSee, "conversation": retake.PowerSee, "spoken": retake.PowerSee, "space": retake.PowerSee,
	"space-plan": retake.PowerSee, "list-forks": retake.PowerSee, "namespace": retake.PowerSee, "usage": retake.PowerSee, "events": retake.PowerSee,
	"archive": retake.PowerSee, "list-snapshots": retake.PowerSee, "snapshot": retake.PowerSee,
	"backup": retake.PowerSee,

	"save": retake.PowerRecord, "observe": retake.PowerRecord, "attest": retake.PowerRecord, "set-tasks": retake.PowerRecord, "make-snapshot": retake.PowerRecord,

	"plan": retake.PowerReturn, "view-plan": retake.PowerReturn, "restore": retake.PowerReturn, "apply-restore": retake.PowerReturn, "restore-snapshot": retake.PowerReturn,
	"write-file": retake.PowerReturn, "remove-file": retake.PowerReturn,
	"fork": retake.PowerReturn, "resume": retake.PowerReturn,

	"init": retake.PowerDecide, "deinit": retake.PowerDecide, "approve": retake.PowerDecide, "pin": retake.PowerDecide, "unpin": retake.PowerDecide, "import": retake.PowerDecide,
	"hold": retake.PowerDecide, "release": retake.PowerDecide,
	"add-remote": retake.PowerDecide, "attach": retake.PowerDecide, "remove-remote": retake.PowerDecide,
	"set-backup": retake.PowerDecide, "drop-backup": retake.PowerDecide, "back-up": retake.PowerDecide,

	"set-limits": retake.PowerAdminister, "make-key": retake.PowerAdminister, "list-keys": retake.PowerAdminister, "revoke-key": retake.PowerAdminister,
	"make-webhook": retake.PowerAdminister, "list-webhooks": retake.PowerAdminister, "change-webhook": retake.PowerAdminister,
	"drop-webhook": retake.PowerAdminister, "rotate-webhook": retake.PowerAdminister, "list-deliveries": retake.PowerAdminister,
	"delivery": retake.PowerAdminister, "replay": retake.PowerAdminister, "make-schedule": retake.PowerAdminister, "view-cadence": retake.PowerAdminister,
	"list-schedules": retake.PowerAdminister, "drop-schedule": retake.PowerAdminister, "audit": retake.PowerAdminister, "check-audit": retake.PowerAdminister,

	"forget": retake.PowerErase, "request-deletion": retake.PowerErase, "list-deletions": retake.PowerErase, "cancel-deletion": retake.PowerErase,
	"drop-snapshot": retake.PowerErase, "plan-purge": retake.PowerErase, "purge": retake.PowerErase, "erase": retake.PowerErase,

	"create-namespace": retake.PowerProvision, "list-namespaces": retake.PowerProvision, "provisioned-namespace": retake.PowerProvision,
	"set-namespace-limits": retake.PowerProvision, "create-namespace-key": retake.PowerProvision,

	"list-remotes": retake.PowerMaintain, "sync-remotes": retake.PowerMaintain, "check-remote": retake.PowerMaintain,
	"scrub": retake.PowerMaintain, "sweep": retake.PowerMaintain, "thin": retake.PowerMaintain, "rebuild": retake.PowerMaintain, "proof": retake.PowerMaintain,
}

// loadRoutes returns the patterns of all routes with their operations. It has a router of its
// own with the same patterns, so that both find the same route for a request.
var loadRoutes = sync.OnceValue(func() *routeIndex {
	mux, a := buildRoutes(nil, Options{})
	mux.HandleFunc(descriptionRoute, func(http.ResponseWriter, *http.Request) {})
	out := &routeIndex{mux: mux, ids: map[string]string{descriptionRoute: descriptionID}}
	for path, item := range a.OpenAPI().Paths {
		for method, o := range operationsByMethod(item) {
			out.ids[method+" "+path] = o.OperationID
		}
	}
	return out
})

// routeIndex finds the operation of a request.
type routeIndex struct {
	mux *http.ServeMux
	ids map[string]string // operation IDs by pattern
}

// PermissionOf returns the permission that a request needs, and the ID of its operation. It
// returns false if there is no such route, or if the route has no permission.
func PermissionOf(r *http.Request) (retake.Power, string, bool) {
	d := loadRoutes()
	_, pattern := d.mux.Handler(r)
	id, ok := d.ids[pattern]
	if !ok {
		return "", "", false
	}
	p, ok := requiredPermissions[id]
	return p, id, ok
}
