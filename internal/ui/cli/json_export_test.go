package cli

import "github.com/retake-dev/retake/internal/ui/term"

// JSONAnswer is a value that a command prints with --json. When says with which flags, if
// there is more than one; Example is typed for it, else the first one of the help is.
type JSONAnswer struct {
	When, Example string
	Value         any
}

// JSONError is what any command prints when it fails.
var JSONError any = errorAnswer{}

// JSONAnswers are what commands print, by command; the empty name is `retake` alone.
// Tests see to it that no command and no answer is missing.
var JSONAnswers = map[string][]JSONAnswer{
	"": {
		{"In a workspace", "retake --json", logAnswer{}},
		{"Elsewhere", "", workspacesAnswer{}},
		{"With `--version`", "retake --version --json", versionAnswer{}},
	},
	"init":   {{Value: saveAnswer{}}},
	"save":   {{Value: saveAnswer{}}},
	"verify": {{Value: verifyAnswer{}}},
	"log":    {{Value: logAnswer{}}},
	"show": {
		{Value: term.Card{}},
		{"With `--conversation`", "retake show 14 --conversation --json", term.Conversation{}},
		{"With `--output`", "retake show 14 --output test --json", outputAnswer{}},
	},
	"diff": {
		{Value: diffAnswer{}},
		{"With `--env`", "retake diff 14 --env --json", factsAnswer{}},
	},
	"cat":     {{Value: catAnswer{}}},
	"ls":      {{Value: lsAnswer{}}},
	"status":  {{Value: statusAnswer{}}},
	"console": {{"", "retake console --no-open --json", consoleAnswer{}}},
	"mount":   {{Value: mountAnswer{}}},
	"find":    {{Value: findAnswer{}}},
	"bisect":  {{Value: bisection{}}},
	"blame": {
		{Value: blameAnswer{}},
		{"With `--package`", "retake blame --package react --json", chronicleAnswer{}},
	},
	"why":     {{Value: whyAnswer{}}},
	"restore": journeyAnswers("restore good"),
	"undo":    journeyAnswers("undo"),
	"redo":    journeyAnswers("redo"),
	"adopt":   journeyAnswers("adopt try"),
	"resume":  {{Value: resumeAnswer{}}},
	"tasks":   {{Value: tasksAnswer{}}},
	"approve": {{Value: approveAnswer{}}},
	"effects": {{Value: effectsAnswer{}}},
	"pause":   {{Value: pauseAnswer{}}},
	"unpause": {{Value: pauseAnswer{}}},

	"pin":      {{Value: pinAnswer{}}},
	"unpin":    {{Value: unpinAnswer{}}},
	"forget":   {{"", "retake forget 12 --yes --json", forgetAnswer{}}},
	"export":   {{Value: exportAnswer{}}},
	"import":   {{Value: importAnswer{}}},
	"fork":     {{Value: forkAnswer{}}},
	"forks":    {{Value: forksAnswer{}}},
	"demo":     {{Value: demoAnswer{}}},
	"estimate": {{Value: estimateAnswer{}}},
	"purge": {
		{"With `--plan`, or if there is nothing to remove", "retake purge --plan --json -- .env", purgePlanAnswer{}},
		{"Otherwise", "retake purge --yes --json -- .env", purgeAnswer{}},
	},
	"space": {
		{Value: spaceAnswer{}},
		{"With `--plan`", "retake space --plan --json", spacePlanAnswer{}},
		{"With `--free`", "retake space --free --json", thinAnswer{}},
	},
	"deinit": {
		{Value: deinitAnswer{}},
		{"With `--purge`", "retake deinit shop --purge --yes --json", purgeAnswer{}},
	},
	"config": {
		{Value: settingsAnswer{}},
		{"With a setting's name", "retake config keep-within --json", valueAnswer{}},
	},
	"doctor": {
		{Value: doctorAnswer{}},
		{"With `--prove`", "retake doctor --prove --json", proofAnswer{}},
		{"With `--bundle`", "retake doctor --bundle report.tar.gz --json", bundleAnswer{}},
	},
	"workspaces":     {{Value: workspacesAnswer{}}},
	"scrub":          {{Value: scrubAnswer{}}},
	"rebuild":        {{Value: rebuildAnswer{}}},
	"recovery-key":   {{Value: recoveryKeyAnswer{}}},
	"version":        {{Value: versionAnswer{}}},
	"help":           {{"", "retake help --json", handbook{}}},
	"agents":         {{Value: agentsAnswer{}}},
	"agents status":  {{Value: agentsAnswer{}}},
	"agents install": {{"", "retake agents install --yes --json", agentsAnswer{}}},
	"agents remove":  {{"", "retake agents remove --yes --json", agentsAnswer{}}},
	"backup set":     {{Value: backupAnswer{}}},
	"backup status":  {{Value: backupAnswer{}}},
	"backup now":     {{Value: backupAnswer{}}},
	"backup off":     {{Value: backupAnswer{}}},
	"attach":         {{Value: receiptAnswer{}}},
	"remote add":     {{Value: remoteAnswer{}}},
	"remote list":    {{Value: remotesAnswer{}}},
	"remote sync":    {{Value: remotesAnswer{}}},
	"remote check":   {{Value: remoteCheckAnswer{}}},
	"remote key":     {{Value: remoteKeyAnswer{}}},
	"remote remove":  {{Value: remoteAnswer{}}},
	"daemon start":   {{Value: daemonAnswer{}}},
	"daemon status":  {{Value: daemonAnswer{}}},
	"daemon stop":    {{Value: stopAnswer{}}},
	"daemon install": {{Value: installAnswer{}}},

	"serve":            {{Value: servingAnswer{}}},
	"admin bootstrap":  {{Value: beginningAnswer{}}},
	"admin namespaces": {{Value: namespacesAnswer{}}},
	"admin add":        {{Value: beginningAnswer{}}},
	"admin roots":      {{Value: namespaceAnswer{}}},
	"admin key":        {{Value: keyAnswer{}}},
	"admin rewrap":     {{Value: rewrapAnswer{}}},
	"keys list":        {{Value: keysAnswer{}}},
	"keys make":        {{Value: keyAnswer{}}},
	"keys revoke":      {{Value: revokedAnswer{}}},
	"webhooks list":    {{Value: webhooksAnswer{}}},
	"webhooks add":     {{Value: newWebhookAnswer{}}},
	"webhooks remove":  {{Value: webhookAnswer{}}},
	"webhooks rotate":  {{Value: newWebhookAnswer{}}},
	"webhooks enable":  {{Value: webhookAnswer{}}},
	"webhooks disable": {{Value: webhookAnswer{}}},
	"webhooks deliveries": {
		{Value: deliveriesAnswer{}},
		{"With an ID", "retake webhooks deliveries msg_1 --json", deliveryAnswer{}},
	},
	"webhooks replay":  {{Value: deliveryAnswer{}}},
	"webhooks listen":  {{Value: listenAnswer{}}},
	"schedule list":    {{Value: schedulesAnswer{}}},
	"schedule add":     {{Value: scheduleAnswer{}}},
	"schedule remove":  {{Value: scheduleAnswer{}}},
	"deletions list":   {{Value: deletionsAnswer{}}},
	"deletions ask":    {{Value: deletionAnswer{}}},
	"deletions cancel": {{Value: deletionAnswer{}}},
	"audit": {
		{Value: auditAnswer{}},
		{"With `--check`", "retake audit --check --json", auditProofAnswer{}},
		{"With `--head`", "retake audit --head --json", auditHeadAnswer{}},
	},
	"usage": {{Value: usageAnswer{}}},
}

// journeyAnswers are those of a command that shows a plan and asks.
func journeyAnswers(typed string) []JSONAnswer {
	return []JSONAnswer{
		{"With `--plan`, or if there is nothing to do", "retake " + typed + " --plan --json", planAnswer{}},
		{"Otherwise, once you confirm the plan with `--yes` or `--digest`", "retake " + typed + " --yes --json", resultAnswer{}},
	}
}

// JSONNone are the commands that have no JSON, and why. The page says so.
var JSONNone = map[string]string{
	"run": "The output is that of the program.", "at": "The output is that of the program.",
	"tui": "It fills the terminal.", "mcp": "It speaks its own protocol.", "hook": "It answers the agent.",
	"completion": "The output is a script.",
	"admin":      group, "backup": group, "remote": group, "daemon": group, "keys": group, "webhooks": group, "schedule": group, "deletions": group,
}

const group = "It prints help; see its commands."
