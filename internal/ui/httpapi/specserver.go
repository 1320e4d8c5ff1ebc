package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
)

// serverNonNullTypes are nonNullTypes that only a server has.
var serverNonNullTypes = []string{"Cadence", "Deletion", "Delivery", "Key", "Namespace", "Webhook"}

// adjustServerSchemas is adjustSchemas for what only a server has.
func adjustServerSchemas(o *huma.OpenAPI) {
	data := o.Components.Schemas.Schema(reflect.TypeFor[retake.EventData](), true, "")
	schemas := o.Components.Schemas.Map()
	schemas["Event"].Properties["data"] = data
	for _, f := range []string{"within_text", "gone_after_text", "grace_text"} {
		schemas["Limits"].Properties[f] = &huma.Schema{Type: huma.TypeString}
	}
	for _, name := range serverNonNullTypes {
		for _, p := range schemas[name].Properties {
			p.Nullable = p.Nullable && p.Type != huma.TypeArray
		}
	}
}
