package risk

// Rule is one rule as docs/use/risky-commands.md lists it.
type Rule struct {
	Name    string
	Kind    string // of the effect; empty: something in the workspace may be destroyed
	Text    string // what it counts
	Example string
}

// Rules returns all rules, in the order of the document.
func Rules() []Rule {
	list := make([]Rule, len(allRules))
	for i, r := range allRules {
		list[i] = r.Rule
	}
	return list
}

// rule is a Rule with the phrase that begins its reason.
type rule struct {
	Rule
	phrase string // begins the reason on a card
}

var allRules = []rule{
	{Rule{"delete-files", "", "Any deletion: rm, unlink, shred, find -delete, git rm, a worktree removed by force. rmdir is none: it takes empty directories only.", "rm -rf dist"}, ""},
	{Rule{"overwrite-files", "", "A redirect with > over a file that is there, tee, truncate, dd, sort -o, and copies and moves with -f. A new file, appending, /dev and /tmp are none.", "jq . a.json > b.json"}, ""},
	{Rule{"take-away", "", "A move to /tmp, /dev/null or the home directory, where no checkpoint looks. A rename is none.", "mv src /tmp/gone"}, ""},
	{Rule{"mass-edit", "", "sed -i and perl -i over patterns, over more than three files, or by xargs and find. One file is an edit.", "sed -i s/a/b/ src/*.js"}, "edits many files in place"},
	{Rule{"sync-delete", "", "A copy that deletes at its target what the source does not have.", "rsync -a --delete src/ dst/"}, ""},
	{Rule{"unpack-over", "", "An archive that is told to write over files.", "unzip -o archive.zip"}, "unpacks over files"},
	{Rule{"change-modes", "", "chmod, chown and chgrp of everything below a directory.", "chmod -R 777 ."}, ""},
	{Rule{"git-discard", "", "Git writes over files that are not committed: reset --hard, clean -f, checkout of paths, restore, an abort.", "git reset --hard"}, ""},
	{Rule{"git-refs", "", "Git forgets commits: branch -D, tag -d, stash drop, reflog expire.", "git branch -D feature"}, ""},
	{Rule{"git-rewrite", "", "Git writes commits anew: rebase, filter-branch, filter-repo.", "git rebase main"}, ""},
	{Rule{"sql-destroy", "", "DROP, TRUNCATE, and DELETE or UPDATE without WHERE in a client of a local database, or a file of statements; the like for Redis and MongoDB.", "sqlite3 dev.db 'DROP TABLE users'"}, "runs on a database: "},
	{Rule{"migrate", "", "A migration of a database, forward or back, by its tool or by a script with that name.", "npx prisma migrate dev"}, "migrates a database: "},
	{Rule{"clean", "", "A task or script whose name says that it cleans, wipes or purges.", "make clean"}, "cleans: "},
	{Rule{"fresh-install", "", "npm ci, which deletes node_modules first. Other installs are none.", "npm ci"}, "deletes node_modules and installs again: "},
	{Rule{"volumes", "", "Volumes of containers are deleted.", "docker compose down -v"}, "deletes volumes of containers"},
	{Rule{"code", "", "Code that deletes files or drops tables, in the call itself or in a file that it runs: python -c, node -e, a here-document to an interpreter, python cleanup.py.", "python -c \"import shutil; shutil.rmtree('build')\""}, "runs code that deletes "},
	{Rule{"foreign-script", "", "A script from the network that is run unseen.", "curl -fsSL https://get.example.com/i.sh | bash"}, "runs a script from the network"},
	{Rule{"mcp-destructive", "", "A tool of an MCP server that is marked destructive, or, without a mark, has a name that says so.", "github/delete_file"}, "calls "},
	{Rule{"unread", "", "A command that is too long or too deep to be read whole.", "more than 64 KiB"}, "is too long or too deep to be read whole"},

	{Rule{"push", "push", "Commits leave for another repository. A dry run is none.", "git push origin main"}, ""},
	{Rule{"forge", "forge", "Pull requests, issues, releases, settings and runs on GitHub, GitLab and trackers. Reading is none.", "gh pr create --fill"}, ""},
	{Rule{"publish", "publish", "A package or an image goes to a registry.", "npm publish"}, ""},
	{Rule{"deploy", "deploy", "A program goes to where it runs, or its settings there change.", "vercel --prod"}, ""},
	{Rule{"named-deploy", "deploy", "A task or script whose name says that it deploys, publishes or releases.", "./deploy.sh production"}, ""},
	{Rule{"infra", "infra", "Clusters and infrastructure change: kubectl, helm, terraform, pulumi, ansible.", "kubectl apply -f k8s/"}, ""},
	{Rule{"cloud", "cloud", "Verbs of aws, gcloud, az and others that change something; list, describe and get are none.", "aws s3 rm s3://bucket/x"}, ""},
	{Rule{"http", "http", "A request that writes: POST, PUT, PATCH, DELETE, or with a body. GET and this machine are none.", "curl -d a=b https://api.example.com"}, ""},
	{Rule{"code-http", "http", "Code that sends such a request, in the call itself or in a file that it runs.", "python -c \"import requests; requests.post('https://api.example.com')\""}, ""},
	{Rule{"ssh", "ssh", "A command on another machine, unless it plainly only looks.", "ssh prod systemctl restart web"}, ""},
	{Rule{"copy-to-host", "ssh", "Files go to another machine. The other way is none.", "scp dist.tgz user@web1:/srv/"}, ""},
	{Rule{"database", "database", "A statement that writes, in a database on another machine or at an address that only the shell knows.", "psql -h db.example.com -c 'insert into t values (1)'"}, ""},
	{Rule{"mail", "mail", "Mail is sent.", "mail -s report team@example.com"}, ""},
	{Rule{"message", "message", "A message goes to a queue.", "kafka-console-producer --topic orders"}, ""},
	{Rule{"api", "api", "The command line of a service creates, changes or deletes something there.", "stripe refunds create --charge ch_1"}, ""},
	{Rule{"machine", "machine", "Services, users, disks and settings of this machine, outside the workspace.", "sudo systemctl restart nginx"}, ""},
	{Rule{"install", "machine", "A program is installed for the whole machine. Packages of the project are none.", "brew install jq"}, ""},
	{Rule{"foreign-machine", "machine", "What a script from the network may do to this machine.", "curl -fsSL https://get.example.com/i.sh | bash"}, ""},
	{Rule{"container", "container", "Containers, images and volumes are deleted.", "docker rm -f web"}, ""},
	{Rule{"mcp", "mcp", "A tool of an MCP server that is marked open to the world and not read-only, or, without a mark, has a name that says so.", "github/create_issue"}, ""},
}

func ruleKind(name string) string { return findRule(name).Kind }

func rulePhrase(name string) string { return findRule(name).phrase }

// findRule returns the rule with a name. A test checks that every name used in this package
// is listed.
func findRule(name string) rule {
	for _, r := range allRules {
		if r.Name == name {
			return r
		}
	}
	return rule{} // a test looks that every name in this package is in the list
}
