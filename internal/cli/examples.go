package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/screen"
)

// examples are lines to paste for every command, by its path; behind the # stands what
// the line does. A test holds that each command has two, and that they parse.
var examples = map[string]string{
	"init":     "retake init  # protect this directory\nretake init ~/project --name shop  # another one, under a name",
	"save":     "retake save \"before the upgrade\"  # a checkpoint with a title\nretake save --if-changed  # only when a file changed\nretake save --verify \"npm test\"  # and run a check on it",
	"verify":   "retake verify -- npm test  # on the files as they are\nretake verify 14 -- npm test  # on an earlier checkpoint\nretake verify  # the checks that are set for this workspace",
	"run":      "retake run -- npm install  # a checkpoint before and one after\nretake run \"upgrade react\" -- npm install react@latest",
	"log":      "retake log  # the newest 50\nretake log --since 2h  # of the last two hours\nretake log --path src/app.js  # in which this file changed",
	"show":     "retake show  # the newest checkpoint\nretake show 14 --conversation  # what was said up to then",
	"diff":     "retake diff  # what changed since the newest checkpoint\nretake diff 14  # what changed in 14\nretake diff 12 14 -- src  # between two checkpoints, below src\nretake diff good now --stat  # counts only",
	"cat":      "retake cat 14 src/app.js  # print it\nretake cat good .env > .env  # write it back by hand",
	"ls":       "retake ls 14  # the root as it was\nretake ls good src --long  # a directory, with sizes and times",
	"status":   "retake status  # what is protected, and what is not\nretake status --line  # one line, for a prompt",
	"tui":      "retake tui  # arrows move, ? shows the keys, q leaves\nretake tui -C ~/project  # of another directory",
	"console":  "retake console  # opens your browser\nretake console --no-open  # only prints the address",
	"at":       "retake at 14 -- npm test  # as the files were at 14\nretake at good -- bash  # look around in a copy",
	"mount":    "retake mount /mnt/past  # until Ctrl-C\nretake mount /mnt/past --workspace shop  # of another workspace",
	"find":     "retake find login  # in titles, prompts, paths and facts\nretake find \"drop table\" --limit 5",
	"bisect":   "retake bisect -- npm test  # where it began to fail\nretake bisect --from 12 --to latest -- npm test",
	"blame":    "retake blame src/app.js  # the checkpoint behind each line\nretake blame --package react  # who changed a package",
	"why":      "retake why src/app.js:42  # the prompt that wrote line 42\nretake why src/app.js:42 --at 14  # as the file was at 14",
	"restore":  "retake restore good  # the newest checkpoint that is good\nretake restore 14 --plan  # show the plan only\nretake restore 14 -- src .env  # only these paths\nretake restore 10:27  # as it was at 10:27 today",
	"undo":     "retake undo  # shows the plan, then asks\nretake undo --plan  # show the plan only\nretake undo 14  # undo one change\nretake undo --edits  # discard unsaved edits instead",
	"redo":     "retake redo  # bring it back\nretake redo --plan  # show the plan only",
	"resume":   "retake resume  # the newest conversation\nretake resume 14 --plan  # show what would be done",
	"agents":   "retake agents  # which agents are here\nretake agents install  # record every turn from now on",
	"tasks":    "retake tasks  # the list of the agent\nretake tasks --json  # for a program",
	"effects":  "retake effects  # what a restore can't undo\nretake effects 14  # since 14",
	"pause":    "retake pause  # agents' work is not recorded\nretake pause -C ~/project  # in another directory",
	"unpause":  "retake unpause  # agents' work is recorded again\nretake unpause -C ~/project  # in another directory",
	"hook":     "retake hook claude-code < event.json  # as the agent calls it\nretake hook codex < event.json",
	"mcp":      "retake mcp  # an agent starts this\nclaude mcp add retake -- retake mcp  # registers it with Claude Code",
	"purge":    "retake purge -- .env  # shows what would go, then asks\nretake purge --content secret.txt --plan",
	"pin":      "retake pin 14 before-upgrade  # keep 14 under a name\nretake pin latest works",
	"unpin":    "retake unpin before-upgrade\nretake unpin works --workspace shop",
	"forget":   "retake forget 12  # asks first\nretake forget 12 13",
	"space":    "retake space  # what the store takes\nretake space --free --plan  # what could be freed",
	"backup":   "retake backup set git@example.com:me/backup.git  # to a git remote\nretake backup status  # how far it is",
	"export":   "retake export 14 release.tar  # as an archive\nretake export latest - --gzip > latest.tar.gz",
	"import":   "retake import release.tar ~/project  # a new workspace of it\nretake import - ~/project < release.tar",
	"fork":     "retake fork good ../try  # a second workspace to try things in\nretake fork 14 ../old --name old",
	"forks":    "retake forks  # which there are, and what they changed\nretake forks --json  # for a program",
	"adopt":    "retake adopt try --plan  # show the plan only\nretake adopt ../try",
	"demo":     "retake demo  # a small shop with a history\nretake demo /tmp/retake-demo  # in a directory of your choice",
	"deinit":   "retake deinit  # this workspace; its history stays\nretake deinit shop  # by its name",
	"config":   "retake config  # all settings\nretake config keep-within 90d  # set one\nretake config --unset keep-within  # back to its default",
	"doctor":   "retake doctor  # check the store\nretake doctor --prove  # and prove it with the stock engine",
	"scrub":    "retake scrub --all  # read everything back\nretake scrub --share 0.1  # a tenth of it",
	"rebuild":  "retake rebuild  # when the catalog is damaged\nretake rebuild --json  # for a program",
	"daemon":   "retake daemon status  # whether it runs\nretake daemon stop  # the next command starts a new one",
	"version":  "retake version\nretake --version  # the same",
	"help":     "retake help restore  # one command\nretake help --all  # every command\nretake help flags  # the flags that every command has",
	"man":      "retake man /usr/local/share/man/man1  # write the manual pages\nman retake-restore  # then read one",
	"serve":    "retake serve --data /srv/retake --listen 127.0.0.1:7777\nretake serve --data /srv/retake --listen :7777 --tls-cert cert.pem --tls-key key.pem",
	"usage":    "retake usage --server https://retake.example.com\nretake usage --json",
	"audit":    "retake audit --limit 20  # the newest entries\nretake audit --check  # whether the log was changed",
	"estimate": "retake estimate  # this directory\nretake estimate ~/project  # another one",
	"workspaces": "retake workspaces  # all of this machine\n" +
		"retake workspaces --json  # for a program",
	"completion": "source <(retake completion bash)  # in ~/.bashrc\nsource <(retake completion zsh)  # in ~/.zshrc",

	"agents status":  "retake agents status  # those that are installed\nretake agents status --all  # every agent that Retake knows",
	"agents install": "retake agents install  # all that are here\nretake agents install claude-code --plan  # show what would be written",
	"agents remove":  "retake agents remove  # all\nretake agents remove claude-code  # one of them",

	"backup set":    "retake backup set git@example.com:me/backup.git\nretake backup set ssh://git@example.com/me/backup.git",
	"backup status": "retake backup status\nretake backup status --json  # for a program",
	"backup now":    "retake backup now\nretake backup now --workspace shop  # of another workspace",
	"backup off":    "retake backup off\nretake backup off --workspace shop  # of another workspace",

	"daemon start":   "retake daemon start\nretake daemon start --json  # for a program",
	"daemon stop":    "retake daemon stop\nretake daemon stop --json  # for a program",
	"daemon status":  "retake daemon status\nretake daemon status --json  # for a program",
	"daemon install": "retake daemon install --print  # show the units only\nretake daemon install --now  # and use them from now on",

	"admin":            "retake admin bootstrap --data /srv/retake  # the first namespace and its keys\nretake admin namespaces --data /srv/retake",
	"admin bootstrap":  "retake admin bootstrap --data /srv/retake\nretake admin bootstrap --data /srv/retake --json  # for a program",
	"admin namespaces": "retake admin namespaces --data /srv/retake\nretake admin namespaces --data /srv/retake --json  # for a program",
	"admin add":        "retake admin add acme --data /srv/retake\nretake admin add acme --data /srv/retake --json  # for a program",
	"admin roots":      "retake admin roots acme --data /srv/retake  # which directories it may protect\nretake admin roots acme /srv/work --data /srv/retake  # set them",
	"admin key":        "retake admin key acme agent --data /srv/retake\nretake admin key acme admin --data /srv/retake --expires 720h",

	"keys":        "retake keys list  # all keys\nretake keys make agent --name ci  # a new one",
	"keys list":   "retake keys list\nretake keys list --json  # for a program",
	"keys make":   "retake keys make agent --name ci\nretake keys make reader --expires 720h  # ends after 30 days",
	"keys revoke": "retake keys list  # shows the ids\nretake keys revoke key_1",

	"webhooks":            "retake webhooks add https://example.com/hook\nretake webhooks deliveries --failed  # what did not arrive",
	"webhooks list":       "retake webhooks list\nretake webhooks list --json  # for a program",
	"webhooks add":        "retake webhooks add https://example.com/hook\nretake webhooks add https://example.com/hook --type checkpoint.created",
	"webhooks remove":     "retake webhooks list  # shows the ids\nretake webhooks remove wh_1",
	"webhooks rotate":     "retake webhooks list  # shows the ids\nretake webhooks rotate wh_1",
	"webhooks enable":     "retake webhooks list  # shows the ids\nretake webhooks enable wh_1",
	"webhooks disable":    "retake webhooks list  # shows the ids\nretake webhooks disable wh_1",
	"webhooks deliveries": "retake webhooks deliveries --failed  # what did not arrive\nretake webhooks deliveries --limit 5",
	"webhooks replay":     "retake webhooks deliveries  # shows the ids\nretake webhooks replay msg_1",
	"webhooks listen":     "retake webhooks listen  # print events as they happen\nretake webhooks listen --forward http://127.0.0.1:3000/hook",

	"schedule":        "retake schedule add \"0 * * * *\" save  # a checkpoint every hour\nretake schedule list",
	"schedule list":   "retake schedule list\nretake schedule list --json  # for a program",
	"schedule add":    "retake schedule add \"0 * * * *\" save  # a checkpoint every hour\nretake schedule add \"0 3 * * *\" retain --jitter 10m",
	"schedule remove": "retake schedule list  # shows the ids\nretake schedule remove sch_1",

	"deletions":        "retake deletions ask 12 --why \"holds a password\"\nretake deletions list",
	"deletions list":   "retake deletions list\nretake deletions list --json  # for a program",
	"deletions ask":    "retake deletions ask 12 --why \"holds a password\"\nretake deletions ask 12 13",
	"deletions cancel": "retake deletions list  # shows the ids\nretake deletions cancel del_1",
}

// teach gives each command its examples.
func teach(cmd *cobra.Command) {
	path := strings.TrimPrefix(cmd.CommandPath(), "retake ")
	cmd.Example = examples[path]
	for _, sub := range cmd.Commands() {
		teach(sub)
	}
}

// renderExamples are the lines to paste, and what they do in a column beside them.
func renderExamples(l picture.Look, text string) string {
	wide := 0
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		command, _, _ := strings.Cut(line, "  # ")
		if w := screen.Width(command); w <= helpColumn+12 {
			wide = max(wide, w)
		}
	}
	var b strings.Builder
	for _, line := range lines {
		command, does, found := strings.Cut(line, "  # ")
		switch {
		case !found:
			fmt.Fprintf(&b, "  %s\n", command)
		case max(screen.Width(command), wide)+6+screen.Width(does) > l.Width:
			fmt.Fprintf(&b, "  %s\n    %s\n", command, l.Dim("# "+does))
		default:
			fmt.Fprintf(&b, "  %s  %s\n", screen.Pad(command, wide), l.Dim("# "+does))
		}
	}
	return b.String()
}
