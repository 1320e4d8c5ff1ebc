package retake

// GateClass is a kind of call that nothing can take back: a closed, append-only set.
type GateClass string

// The classes.
const (
	GateForcePush GateClass = "force-push" // history in another repository is rewritten or deleted
	GatePublish   GateClass = "publish"    // a package, an image or a release
	GateDeploy    GateClass = "deploy"     // a program goes live, or infrastructure changes
	GateDelete    GateClass = "delete"     // data that no checkpoint has: of a database server, a cloud, a volume
	GateNotSaved  GateClass = "not-saved"  // files outside the workspace that could not be saved first
	GateRepeat    GateClass = "repeat"     // an external action that was done before the files were restored
)

// GateClasses are all of them, in the order of their settings.
var GateClasses = []GateClass{GateForcePush, GatePublish, GateDeploy, GateDelete, GateNotSaved, GateRepeat}

// GatePolicy is what happens to a call of a class.
type GatePolicy string

// The policies, the weakest first.
const (
	GateAllow GatePolicy = "allow"
	GateAsk   GatePolicy = "ask"
	GateDeny  GatePolicy = "deny"
)

// GatePolicies are all of them, the weakest first.
var GatePolicies = []GatePolicy{GateAllow, GateAsk, GateDeny}

// Gate is the user's policy for each class. A class that is missing is allowed.
type Gate map[GateClass]GatePolicy

// Stop asks an agent not to run a call, because of the user's policy.
type Stop struct {
	Policy GatePolicy `json:"policy"` // ask: the agent asks its user; deny: the call does not run
	Class  GateClass  `json:"class"`
	ID     string     `json:"id,omitempty"` // of the external action, for retake approve; empty if the agent asks itself
	Text   string     `json:"text"`         // for the agent and its user
}

// ApproveRequest lets one stopped call pass, once. Asker is the process that asks on this machine: a
// process of an agent may not.
type ApproveRequest struct {
	Workspace WorkspaceID
	ID        string
	Asker     int
}
