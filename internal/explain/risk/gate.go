package risk

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Unrecoverable is a part of a call that no checkpoint holds and no restore takes back.
type Unrecoverable struct {
	Class  retake.GateClass
	Target string
	Text   string // the simple command, as in ExternalEffect
}

// addUnrecoverable records such a part once.
func addUnrecoverable(j *callJudge, class retake.GateClass, target string, c *command) {
	if class == "" || j.maybe > 0 || len(j.result.Unrecoverable) >= MaxEffects || onlyReads(c) {
		return
	}
	u := Unrecoverable{Class: class, Target: cleanText(target, 120), Text: cleanText(c.text, 200)}
	if !slices.Contains(j.result.Unrecoverable, u) {
		j.result.Unrecoverable = append(j.result.Unrecoverable, u)
	}
}

// onlyReads reports whether a command shows what it would do, or how it is used.
func onlyReads(c *command) bool {
	if slices.ContainsFunc(c.args(), func(w word) bool { return containsWord("-help test=True", w.text) }) {
		return true
	}
	return slices.ContainsFunc(firstWords(c.operands(verbValueFlags), 3), func(o string) bool { return containsWord("help diff plan preview template", o) })
}

// effectClass returns the class of an external effect, or "" if it can be taken back, or if only the
// judge of its program knows.
func effectClass(rule, target string, c *command) retake.GateClass {
	switch rule {
	case "publish":
		return retake.GatePublish
	case "forge":
		if class := forgeClass(c); class != "" {
			return class
		}
	case "named-deploy":
		if containsAny(strings.ToLower(target), "publish", "release") {
			return retake.GatePublish
		}
		return retake.GateDeploy
	case "cloud":
		return cloudClass(c)
	case "infra", "deploy":
		if !hasDeletingVerb(c) && !judgesInside(c) {
			return retake.GateDeploy
		}
	case "api":
	default:
		return ""
	}
	if hasDeletingVerb(c) {
		return retake.GateDelete
	}
	return ""
}

// forgeClass returns the class of a command of GitHub's or GitLab's client that deletes nothing, or "".
func forgeClass(c *command) retake.GateClass {
	if c.name() == "gh" && c.hasFlag("--force") && secondOrEmpty(c.operands("")) == "sync" {
		return retake.GateForcePush
	}
	verbs := c.operands("-R --repo")
	switch first := firstOr(verbs, ""); {
	case first == "workflow" && len(verbs) > 2 && strings.Contains(verbs[2], "deploy"):
		return retake.GateDeploy
	case first == "release" && containsWord("create edit upload", secondOrEmpty(verbs)):
		return retake.GatePublish
	}
	return ""
}

// judgesInside reports whether a command runs another one elsewhere, or only copies or asks.
func judgesInside(c *command) bool {
	ops := c.operands(kubeValueFlags)
	switch c.name() {
	case "kubectl", "oc", "k":
		return containsWord("exec cp", firstOr(ops, ""))
	case "ansible":
		m, _ := c.flagValue("-m", "--module-name")
		return containsWord("ping setup debug gather_facts", m)
	}
	return false
}

func firstWords(list []string, n int) []string { return list[:min(len(list), n)] }

const verbValueFlags = kubeValueFlags + " -a --app -g --resource-group --project --region --zone -R --repo --profile -s --stack"

// Verbs of programs that change clouds and servers.
const (
	deletingVerbs = "delete destroy rm remove rb terminate uninstall undeploy drop del down reset teardown wipe purge"
	// what comes after these verbs keeps its data, or is asked for as data
	dataServices = "sqs sns dynamodb kinesis events logs sts ses sesv2 pubsub"
	dataVerbs    = "invoke put-object put-item update-item publish send-message put-events put-metric-data start-query-execution cp mv sync call execute ssh scp upload load insert mk put copy move mirror"
)

// hasDeletingVerb reports whether one of the first operands says that something is deleted. A verb
// begins its word: delete-stack, apps:destroy.
func hasDeletingVerb(c *command) bool {
	if c.hasFlag("-destroy", "--destroy") {
		return true
	}
	for _, o := range firstWords(c.operands(verbValueFlags), 4) {
		if strings.ContainsAny(o, "./=") {
			return false // a file, an address or a value: verbs come before
		}
		parts := strings.FieldsFunc(strings.ToLower(o), func(r rune) bool { return r == ':' || r == '-' || r == '_' })
		if len(parts) > 0 && (containsWord(deletingVerbs, parts[0]) || strings.Contains(o, ":") && containsWord(deletingVerbs, parts[len(parts)-1])) {
			return true
		}
	}
	return false
}

// cloudClass judges programs of clouds: what puts data there is no deployment.
func cloudClass(c *command) retake.GateClass {
	if slices.Equal(firstWords(c.operands(""), 2), []string{"builds", "submit"}) {
		return retake.GatePublish
	}
	if hasDeletingVerb(c) || c.hasFlag("--delete", "--delete-unmatched-destination-objects") {
		return retake.GateDelete
	}
	list := firstWords(c.operands(""), 4)
	if c.name() == "rclone" && firstOr(list, "") == "sync" {
		return retake.GateDelete // it deletes what the source does not have
	}
	for _, o := range list {
		if containsWord(dataServices, o) || containsWord(dataVerbs, o) {
			return ""
		}
	}
	return retake.GateDeploy
}

// rewritesRemote reports whether a push rewrites or deletes what another repository has.
func rewritesRemote(c *command, refs []string) bool {
	if c.hasFlag("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--prune", "-d", "--delete") {
		return true
	}
	return slices.ContainsFunc(refs[min(1, len(refs)):], func(r string) bool { return strings.HasPrefix(r, "+") || strings.HasPrefix(r, ":") })
}

// remoteDeployments are commands that put a program live on the machine on which they run.
var remoteDeployments = []string{"compose up", "compose pull", "systemctl restart", "systemctl reload", "pm2 re", "supervisorctl re"}

// losesDatabase reports whether a migration tool is told to empty or to drop a database.
func losesDatabase(c *command) bool {
	text := strings.ToLower(strings.Join(firstWords(wordTexts(c.args()), 8), " "))
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r > 127 || !isNameByte(byte(r)) || r == '_' }) {
		if containsWord("reset drop flush fresh refresh purge wipe clean truncate dropall replant", w) {
			return true
		}
	}
	return false
}

// judgeRemote judges what runs on another machine: its files are in no checkpoint of this one.
func judgeRemote(j *callJudge, host string, c *command, judge func(far *callJudge)) {
	far := newCallJudge(nil)
	far.parseBudget, far.nodesVisited = j.parseBudget, j.nodesVisited
	judge(far)
	j.parseBudget, j.nodesVisited = far.parseBudget, far.nodesVisited
	for _, d := range far.result.Dangers {
		if containsWord("delete-files sync-delete git-discard", d.Rule) {
			addUnrecoverable(j, retake.GateDelete, host, c)
			break
		}
	}
	for _, u := range far.result.Unrecoverable {
		addUnrecoverable(j, u.Class, host, c)
	}
}
