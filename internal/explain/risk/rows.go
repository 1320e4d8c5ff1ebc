package risk

import (
	"strings"
	"sync"
)

// programRule is a program that is judged by its verbs.
type programRule struct {
	rule          string
	programs      string // programs
	verbs         string // one list of words each, with commas between; none: any use
	valueFlags    string // flags that take a value and may precede the verb
	harmlessFlags string // flags that make it harmless
}

var programRules = []programRule{
	{"forge", "gh", "pr create, pr merge, pr close, pr comment, pr edit, pr review, pr ready, pr reopen, pr lock, pr update-branch, issue create, issue close, " +
		"issue comment, issue edit, issue delete, issue reopen, issue lock, issue transfer, release create, release delete, release upload, release edit, " +
		"repo create, repo delete, repo edit, repo archive, repo fork, repo rename, repo sync, workflow run, workflow enable, workflow disable, run cancel, " +
		"run rerun, run delete, secret set, secret delete, variable set, variable delete, gist create, gist edit, gist delete, label create, label edit, " +
		"label delete, project create, project item-add, ssh-key add, cache delete, codespace create, codespace delete", "-R --repo", ""},
	{"forge", "glab", "mr create, mr merge, mr close, mr note, mr update, mr approve, mr reopen, issue create, issue close, issue note, issue update, release create, " +
		"release delete, release upload, ci run, ci retry, ci cancel, repo create, repo delete, variable set, variable delete", "-R --repo", ""},
	{"forge", "hub tea", "pull-request, pr create, issue create, release create, create, merge, pulls create, issues create, releases create", "", ""},
	{"forge", "jira linear acli", "issue create, issue edit, issue move, issue comment, create, comment", "", ""},

	{"publish", "npm pnpm yarn bun", "publish, unpublish, deprecate, dist-tag add, dist-tag rm, owner add, owner rm, access, npm publish", "--filter -F --registry -C --tag", ""},
	{"publish", "lerna", "publish", "", ""},
	{"publish", "changeset", "publish", "", ""},
	{"publish", "semantic-release np release-it standard-version", "", "", "-d"},
	{"publish", "cargo", "publish, yank, owner, release", "", ""},
	{"publish", "gem", "push, yank, owner", "", ""},
	{"publish", "twine", "upload", "", ""},
	{"publish", "poetry uv flit hatch pdm rye maturin", "publish, upload", "", ""},
	{"publish", "goreleaser", "release", "", "--snapshot --skip=publish"},
	{"publish", "mvn mvnw", "deploy, release:perform", "-f -P -pl", ""},
	{"publish", "gradle gradlew", "publish, uploadArchives, publishToMavenCentral, publishPlugins", "-p", ""},
	{"publish", "dotnet", "nuget push, nuget delete", "", ""},
	{"publish", "nuget", "push, delete", "", ""},
	{"publish", "dart flutter", "pub publish", "", ""},
	{"publish", "mix", "hex.publish", "", ""},
	{"publish", "vsce ovsx jsr deno wasm-pack", "publish, unpublish", "", ""},
	{"publish", "pod", "trunk push", "", ""},
	{"publish", "anaconda hf huggingface-cli", "upload", "", ""},
	{"publish", "helm oras crane", "push, delete", "", ""},
	{"publish", "skopeo", "copy, delete, sync", "", ""},
	{"publish", "ko", "apply, publish, build", "", ""},

	{"infra", "helm", "install, upgrade, uninstall, delete, rollback", "-n --namespace --kube-context", ""},
	{"infra", "terraform tofu terragrunt", "apply, destroy, import, taint, untaint, state mv, state rm, state push, force-unlock, run-all apply, run-all destroy, workspace delete", "", ""},
	{"infra", "pulumi", "up, update, destroy, refresh, import, stack rm, cancel", "-s --stack -C --cwd", ""},
	{"infra", "cdk cdktf", "deploy, destroy, bootstrap, remove", "-a --app --profile", ""},
	{"infra", "sls serverless", "deploy, remove, rollback", "", ""},
	{"infra", "sam", "deploy, delete, sync", "", ""},
	{"infra", "nomad", "job run, job stop, run, stop", "", ""},
	{"infra", "eksctl kops", "create, delete, upgrade, scale, update, rolling-update", "", ""},
	{"infra", "packer", "build", "", ""},
	{"infra", "argocd", "app sync, app delete, app create, app set, app rollback", "", ""},
	{"infra", "flux", "reconcile, suspend, resume, delete, bootstrap, create", "", ""},
	{"infra", "vault consul etcdctl", "kv put, kv delete, kv patch, write, delete, put, del", "", ""},
	{"infra", "salt chef-client puppet knife", "", "", "--noop --why-run"},
	{"cloud", "bq", "rm, mk, load, insert, update, cp", "--project_id --location", ""},
	{"cloud", "doctl linode-cli hcloud scw ibmcloud oci s3cmd rclone mc", "create, delete, del, update, put, rm, sync, copy, move, mb, rb, mirror, " +
		"compute droplet create, compute droplet delete, server create, server delete, apps create, apps update, linodes create, linodes delete", "", ""},

	{"deploy", "netlify", "deploy, env:set, env:unset, sites:delete", "", ""},
	{"deploy", "fly flyctl", "deploy, launch, scale, secrets set, secrets unset, apps destroy, apps create, destroy, restart, machine, ssh console, volumes destroy", "-a --app -c", ""},
	{"deploy", "heroku", "config:set, config:unset, ps:scale, ps:restart, restart, releases:rollback, rollback, run, pg:reset, pg:push, apps:destroy, apps:create, create, " +
		"container:push, container:release, addons:create, addons:destroy, maintenance:on, maintenance:off", "-a --app -r", ""},
	{"deploy", "wrangler", "deploy, publish, delete, secret put, secret delete, pages deploy, kv key put, kv key delete, kv:key put, r2 object put, r2 object delete, " +
		"versions deploy, rollback", "-c --config -e --env", ""},
	{"deploy", "firebase", "deploy, hosting:disable, functions:delete, firestore:delete, database:remove, database:set, hosting:channel:deploy", "-P --project", ""},
	{"deploy", "railway", "up, down, redeploy, variables set, delete", "", ""},
	{"deploy", "surge gh-pages", "", "", ""},
	{"deploy", "eb copilot amplify chalice zappa kamal dokku cap mina", "deploy, terminate, push, publish, delete, setup, redeploy, rollback, production deploy, staging deploy, svc deploy, undeploy", "", ""},
	{"deploy", "fastlane", "deliver, release, beta, supply, pilot, ios release, ios beta, android release, android beta, deploy", "", ""},
	{"deploy", "eas expo", "submit, update, publish", "", ""},
	{"deploy", "supabase", "functions deploy, functions delete, db push, secrets set, link, projects create, projects delete", "", ""},
	{"deploy", "convex modal shopify sanity sst", "deploy, remove, theme push, app deploy", "", ""},
	{"deploy", "sentry-cli", "releases new, releases finalize, sourcemaps upload, releases files, deploys", "", ""},

	{"ssh", "ssh-copy-id", "", "-i -p -o", ""},
	{"copy-to-host", "sftp lftp ncftpput", "", "", ""},
	{"mail", "sendmail msmtp ssmtp swaks", "", "-f -F -a", "-bp -bt"},
	{"message", "kafka-console-producer kafka-console-producer.sh mosquitto_pub", "", "", ""}, //nolint:misspell // the name of a program
	{"message", "kcat", "", "", "-C -L -Q"},
	{"api", "stripe", "post, delete, trigger, customers create, charges create, refunds create, products create, prices create, subscriptions create, " +
		"subscriptions cancel, payment_intents create, payment_intents cancel, customers delete, customers update, invoices create, invoices pay, coupons create, payouts create", "--api-key", ""},
	{"api", "twilio", "api:core:messages:create, api:core:calls:create, phone-numbers:update, phone-numbers:buy:local, serverless:deploy, flex:plugins:deploy", "-p --profile", ""},
	{"api", "slack", "deploy, chat send", "", ""},
	{"http", "grpcurl", "", "-d -H -proto -import-path", ""},

	{"machine", "systemctl", "start, stop, restart, reload, enable, disable, mask, unmask, daemon-reload, kill, reboot, poweroff, isolate, edit, set-default", "", ""},
	{"machine", "service", "start, stop, restart, reload, force-reload", "", ""},
	{"machine", "defaults", "write, delete", "", ""},
	{"machine", "launchctl", "load, unload, bootstrap, bootout, kickstart, enable, disable, remove", "", ""},
	{"machine", "useradd usermod userdel adduser deluser groupadd groupdel passwd chpasswd visudo chsh", "", "", "-S"},
	{"machine", "ufw", "allow, deny, enable, disable, delete, reset", "", ""},
	{"machine", "reboot shutdown poweroff halt mkfs mkfs.ext4 mkfs.xfs mkswap fdisk parted wipefs modprobe insmod rmmod", "", "", "-l"},
	{"machine", "iptables ip6tables", "", "-t", "-L -S"},
	{"machine", "sysctl", "", "", "-a -n"},
	{"install", "apt apt-get aptitude dnf yum zypper apk brew snap port pkg choco winget scoop", "install, remove, purge, upgrade, dist-upgrade, full-upgrade, autoremove, " +
		"reinstall, erase, add, del, uninstall, cleanup, tap, services start, services stop, services restart, refresh, downgrade", "-t -o -c", "-s"},
	{"install", "cargo pipx", "install, uninstall, inject, upgrade", "", "--root --list"},
	{"install", "gem go", "install, uninstall", "", "-o"},
	{"install", "uv", "tool install, tool uninstall, tool upgrade", "", ""},
	{"install", "rustup", "install, update, default, uninstall, toolchain install, target add, component add, self update", "", ""},
	{"install", "flatpak", "install, uninstall, remove, update", "", ""},

	{"migrate", "rails rake", "db:migrate, db:reset, db:drop, db:rollback, db:setup, db:schema:load, db:purge, db:truncate_all, db:seed:replant, db:migrate:reset, " +
		"db:migrate:down, db:migrate:redo, db:migrate:up, db:prepare, db:structure:load", "-e", ""},
	{"migrate", "prisma", "migrate dev, migrate deploy, migrate reset, db push, db execute, migrate resolve", "--schema", ""},
	{"migrate", "alembic", "upgrade, downgrade, stamp", "-c -n -x --config", "--sql"},
	{"migrate", "flask", "db upgrade, db downgrade", "--app -A", ""},
	{"migrate", "knex", "migrate:latest, migrate:up, migrate:down, migrate:rollback, seed:run", "--knexfile --env", ""},
	{"migrate", "sequelize sequelize-cli", "db:migrate, db:drop, db:migrate:undo, db:migrate:undo:all, db:seed:undo, db:seed:all", "--config --env", ""},
	{"migrate", "typeorm typeorm-ts-node-commonjs", "migration:run, migration:revert, schema:sync, schema:drop", "-d", ""},
	{"migrate", "drizzle-kit", "push, migrate, drop", "--config", ""},
	{"migrate", "flyway", "migrate, clean, undo, repair, baseline", "", ""},
	{"migrate", "liquibase", "update, rollback, drop-all, dropAll, update-count, rollback-count, update-testing-rollback", "", ""},
	{"migrate", "goose", "up, down, reset, redo, up-to, down-to, up-by-one", "-dir -table", ""},
	{"migrate", "dbmate", "up, down, drop, migrate, rollback, load", "-u --url -d -e", ""},
	{"migrate", "migrate", "up, down, drop, force, goto", "-path -database -source", ""},
	{"migrate", "atlas", "schema apply, migrate apply, schema clean, migrate down", "", ""},
	{"migrate", "diesel", "migration run, migration redo, migration revert, database reset, database drop, setup", "", ""},
	{"migrate", "sqlx", "migrate run, migrate revert, database drop, database reset", "", ""},
	{"migrate", "sea-orm-cli", "migrate", "", ""},
	{"migrate", "supabase", "db reset, migration up, migration down", "", "--linked"},
	{"migrate", "mix", "ecto.migrate, ecto.rollback, ecto.drop, ecto.reset, ecto.load", "", ""},
	{"migrate", "dotnet dotnet-ef", "ef database update, ef database drop, database update, database drop", "", ""},
	{"migrate", "mikro-orm", "migration:up, migration:down, migration:fresh, schema:drop, schema:update, schema:fresh", "", ""},
	{"migrate", "artisan", "migrate, migrate:fresh, migrate:refresh, migrate:reset, migrate:rollback, db:wipe, db:seed", "", "--pretend"},
	{"migrate", "php", "artisan migrate, artisan migrate:fresh, artisan migrate:refresh, artisan migrate:reset, artisan migrate:rollback, artisan db:wipe, " +
		"bin/console doctrine:migrations:migrate, bin/console doctrine:schema:drop, bin/console doctrine:database:drop, bin/console doctrine:schema:update", "", "--pretend"},
	{"migrate", "console", "doctrine:migrations:migrate, doctrine:schema:drop, doctrine:database:drop, doctrine:schema:update", "", ""},
	{"sql-destroy", "dropdb dropuser", "", "-h -p -U", ""},
	{"sql-destroy", "mysqladmin", "drop, flush-privileges", "-u -h -p -P", ""},
	{"sql-destroy", "pg_restore", "", "", "-l --list"},
	{"sql-destroy", "mongorestore", "", "", ""},

	{"fresh-install", "npm", "ci, clean-install", "--prefix -C", ""},
	{"clean", "cargo gradle gradlew mvn mvnw bazel bazelisk buck2 flutter dotnet sbt lerna west scons swift", "clean, package clean, run clean, package reset, cleanAll", "-p -f -P", ""},
	{"clean", "xcodebuild meson ninja", "clean", "-t -C -scheme -project", ""},
	{"clean", "cmake", "clean", "--build -B -S", ""},
}

// rulesByProgram indexes the table by the name of the program. It is built on first use.
var rulesByProgram = sync.OnceValue(func() map[string][]*programRule {
	all := map[string][]*programRule{}
	for i := range programRules {
		for _, n := range strings.Fields(programRules[i].programs) {
			all[n] = append(all[n], &programRules[i])
		}
	}
	return all
})

// judgeByTable judges a command by the table.
func (j *callJudge) judgeByTable(c *command) {
	list := rulesByProgram()[c.name()]
	if len(list) == 0 || c.isDryRun() {
		return
	}
	for _, r := range list {
		if r.harmlessFlags != "" && c.hasFlag(strings.Fields(r.harmlessFlags)...) {
			continue
		}
		ops := c.operands(r.valueFlags)
		if verb, rest, ok := r.matchVerb(ops); ok {
			j.addFinding(r.rule, r.describe(c, verb, rest), c)
		}
	}
}

// matchVerb finds a verb among the first operands. Build tools take several verbs in one
// call, and tools have flags with values that are not listed here.
func (r *programRule) matchVerb(ops []string) (verb string, rest []string, ok bool) {
	if r.verbs == "" {
		return "", ops, true
	}
	const deep = 4
	for list := r.verbs; list != ""; {
		verb, list, _ = strings.Cut(list, ", ")
		words := strings.Fields(verb)
		for at := 0; at < deep && at+len(words) <= len(ops); at++ {
			if equalWords(ops[at:at+len(words)], words) {
				return verb, ops[at+len(words):], true
			}
		}
	}
	return "", nil, false
}

func equalWords(a, b []string) bool {
	for i := range b {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (r *programRule) describe(c *command, verb string, rest []string) string {
	whole := strings.TrimSpace(c.name() + " " + verb)
	if ruleKind(r.rule) == "" || len(rest) == 0 {
		return whole
	}
	return strings.Join(rest[:min(3, len(rest))], " ")
}
