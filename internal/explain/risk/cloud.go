package risk

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// judgeGH judges gh api; everything else of gh is in the table.
func judgeGH(j *callJudge, c *command) {
	list := c.operands("-X --method -f -F -H --field --raw-field --header --input -q --jq -t --template -R --repo --hostname -p --cache")
	if firstOr(list, "") != "api" || c.hasFlag("--help") {
		return
	}
	fields := c.flagValues("-f", "-F", "--field", "--raw-field", "--input")
	method := strings.ToUpper(firstOr(c.flagValues("-X", "--method"), ""))
	if method == "" && len(fields) > 0 {
		method = "POST"
	}
	target := "api"
	if len(list) > 1 {
		target = list[1]
	}
	if target == "graphql" && !strings.Contains(strings.Join(fields, " "), "mutation") {
		return
	}
	if method != "" && method != "GET" && method != "HEAD" {
		j.addEffect("forge", target, c)
	}
}

// judgeDocker judges pushes of images, and deletions of containers and volumes.
func judgeDocker(j *callJudge, c *command) {
	list := c.operands("-H --context --host --config -f -p --file --project-name --profile -t --tag --platform --build-arg --target")
	if len(list) == 0 || c.isDryRun() {
		return
	}
	verb := strings.Join(list[:min(2, len(list))], " ")
	switch {
	case list[0] == "compose":
		judgeComposeArgs(j, c, list[1:])
	case isImagePush(c, list):
		j.addEffect("publish", list[len(list)-1], c)
	case verb == "volume rm" || verb == "volume prune" || verb == "system prune" && c.hasFlag("--volumes"):
		j.addDanger("volumes", rulePhrase("volumes"))
		addUnrecoverable(j, retake.GateDelete, verb, c)
		j.addEffect("container", strings.Join(list[min(2, len(list)):], " "), c)
	case containsWord("stack service secret config", list[0]):
		judgeSwarm(j, c, list)
	case containsWord("rm rmi kill", list[0]), containsWord("rm prune", secondOrEmpty(list)):
		j.addEffect("container", strings.Join(list[1:], " "), c)
	}
}

// isImagePush reports whether images go to a registry.
func isImagePush(c *command, list []string) bool {
	second := secondOrEmpty(list)
	if list[0] == "push" || containsWord("image manifest", list[0]) && second == "push" {
		return true
	}
	return c.hasFlag("--push") && (list[0] == "build" || second == "build" || list[0] == "buildx" && second == "bake")
}

// judgeSwarm judges docker stack, service, secret and config.
func judgeSwarm(j *callJudge, c *command, list []string) {
	switch second := secondOrEmpty(list); {
	case containsWord("stack service", list[0]) && containsWord("deploy create update scale rollback", second):
		j.addEffect("infra", strings.Join(list[min(2, len(list)):], " "), c)
	case second == "rm":
		j.addEffect("infra", strings.Join(list[1:], " "), c)
	}
}

func secondOrEmpty(list []string) string {
	if len(list) < 2 {
		return ""
	}
	return list[1]
}

func judgeCompose(j *callJudge, c *command) {
	if !c.isDryRun() {
		judgeComposeArgs(j, c, c.operands("-f -p --file --project-name --profile"))
	}
}

func judgeComposeArgs(j *callJudge, c *command, list []string) {
	down := firstOr(list, "") == "down" && c.hasFlag("-v", "--volumes")
	if down || firstOr(list, "") == "rm" && c.hasFlag("-v") {
		j.addDanger("volumes", rulePhrase("volumes"))
		addUnrecoverable(j, retake.GateDelete, "volumes", c)
		j.addEffect("container", "volumes", c)
	}
	if firstOr(list, "") == "push" {
		j.addEffect("publish", strings.Join(list[1:], " "), c)
	}
}

const kubeValueFlags = "-n --namespace --context --cluster --kubeconfig -l --selector -f --filename -o --output -c --container --as -p --patch --type -k --replicas --token --user"

// judgeKubectl judges changes of a cluster. A command run in a pod counts unless it clearly
// only reads.
func judgeKubectl(j *callJudge, c *command) {
	list := c.operands(kubeValueFlags)
	if len(list) == 0 || c.isDryRun() {
		return
	}
	verb := list[0]
	switch {
	case containsWord("apply create delete patch edit replace scale set label annotate taint cordon uncordon drain expose autoscale run", verb):
		j.addEffect("infra", kubeTarget(c, list[1:]), c)
	case verb == "rollout" && containsWord("restart undo pause resume latest", secondOrEmpty(list)):
		j.addEffect("infra", kubeTarget(c, list[2:]), c)
	case verb == "exec":
		at := dashDashIndex(c)
		if at >= 0 {
			judgeRemote(j, secondOrEmpty(list), c, func(far *callJudge) { far.judgeSimple(c.commandFrom(at + 1)) })
		}
		if at < 0 || !isReadOnlyCommand(strings.TrimSpace(joinWords(c.words[at+1:]))) {
			j.addEffect("infra", secondOrEmpty(list), c)
		}
	case verb == "cp" && len(list) > 2 && strings.Contains(list[2], ":"):
		j.addEffect("infra", list[2], c)
	}
}

func kubeTarget(c *command, rest []string) string {
	t := strings.Join(rest, " ")
	if f, ok := c.flagValue("-f", "--filename", "-k"); ok && t == "" {
		t = f
	}
	if n, ok := c.flagValue("-n", "--namespace"); ok {
		t += " in " + n
	}
	return strings.TrimSpace(t)
}

// judgeAWS judges every operation that is not known to only read.
func judgeAWS(j *callJudge, c *command) {
	list := c.operands("--profile --region --output --endpoint-url --query --cli-input-json --color")
	if len(list) < 2 || c.isDryRun() || containsWord("configure sso sts help", list[0]) {
		return
	}
	if u, ok := c.flagValue("--endpoint-url"); ok && isLoopback(hostFromURL(u)) {
		return
	}
	service, verb := list[0], list[1]
	for _, r := range known().words.AWSReadVerbs {
		if verb == r || strings.HasPrefix(verb, r+"-") {
			return
		}
	}
	if service == "s3" && containsWord("cp mv sync", verb) {
		judgeBucketCopy(j, c, "s3://", list[2:], verb)
		return
	}
	j.addEffect("cloud", findBucket(list, "s3://", service+" "+verb), c)
}

// judgeBucketCopy records a copy to a bucket; a copy from one does not count.
func judgeBucketCopy(j *callJudge, c *command, scheme string, ends []string, verb string) {
	if len(ends) == 0 {
		return
	}
	to := ends[len(ends)-1]
	for i := 1; i < len(ends) && !strings.HasPrefix(to, scheme); i++ {
		to = ends[i]
	}
	switch {
	case strings.HasPrefix(to, scheme):
		j.addEffect("cloud", to, c)
	case verb == "mv":
		j.addEffect("cloud", ends[0], c)
	case c.hasFlag("--delete", "-d", "--delete-unmatched-destination-objects"):
		j.addDanger("sync-delete", joinNames("deletes what is not in the source, below", []string{to}), j.targetsOf(c, []word{c.wordOf(to)}, false)...)
	}
}

func findBucket(list []string, scheme, none string) string {
	for _, l := range list {
		if strings.HasPrefix(l, scheme) {
			return l
		}
	}
	return none
}

// judgeCloud judges gcloud and az by their verbs.
func judgeCloud(j *callJudge, c *command) {
	list := c.operands("--project --zone --region --account -g --resource-group -n --name --subscription -o --output --format --location -l")
	if len(list) < 2 || c.isDryRun() || containsWord("config auth login logout info version components account configure init topic help", list[0]) {
		return
	}
	if c.name() == "gcloud" && list[0] == "storage" && containsWord("cp mv rsync", secondOrEmpty(list)) {
		judgeBucketCopy(j, c, "gs://", list[2:], secondOrEmpty(list))
		return
	}
	for _, verb := range list[1:min(6, len(list))] {
		if containsWord("list describe show get read tail wait", verb) {
			return
		}
		if slices.Contains(known().words.CloudWriteVerbs, verb) || strings.HasPrefix(verb, "delete-") {
			j.addEffect("cloud", strings.Join(list[:min(4, len(list))], " "), c)
			return
		}
	}
}

func judgeGsutil(j *callJudge, c *command) {
	list := c.operands("-h -o -u -p -l -c")
	switch verb := firstOr(list, ""); {
	case containsWord("cp mv rsync", verb):
		judgeBucketCopy(j, c, "gs://", list[1:], verb)
	case containsWord("rm rb mb acl iam setmeta defacl lifecycle versioning rewrite compose", verb) && secondOrEmpty(list) != "get":
		j.addEffect("cloud", findBucket(list, "gs://", verb), c)
	}
}

func judgeAnsible(j *callJudge, c *command) {
	if c.hasFlag("--check", "-C", "--syntax-check", "--list-tasks", "--list-hosts", "--list-tags", "--version", "--help") {
		return
	}
	if list := c.operands("-i -e -l -u -t -m -a --inventory --limit --tags --extra-vars --user"); len(list) > 0 {
		j.addEffect("infra", firstOr(c.flagValues("-i", "--inventory", "-l", "--limit"), list[0]), c)
	}
}

// judgeVercel judges vercel, which deploys if no verb is given.
func judgeVercel(j *callJudge, c *command) {
	verb := firstOr(c.operands("-t --token --scope -S --cwd -A -b -e -m"), "deploy")
	if c.isDryRun() || containsWord("ls list logs dev build pull inspect whoami login logout link help init teams switch project", verb) {
		return
	}
	if containsWord("env domains dns alias certs secrets", verb) && containsWord("ls list pull inspect", secondOrEmpty(c.operands("-t --token --scope -S --cwd"))) {
		return
	}
	j.addEffect("deploy", "vercel "+verb, c)
}
