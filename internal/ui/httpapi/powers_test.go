package httpapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

type permissionSpec struct {
	Paths map[string]map[string]struct {
		OperationID string
		Power       retake.Power `json:"x-power"`
	}
}

var pathParam = regexp.MustCompile(`\{[a-z]+\}`)

var allPermissions = []retake.Power{
	retake.PowerNone, retake.PowerSee, retake.PowerRecord, retake.PowerReturn, retake.PowerDecide, retake.PowerAdminister, retake.PowerErase, retake.PowerMaintain,
	retake.PowerProvision,
}

func loadPermissionSpec(t *testing.T) permissionSpec {
	t.Helper()
	w := httptest.NewRecorder()
	httpapi.New(&fakeService{}, httpapi.Options{}).ServeHTTP(w, httptest.NewRequest("GET", "/v1/openapi.json", nil))
	var spec permissionSpec
	if err := json.Unmarshal(w.Body.Bytes(), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

// Every operation declares its permission, the router finds the same, and some role has it.
func TestEveryOperationHasAPower(t *testing.T) {
	t.Parallel()
	n := 0
	for path, methods := range loadPermissionSpec(t).Paths {
		for method, o := range methods {
			n++
			target := pathParam.ReplaceAllString(path, "a%2Fb")
			p, id, ok := httpapi.PermissionOf(httptest.NewRequest(strings.ToUpper(method), target, nil))
			if !ok || id != o.OperationID || p != o.Power || !slices.Contains(allPermissions, p) {
				t.Errorf("%s %s is %s %q, found as %s %q %v", method, path, o.OperationID, o.Power, id, p, ok)
			}
			if !slices.ContainsFunc(append(slices.Clone(retake.KeyKinds), retake.KeyProvisioner), func(k retake.KeyKind) bool { return k.Has(p) }) {
				t.Errorf("%s: no key can", o.OperationID)
			}
			ownOnly := o.OperationID == "cancel-operation" // of the key that began it
			if method != "get" && !ownOnly && (p == retake.PowerSee || p == retake.PowerNone) {
				t.Errorf("%s %s changes something, and who may look may do it", method, path)
			}
		}
	}
	if n < 70 {
		t.Errorf("%d operations", n)
	}
}

// What distinguishes the roles, by example: a change here is a decision.
func TestPowersByExample(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]retake.Power{
		"GET /v1/openapi.json":                         retake.PowerNone,
		"GET /v1/about":                                retake.PowerNone,
		"HEAD /v1/about":                               retake.PowerNone,
		"GET /v1/workspaces":                           retake.PowerSee,
		"POST /v1/workspaces":                          retake.PowerDecide,
		"DELETE /v1/workspaces/a":                      retake.PowerDecide,
		"POST /v1/workspaces/a/checkpoints":            retake.PowerRecord,
		"GET /v1/workspaces/a/checkpoints/1/archive":   retake.PowerSee,
		"POST /v1/signals":                             retake.PowerRecord,
		"POST /v1/workspaces/a/plans":                  retake.PowerReturn,
		"POST /v1/workspaces/a/restores":               retake.PowerReturn,
		"POST /v1/workspaces/a/restore":                retake.PowerReturn,
		"POST /v1/workspaces/a/resume":                 retake.PowerReturn,
		"PUT /v1/workspaces/a/pins/b":                  retake.PowerDecide,
		"POST /v1/workspaces/a/holds":                  retake.PowerDecide,
		"POST /v1/workspaces/a/forget":                 retake.PowerErase,
		"POST /v1/deletions":                           retake.PowerErase,
		"DELETE /v1/deletions/a":                       retake.PowerErase,
		"DELETE /v1/snapshots/a":                       retake.PowerErase,
		"POST /v1/snapshots/a/restore":                 retake.PowerReturn,
		"POST /v1/keys":                                retake.PowerAdminister,
		"GET /v1/audit":                                retake.PowerAdminister,
		"POST /v1/import":                              retake.PowerDecide,
		"POST /v1/thin":                                retake.PowerMaintain,
		"GET /v1/workspaces/a/proof":                   retake.PowerMaintain,
		"POST /v1/workspaces/a/checkpoints?ref=/v1/ns": retake.PowerRecord,
	} {
		method, target, _ := strings.Cut(at, " ")
		if p, _, ok := httpapi.PermissionOf(httptest.NewRequest(method, target, nil)); !ok || p != want {
			t.Errorf("%s: %q %v, not %q", at, p, ok, want)
		}
	}
	for _, at := range []string{"GET /", "GET /v2/about", "PATCH /v1/workspaces", "GET /v1/workspaces/a/b/c/d", "POST /v1/openapi.json"} {
		method, target, _ := strings.Cut(at, " ")
		if p, id, ok := httpapi.PermissionOf(httptest.NewRequest(method, target, nil)); ok {
			t.Errorf("%s: %q %s", at, p, id)
		}
	}
}

// No role can both write and delete history.
func TestNoKeyAddsAndTakes(t *testing.T) {
	t.Parallel()
	for _, k := range retake.KeyKinds {
		adds := k.Has(retake.PowerRecord) || k.Has(retake.PowerReturn) || k.Has(retake.PowerDecide)
		if adds && (k.Has(retake.PowerErase) || k.Has(retake.PowerMaintain)) {
			t.Errorf("%s adds and takes", k)
		}
	}
}
