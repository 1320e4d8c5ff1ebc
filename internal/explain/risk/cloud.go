package risk

import "strings"

// gh: rows name what writes; only its api needs a closer look.
func (j *judge) gh(c *command) {
	list := c.operands("-X --method -f -F -H --field --raw-field --header --input -q --jq -t --template -R --repo --hostname -p --cache")
	if first(list, "") != "api" || c.has("--help") {
		return
	}
	fields := c.values("-f", "-F", "--field", "--raw-field", "--input")
	method := strings.ToUpper(first(c.values("-X", "--method"), ""))
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
		j.outside("forge", target, c)
	}
}

func (j *judge) docker(c *command) {
	list := c.operands("-H --context --host --config -f -p --file --project-name --profile -t --tag --platform --build-arg --target")
	if len(list) == 0 || c.dry() {
		return
	}
	verb := strings.Join(list[:min(2, len(list))], " ")
	switch {
	case list[0] == "compose":
		j.composeDown(c, list[1:])
	case list[0] == "push" || list[0] == "image" && strings.HasSuffix(verb, "push") || strings.HasSuffix(verb, "build") && c.has("--push"):
		j.outside("publish", list[len(list)-1], c)
	case verb == "volume rm" || verb == "volume prune" || verb == "system prune" && c.has("--volumes"):
		j.destroys("volumes", phraseOf("volumes"))
		j.outside("container", strings.Join(list[min(2, len(list)):], " "), c)
	case within("rm rmi kill", list[0]), within("rm prune", second(list)):
		j.outside("container", strings.Join(list[1:], " "), c)
	}
}

func second(list []string) string {
	if len(list) < 2 {
		return ""
	}
	return list[1]
}

func (j *judge) compose(c *command) {
	if !c.dry() {
		j.composeDown(c, c.operands("-f -p --file --project-name --profile"))
	}
}

func (j *judge) composeDown(c *command, list []string) {
	down := first(list, "") == "down" && c.has("-v", "--volumes")
	if down || first(list, "") == "rm" && c.has("-v") {
		j.destroys("volumes", phraseOf("volumes"))
		j.outside("container", "volumes", c)
	}
	if first(list, "") == "push" {
		j.outside("publish", strings.Join(list[1:], " "), c)
	}
}

const kubeValues = "-n --namespace --context --cluster --kubeconfig -l --selector -f --filename -o --output -c --container --as -p --patch --type -k --replicas --token --user"

// kubectl: what is run in a pod counts unless it plainly only looks.
func (j *judge) kubectl(c *command) {
	list := c.operands(kubeValues)
	if len(list) == 0 || c.dry() {
		return
	}
	verb := list[0]
	switch {
	case within("apply create delete patch edit replace scale set label annotate taint cordon uncordon drain expose autoscale run", verb):
		j.outside("infra", kubeTarget(c, list[1:]), c)
	case verb == "rollout" && within("restart undo pause resume", second(list)):
		j.outside("infra", kubeTarget(c, list[2:]), c)
	case verb == "exec":
		at := dashes(c)
		if at < 0 || !readsOnly(strings.TrimSpace(join(c.words[at+1:]))) {
			j.outside("infra", second(list), c)
		}
	case verb == "cp" && len(list) > 2 && strings.Contains(list[2], ":"):
		j.outside("infra", list[2], c)
	}
}

func kubeTarget(c *command, rest []string) string {
	t := strings.Join(rest, " ")
	if f, ok := c.value("-f", "--filename", "-k"); ok && t == "" {
		t = f
	}
	if n, ok := c.value("-n", "--namespace"); ok {
		t += " in " + n
	}
	return strings.TrimSpace(t)
}

// awsReads begin the names of operations that change nothing.
var awsReads = []string{"list", "describe", "get", "head", "ls", "help", "search", "lookup", "wait", "scan", "query", "batch-get", "filter", "estimate",
	"validate", "simulate", "test", "check", "tail", "presign", "select", "view", "transact-get", "generate-presigned", "decode", "assume-role", "detect", "preview"}

func (j *judge) aws(c *command) {
	list := c.operands("--profile --region --output --endpoint-url --query --cli-input-json --color")
	if len(list) < 2 || c.dry() || within("configure sso sts help", list[0]) {
		return
	}
	if u, ok := c.value("--endpoint-url"); ok && loopback(hostOf(u)) {
		return
	}
	service, verb := list[0], list[1]
	for _, r := range awsReads {
		if verb == r || strings.HasPrefix(verb, r+"-") {
			return
		}
	}
	if service == "s3" && within("cp mv sync", verb) {
		j.bucket(c, "s3://", list[2:], verb)
		return
	}
	j.outside("cloud", bucketIn(list, "s3://", service+" "+verb), c)
}

// bucket: a copy to a bucket counts, a copy from it does not.
func (j *judge) bucket(c *command, scheme string, ends []string, verb string) {
	if len(ends) == 0 {
		return
	}
	to := ends[len(ends)-1]
	for i := 1; i < len(ends) && !strings.HasPrefix(to, scheme); i++ {
		to = ends[i]
	}
	switch {
	case strings.HasPrefix(to, scheme):
		j.outside("cloud", to, c)
	case verb == "mv":
		j.outside("cloud", ends[0], c)
	case c.has("--delete", "-d", "--delete-unmatched-destination-objects"):
		j.destroys("sync-delete", names("deletes what is not in the source, below", []string{to}))
	}
}

func bucketIn(list []string, scheme, none string) string {
	for _, l := range list {
		if strings.HasPrefix(l, scheme) {
			return l
		}
	}
	return none
}

// cloudWrites are verbs of gcloud and az that change something there.
const cloudWrites = "create delete update deploy set add remove patch import submit apply start stop reset restart enable disable promote rollback resize attach " +
	"detach execute publish purge up upload cancel move set-iam-policy add-iam-policy-binding remove-iam-policy-binding ssh scp rm mv invoke deallocate redeploy " +
	"undelete suspend resume failover swap regenerate assign set-traffic update-traffic call clone restore"

func (j *judge) cloud(c *command) {
	list := c.operands("--project --zone --region --account -g --resource-group -n --name --subscription -o --output --format --location -l")
	if len(list) < 2 || c.dry() || within("config auth login logout info version components account configure init topic help", list[0]) {
		return
	}
	if c.name() == "gcloud" && list[0] == "storage" && within("cp mv rsync", second(list)) {
		j.bucket(c, "gs://", list[2:], second(list))
		return
	}
	for _, verb := range list[1:min(6, len(list))] {
		if within("list describe show get read tail wait", verb) {
			return
		}
		if within(cloudWrites, verb) {
			j.outside("cloud", strings.Join(list[:min(4, len(list))], " "), c)
			return
		}
	}
}

func (j *judge) gsutil(c *command) {
	list := c.operands("-h -o -u -p -l -c")
	switch verb := first(list, ""); {
	case within("cp mv rsync", verb):
		j.bucket(c, "gs://", list[1:], verb)
	case within("rm rb mb acl iam setmeta defacl lifecycle versioning rewrite compose", verb) && second(list) != "get":
		j.outside("cloud", bucketIn(list, "gs://", verb), c)
	}
}

func (j *judge) ansible(c *command) {
	if c.has("--check", "-C", "--syntax-check", "--list-tasks", "--list-hosts", "--list-tags", "--version", "--help") {
		return
	}
	if list := c.operands("-i -e -l -u -t -m -a --inventory --limit --tags --extra-vars --user"); len(list) > 0 {
		j.outside("infra", first(c.values("-i", "--inventory", "-l", "--limit"), list[0]), c)
	}
}

// vercel deploys when no verb is given.
func (j *judge) vercel(c *command) {
	verb := first(c.operands("-t --token --scope -S --cwd -A -b -e -m"), "deploy")
	if c.dry() || within("ls list logs dev build pull inspect whoami login logout link help init teams switch project", verb) {
		return
	}
	if within("env domains dns alias certs secrets", verb) && within("ls list pull inspect", second(c.operands("-t --token --scope -S --cwd"))) {
		return
	}
	j.outside("deploy", "vercel "+verb, c)
}
