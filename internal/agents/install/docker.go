package install

import (
	"bytes"
	"path/filepath"
	"strings"
)

// dockerAgent is the driver of Docker Agent. It reads a directory of files with hooks for
// every agent of the user, so ours is a file of its own. What belongs to one agent stands
// in the document of that agent, which is the user's: we show the lines, and change nothing.
type dockerAgent struct{ extension }

var dockerHooks = dockerAgent{extension{
	file: dockerFile, from: "docker-agent.yaml", hooks: 9, command: dockerCommand,
	notes: []string{
		nextSession + ", with Docker Agent 1.98 or newer; for an older one, and for /undo and /snapshots: retake agents install docker-agent --project --plan",
	},
}}

// dockerConfig is where Docker Agent keeps what belongs to the user.
func dockerConfig(p Places) string {
	for _, key := range []string{"DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR"} {
		if dir := p.env(key); dir != "" {
			return dir
		}
	}
	return filepath.Join(p.Home, ".config", "cagent")
}

func dockerFile(at site) (place, error) {
	return at.at(filepath.Dir(dockerConfig(at.Places)), filepath.Base(dockerConfig(at.Places)), "hooks.d", "retake.yaml")
}

func dockerCommand(whole []byte, program string) []byte {
	word := text(quote(program))
	return bytes.ReplaceAll(whole, []byte(`"retake hook`), []byte(word[:len(word)-1]+` hook`))
}

const dockerDetail = "in a project, the hooks stand in the file of each agent; the lines for it: retake agents install docker-agent --project --plan"

func (x dockerAgent) status(at site) Status {
	if at.scope == Project {
		return at.found("", Absent, 0, dockerDetail)
	}
	return x.extension.status(at)
}

func (x dockerAgent) install(at site, o Options) (Change, error) {
	if at.scope == Project {
		return Change{Agent: at.agent, Scope: at.scope, Notes: []string{dockerDetail, x.lines(at)}}, nil
	}
	return x.extension.install(at, o)
}

func (x dockerAgent) remove(at site) (Change, error) {
	if at.scope == Project {
		return Change{Agent: at.agent, Scope: at.scope, Notes: []string{dockerDetail}}, nil
	}
	return x.extension.remove(at)
}

// lines are what a user puts below an agent in its document: the commands, the tools, and
// the hooks for a version that reads no directory of them.
func (x dockerAgent) lines(at site) string {
	var b strings.Builder
	b.Write(original("docker-agent-commands.yaml"))
	b.WriteString("hooks:\n")
	for line := range bytes.Lines(x.text(at)) {
		if !bytes.HasPrefix(line, []byte("#")) {
			b.WriteString("  ")
			b.Write(line)
		}
	}
	return b.String()
}
